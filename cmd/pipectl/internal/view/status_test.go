package view

import (
	"testing"
	"time"
)

// A row says what is there and what is not, each once, and nothing that another
// word of it belies.
func TestNotesOfATable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		row  StatusRow
		tell func(*StatusRow)
		want string
	}{
		"nothing yet": {StatusRow{Note: NotStarted}, func(r *StatusRow) { r.Lose(""); r.Stop(""); r.Hold(0) }, "not started"},
		"rows of a snapshot, no position": {StatusRow{Note: NotStarted}, func(r *StatusRow) { r.Hold(400_000) },
			"400,000 rows are there, no position yet: the next run goes on"},
		"the same after a failure": {StatusRow{Note: NotStarted, LastError: "No room"}, func(r *StatusRow) { r.Hold(1) },
			"failed: No room; 1 row is there, no position yet: the next run goes on"},
		"changes that may be purged": {StatusRow{Position: "1", LastError: "No room"}, func(r *StatusRow) { r.Purge() },
			"failed: No room; changes that it needs next may be purged: it stands before the oldest one kept; `pipectl plan` finds out"},
		"changes of a batch that may be purged": {StatusRow{Position: "1", Note: "batch 3 was interrupted"}, func(r *StatusRow) { r.Purge() }, "batch 3 was interrupted"},
		"rows that nobody can count":            {StatusRow{Note: NotStarted}, func(r *StatusRow) { r.Hold(-1) }, "not started"},
		"a position":                            {StatusRow{Position: "1"}, func(r *StatusRow) { r.Hold(5) }, ""},
		"another's table":                       {StatusRow{Note: NotStarted}, func(r *StatusRow) { r.Stop("It is another's"); r.Hold(5) }, "stopped: It is another's"},
		"what the last run said":                {StatusRow{LastError: "It is another's"}, func(r *StatusRow) { r.Stop("It is another's") }, "failed: It is another's"},
		"lost":                                  {StatusRow{Note: NotBuilt}, func(r *StatusRow) { r.Lose("It is gone") }, "lost: It is gone"},
	} {
		c.tell(&c.row)
		if got := (&Streams{}).note(c.row, time.Time{}); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
