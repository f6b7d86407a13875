package view

import (
	"strings"
	"time"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/run"
)

// quiet is how long nothing has come of a step that is said to wait: rows come in
// pieces.
const quiet = 5 * time.Second

// Ending tells that a run ends after what it is at, and what that is: whoever
// waits for its end is to know for what it waits.
func (r *Run) Ending(steps []run.Busy) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.line("Ending after the batch in hand. A second signal cancels.")
	for _, b := range steps {
		r.line("  " + busyLine(b))
	}
}

func busyLine(b run.Busy) string {
	var parts []string
	if b.Stage != "" {
		parts = append(parts, b.Stage)
	}
	switch {
	case b.Quiet < quiet:
		parts = append(parts, "at work")
	case b.Waits != "":
		parts = append(parts, "waits for "+b.Waits, "nothing has come for "+plan.Age(b.Quiet))
	default:
		parts = append(parts, "at work, no further for "+plan.Age(b.Quiet))
	}
	return b.Address.String() + ": " + strings.Join(parts, ", ")
}

// GoesOn says that a step, or a source, is not waited for any more.
func GoesOn(now time.Time, a addr.Address, waited time.Duration) string {
	return stamp(now) + " " + a.String() + ": goes on, nothing had come for " + plan.Age(waited)
}
