package plan_test

import (
	"testing"
	"time"

	"github.com/pipectl/pipectl/core/plan"
)

func TestAnAgeIsInTheUnitThatAPersonWouldTake(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Hour:                     "0 s",
		0:                              "0 s",
		2*time.Minute - 1:              "119 s",
		2 * time.Minute:                "2 min",
		2*time.Hour - 1:                "119 min",
		2 * time.Hour:                  "2 h",
		14*24*time.Hour - 1:            "335 h",
		14 * 24 * time.Hour:            "14 days",
		400*24*time.Hour + 5*time.Hour: "400 days",
	} {
		if got := plan.Age(d); got != want {
			t.Errorf("%s is %q, not %q", d, got, want)
		}
	}
}
