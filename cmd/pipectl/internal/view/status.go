package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/quantity"
)

// StatusRow is how far one table has come. Pointers are nil when unknown.
type StatusRow struct {
	Address, Table string
	Position       string
	// Commit is the commit time of the position, Lag the time from there to the
	// newest change, Headroom how far the position is ahead of the oldest change kept.
	Commit        *time.Time
	Lag, Headroom *time.Duration
	// Verdict is in microseconds UTC.
	Verdict      *int64
	OpenSnapshot string
	// Lost tells that the table lacks what was written to it, or cannot be looked
	// at: whatever the verdict says was true of rows that are not there; "" when
	// it is as recorded.
	Lost string
	// Stopped is why no run of this configuration goes on in the table, though what
	// was written is there: another configuration's table, or a state or a ledger
	// that is gone; "" when nothing of that is so.
	Stopped string
	// Astray is why the stream cannot go on with what its source is now, such as
	// another database; "" when it can, or the source was not reached.
	Astray    string
	LastRun   *time.Time
	LastError string
	Note      string
	// apart tells that Note says what no failure says: it stands beside one.
	apart bool
	// Checks are those whose newest outcome is not equal.
	Checks []CheckState
	// Foreign is the newest version in which another program changed rows, nil
	// when none did.
	Foreign *int64
}

// What became of a check.
const (
	CheckEqual     = "equal"
	CheckDifferent = "different"
	CheckUndecided = "undecided"
	CheckFailed    = "failed" // it came to no outcome
)

// CheckState is what became of a check, and when.
type CheckState struct {
	Address, Outcome string
	// Summary says more, "" when there is nothing.
	Summary string
	At      time.Time
}

// Notes of tables that have had nothing yet.
const (
	NotStarted = "not started"
	NotBuilt   = "not built"
)

// Lose notes that the table lacks rows, or what is recorded of them; "" is that
// it does not. Then it is not one that has had nothing yet, as it looks.
func (r *StatusRow) Lose(what string) {
	r.Lost = what
	if what != "" && (r.Note == NotStarted || r.Note == NotBuilt) {
		r.Note = ""
	}
}

// Stop notes why no run of this configuration goes on in the table; "" is that one
// may.
func (r *StatusRow) Stop(why string) {
	r.Stopped = why
	if why != "" && (r.Note == NotStarted || r.Note == NotBuilt) {
		r.Note = ""
	}
}

// Hold notes that the table of a stream without a position is not empty: its
// snapshot was taken, and the run ended before the first batch. rows is -1 or 0
// where there are none, or nobody can tell.
func (r *StatusRow) Hold(rows int64) {
	if r.Note == NotStarted && rows > 0 {
		r.Note, r.apart = quantity.Of(rows, "row is", "rows are")+" there, no position yet: the next run goes on", true
	}
}

// Purge notes that changes which the stream needs next may be kept no more; another
// note stays.
func (r *StatusRow) Purge() {
	if r.Note == "" {
		r.Note, r.apart = "changes that it needs next may be purged: it stands before the oldest one kept; `pipectl plan` finds out", true
	}
}

// note is everything that a person is to know of a table, in one line.
func (s *Streams) note(r StatusRow, now time.Time) string {
	var notes []string
	if r.Lost != "" && r.Lost != r.LastError {
		notes = append(notes, s.paint(red, "lost: ")+printable(r.Lost))
	}
	if r.Stopped != "" && r.Stopped != r.LastError {
		notes = append(notes, s.paint(red, "stopped: ")+printable(r.Stopped))
	}
	if r.Astray != "" && r.Astray != r.LastError {
		notes = append(notes, s.paint(red, "source: ")+printable(r.Astray))
	}
	switch {
	case r.LastError != "":
		notes = append(notes, s.paint(red, "failed: ")+printable(r.LastError))
		if r.apart {
			notes = append(notes, printable(r.Note))
		}
	case r.OpenSnapshot != "":
		notes = append(notes, "snapshot open")
	case r.Note != "":
		notes = append(notes, printable(r.Note))
	}
	for _, c := range r.Checks {
		text := printable(c.Address) + " " + s.paint(red, c.Outcome) + " " + plan.Age(now.Sub(c.At)) + " ago"
		if c.Summary != "" {
			text += ": " + printable(c.Summary)
		}
		notes = append(notes, text)
	}
	if r.Foreign != nil {
		notes = append(notes, fmt.Sprintf("another program changed rows, last in version %d", *r.Foreign))
	}
	return strings.Join(notes, "; ")
}

