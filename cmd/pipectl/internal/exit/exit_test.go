package exit_test

import (
	"testing"

	"github.com/pipectl/pipectl/cmd/pipectl/internal/exit"
	"github.com/pipectl/pipectl/core/diag"
)

// Each kind of error has its code; schedulers decide by them.
func TestCodeOfAKind(t *testing.T) {
	t.Parallel()
	for kind, want := range map[diag.Kind]int{
		"": 0, diag.KindInternal: 1, diag.KindConfiguration: 3,
		diag.KindUnavailable: 4, diag.KindPermission: 4, diag.KindNotReady: 4, diag.KindTransient: 4, diag.KindUnsupported: 4,
		diag.KindDifferent: 5, diag.KindConflict: 6, diag.KindStale: 6, diag.KindDataLoss: 7, diag.KindRewound: 7, diag.KindSchemaChanged: 8,
	} {
		if got := exit.Of(kind); got != want {
			t.Errorf("kind %q exits with %d, not %d", kind, got, want)
		}
	}
}

// When steps fail in different ways, what needs a person most urgently counts.
func TestTheFirstCodeCounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		codes []int
		want  int
	}{
		{nil, 0}, {[]int{0, 0}, 0}, {[]int{0, 1}, 1}, {[]int{9, 1}, 1}, {[]int{1, 4}, 4}, {[]int{4, 3}, 3},
		{[]int{4, 5}, 5}, {[]int{5, 6}, 6}, {[]int{6, 8}, 8}, {[]int{8, 7, 1}, 7}, {[]int{0, 143}, 143},
	} {
		if got := exit.First(c.codes...); got != c.want {
			t.Errorf("of %v counts %d, not %d", c.codes, got, c.want)
		}
	}
}
