package diag_test

import (
	"testing"

	"github.com/pipectl/pipectl/core/diag"
)

func TestALongListIsCut(t *testing.T) {
	t.Parallel()
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"}
	if got := diag.Listed(names[:2]); got != "a, b" {
		t.Error(got)
	}
	if got := diag.Listed(names); got != "a, b, c, d, e, f, g, h, i, j, k, l and 1 more" {
		t.Error(got)
	}
}

func TestAColumnThatIsNoPlainWordIsQuoted(t *testing.T) {
	t.Parallel()
	if got := diag.Columns([]string{"key id", "order_id", "Straße", "a,b", `x"y`, "", "#1"}); got != `"key id", order_id, Straße, "a,b", "x\"y", "", #1` {
		t.Error(got)
	}
}
