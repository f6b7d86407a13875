package nearest_test

import (
	"testing"

	"github.com/pipectl/pipectl/core/nearest"
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
		if got := nearest.Name(name, commands); got != want {
			t.Errorf("%q: %q, not %q", name, got, want)
		}
	}
	if got := nearest.DidYouMean("aply", "pipectl ", commands); got != "Did you mean pipectl apply?" {
		t.Error(got)
	}
	if got := nearest.DidYouMean("frobnic", "", commands); got != "" {
		t.Error(got)
	}
}