// Status writes the rows as a table, or as one JSON document.
func (s *Streams) Status(rows []StatusRow, now time.Time) error {
	if s.JSON {
		return s.statusJSON(rows, now)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	cells := [][]string{{"ADDRESS", "TABLE", "POSITION", "LAG", "HEADROOM", "FINAL UNTIL", "AGE", "LAST RUN", "NOTE"}}
	for _, r := range rows {
		position := r.Position
		if r.Commit != nil {
			position = r.Commit.UTC().Format("2006-01-02 15:04:05.000") + " (" + r.Position + ")"
		}
		final, verdictAge := "-", "-"
		if r.Verdict != nil {
			at := time.UnixMicro(*r.Verdict).UTC()
			final, verdictAge = at.Format("2006-01-02 15:04"), plan.Age(now.Sub(at))
		}
		last := "-"
		if r.LastRun != nil {
			last = plan.Age(now.Sub(*r.LastRun)) + " ago"
		}
		cells = append(cells, []string{printable(r.Address), printable(r.Table), dash(printable(position)), duration(r.Lag), duration(r.Headroom), final, verdictAge, last, s.note(r, now)})
	}
	aligned(s.answer(), "", cells)
	return nil
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func duration(d *time.Duration) string {
	if d == nil {
		return "-"
	}
	return plan.Age(*d)
}

type jsonStatus struct {
	Address      string   `json:"address"`
	Table        string   `json:"table"`
	Position     *string  `json:"position"`
	CommitTS     *string  `json:"commit_ts"`
	LagSeconds   *float64 `json:"lag_seconds"`
	Headroom     *float64 `json:"headroom_hours"`
	Verdict      *string  `json:"finalized_until"`
	VerdictAge   *float64 `json:"verdict_age_seconds"`
	OpenSnapshot *string  `json:"open_snapshot"`
	// Lost is absent when the table is as recorded.
	Lost *string `json:"lost,omitempty"`
	// Stopped is absent when a run may go on in the table.
	Stopped *string `json:"stopped,omitempty"`
	// Astray is absent when the stream can go on with its source, or that was not reached.
	Astray    *string `json:"source_problem,omitempty"`
	LastRun   *string `json:"last_run"`
	LastError *string `json:"last_error"`
	Note      *string `json:"note"`
	// Checks are absent when the newest outcome of each is equal.
	Checks  []jsonCheck `json:"checks,omitempty"`
	Foreign *int64      `json:"foreign_version,omitempty"`
}

type jsonCheck struct {
	Address string  `json:"address"`
	Outcome string  `json:"outcome"`
	At      string  `json:"at"`
	Age     float64 `json:"age_seconds"`
	Summary *string `json:"summary"`
}

func (s *Streams) statusJSON(rows []StatusRow, now time.Time) error {
	out := struct {
		Tables []jsonStatus `json:"tables"`
	}{[]jsonStatus{}}
	for _, r := range rows {
		j := jsonStatus{Address: r.Address, Table: r.Table, Position: filledText(r.Position), OpenSnapshot: filledText(r.OpenSnapshot), Lost: filledText(r.Lost), Stopped: filledText(r.Stopped), Astray: filledText(r.Astray),
			LastError: filledText(r.LastError), Note: filledText(r.Note), Verdict: microsText(r.Verdict), Foreign: r.Foreign}
		for _, c := range r.Checks {
			j.Checks = append(j.Checks, jsonCheck{c.Address, c.Outcome, c.At.UTC().Format(jsonTime), now.Sub(c.At).Seconds(), filledText(c.Summary)})
		}
		if r.Commit != nil {
			j.CommitTS = filledText(r.Commit.UTC().Format(jsonTime))
		}
		if r.Lag != nil {
			seconds := r.Lag.Seconds()
			j.LagSeconds = &seconds
		}
		if r.Headroom != nil {
			hours := r.Headroom.Hours()
			j.Headroom = &hours
		}
		if r.Verdict != nil {
			seconds := now.Sub(time.UnixMicro(*r.Verdict)).Seconds()
			j.VerdictAge = &seconds
		}
		if r.LastRun != nil {
			j.LastRun = filledText(r.LastRun.UTC().Format(jsonTime))
		}
		out.Tables = append(out.Tables, j)
	}
	return s.WriteJSON(out)
}

func filledText(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
