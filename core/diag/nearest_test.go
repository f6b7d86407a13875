package diag_test

import (
	"testing"

	"github.com/pipectl/pipectl/core/diag"
)

func TestTheNearestName(t *testing.T) {
	t.Parallel()
	commands := []string{"plan", "apply", "run", "status"}
	for name, want := range map[string]string{
		"aply":     "apply",
		"stauts":   "status", // letters in another order
		"APPLY":    "apply",
		"nur":      "run",
		"rnu":      "run",
		"statuses": "status",
		"a":        "", // never all letters
		"":         "",
		"frobnic":  "",
	} {
		if got := diag.Nearest(name, commands); got != want {
			t.Errorf("%q: %q, not %q", name, got, want)
		}
	}
	if got := diag.DidYouMean("aply", "pipectl ", commands); got != "Did you mean pipectl apply?" {
		t.Error(got)
	}
	if got := diag.DidYouMean("frobnic", "", commands); got != "" {
		t.Error(got)
	}
}

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
