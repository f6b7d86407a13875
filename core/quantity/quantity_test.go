package quantity_test

import (
	"math"
	"testing"

	"github.com/pipectl/pipectl/core/quantity"
)

func TestThousandsAreApart(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0", 7: "7", 999: "999", 1_000: "1,000", 12_345: "12,345", 2_000_000: "2,000,000",
		-1: "-1", -999: "-999", -1_000: "-1,000", math.MinInt64: "-9,223,372,036,854,775,808",
	} {
		if got := quantity.Grouped(n); got != want {
			t.Errorf("%d: %s, not %s", n, got, want)
		}
	}
}

func TestOneHasItsOwnNoun(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0 rows", 1: "1 row", 2: "2 rows", -1: "-1 rows", 1_500: "1,500 rows"} {
		if got := quantity.Of(n, "row", "rows"); got != want {
			t.Errorf("%d: %s, not %s", n, got, want)
		}
	}
}
