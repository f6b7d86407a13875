package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/quantity"
	"github.com/pipectl/pipectl/core/run"
)

// logEvery is the pause between two log lines of one step, and redrawEvery
// between two redraws on a terminal.
const (
	logEvery    = 5 * time.Second
	redrawEvery = 100 * time.Millisecond
)

// Run shows a run while it goes on: on a terminal one line per running step,
// otherwise a log line every few seconds; NDJSON events in the JSON form.
type Run struct {
	// Watch tells why a step failed when it ends, and not only with the result:
	// the others of a watch go on.
	Watch bool
	// Told are warnings that were written before the run: their words are not
	// written again.
	Told diag.List

	s       *Streams
	excerpt Excerpt
	clock   func() time.Time

	active []addr.Address
	latest map[addr.Address]run.Event
	logged map[addr.Address]time.Time
	drawn  int
	last   time.Time
	// accepted is set when an apply did not end well.
	accepted *Acceptance
}

// NewRun returns the view of one run.
func (s *Streams) NewRun(excerpt Excerpt, clock func() time.Time) *Run {
	return &Run{s: s, excerpt: excerpt, clock: clock, latest: map[addr.Address]run.Event{}, logged: map[addr.Address]time.Time{}}
}

// Event hears one event; calls come one at a time.
func (r *Run) Event(e run.Event) {
	if r.s.JSON {
		r.json(e)
		return
	}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	switch e.Kind {
	case run.TableReady:
		r.line(fmt.Sprintf("%s table %s: %s", stamp(r.clock()), e.Table.Ref.Name, map[plugin.TableAction]string{plugin.TableCreate: "created", plugin.TableAlter: "changed"}[e.Table.Action]))
	case run.StepStarted:
		r.active = append(r.active, e.Address)
		r.logged[e.Address] = r.clock()
		if !r.s.Terminal {
			r.line(fmt.Sprintf("%s %s: %s", stamp(r.clock()), e.Address, e.Step.Kind))
		}
	case run.StepProgress:
		r.progress(e)
	case run.StepEnded:
		r.drop(e.Address)
		if c := e.Step.Check; c != nil && len(e.Step.Findings) > 0 {
			if more := c.Findings() - int64(len(e.Step.Findings)); more > 0 {
				r.line("  and " + quantity.Of(more, "finding", "findings") + " more, which a report of the check has, too")
			}
		}
		r.line(fmt.Sprintf("%s %s", stamp(r.clock()), StepLine(e.Step)))
		if r.Watch && e.Step.Status == run.Failed {
			r.erase()
			for _, d := range e.Step.Diagnostics.Errors() {
				r.s.diagnostic(r.s.Err, d, r.excerpt)
			}
			r.draw()
		}
	case run.StepFailing:
		for _, d := range e.Step.Diagnostics {
			r.line(fmt.Sprintf("%s %s: does not work for now, tried again until it does: %s", stamp(r.clock()), e.Address, d.Summary))
		}
	case run.StepRecovered:
		r.line(fmt.Sprintf("%s %s: works again", stamp(r.clock()), e.Address))
	case run.StepGoesOn:
		r.line(GoesOn(r.clock(), e.Address, e.Waited))
	case run.StepWarning:
		if slices.ContainsFunc(r.Told, func(d diag.Diagnostic) bool { return d.Code == e.Diagnostic.Code && d.Summary == e.Diagnostic.Summary }) {
			return
		}
		r.erase()
		r.s.diagnostic(r.s.Err, *e.Diagnostic, r.excerpt)
		r.draw()
	case run.StepFinding:
		r.line("  " + FindingLine(*e.Finding))
	}
}

func stamp(t time.Time) string { return t.Format("15:04:05") }

func (r *Run) progress(e run.Event) {
	// A check that looks again has its stream read on, which ended with a line of
	// its own.
	if !slices.Contains(r.active, e.Address) {
		return
	}
	r.latest[e.Address] = e
	now := r.clock()
	if r.s.Terminal {
		if now.Sub(r.last) >= redrawEvery {
			r.last = now
			r.erase()
			r.draw()
		}
		return
	}
	if now.Sub(r.logged[e.Address]) >= logEvery {
		r.logged[e.Address] = now
		fmt.Fprintf(r.s.Err, "%s %s\n", stamp(now), printable(progressLine(e)))
	}
}

// line writes a line that stays, above the running steps.
func (r *Run) line(text string) {
	r.erase()
	fmt.Fprintln(r.s.Err, printable(text))
	r.draw()
}

func (r *Run) drop(a addr.Address) {
	for i, b := range r.active {
		if a == b {
			r.active = append(r.active[:i], r.active[i+1:]...)
			break
		}
	}
	delete(r.latest, a)
}

func (r *Run) erase() {
	if !r.s.Terminal {
		return
	}
	for range r.drawn {
		fmt.Fprint(r.s.Err, "\x1b[1A\x1b[2K")
	}
	r.drawn = 0
}

func (r *Run) draw() {
	if !r.s.Terminal {
		return
	}
	for _, a := range r.active {
		e, ok := r.latest[a]
		if !ok {
			e = run.Event{Address: a, Stage: "starting", RowsTotal: -1, Batch: -1}
		}
		fmt.Fprintf(r.s.Err, "  %s\n", printable(progressLine(e)))
		r.drawn++
	}
}

// progressLine shows rows, rate, position, lag and time left of a running step.
func progressLine(e run.Event) string {
	stage := e.Stage
	if stage == "" {
		stage = "starting"
	}
	parts := []string{e.Address.String() + ": " + stage}
	if e.Batch >= 0 {
		parts = append(parts, fmt.Sprintf("batch %d", e.Batch))
	}
	rows := rowCount(e.Rows)
	if e.RowsTotal > 0 {
		rows += " of about " + quantity.Grouped(e.RowsTotal)
	}
	parts = append(parts, rows)
	if e.Rate >= 1 {
		parts = append(parts, quantity.Grouped(int64(e.Rate))+" rows/s")
		if left := float64(e.RowsTotal-e.Rows) / e.Rate; e.RowsTotal > e.Rows {
			parts = append(parts, fmt.Sprintf("%d s left", int(left)+1))
		}
	}
	if at, ok := e.Position.Commit(); ok {
		parts = append(parts, "at "+at.Format("2006-01-02 15:04:05.000"))
	}
	if e.Lag != nil {
		parts = append(parts, fmt.Sprintf("lag %.1f s", e.Lag.Seconds()))
	}
	return strings.Join(parts, ", ")
}

// StepLine says in one line how a step ended.
func StepLine(r *run.StepResult) string {
	head := fmt.Sprintf("%s: %s", r.Address, r.Status)
	if r.Status == run.Skipped && !r.Because.IsZero() {
		return head + " because of " + r.Because.String()
	}
	if r.Status != run.Done && r.Check == nil {
		return head
	}
	var parts []string
	switch {
	case r.Stream != nil:
		if r.Stream.SnapshotRows >= 0 {
			parts = append(parts, rowCount(r.Stream.SnapshotRows)+" of a snapshot")
		}
		parts = append(parts, fmt.Sprintf("%s in %s", quantity.Of(r.Stream.Rows, "change", "changes"), quantity.Of(r.Stream.Batches, "batch", "batches")))
		if at, ok := r.Stream.End.Commit(); ok {
			parts = append(parts, "up to "+at.Format("2006-01-02 15:04:05.000"))
		}
		parts = append(parts, verdictText(r.Stream.Verdict))
	case r.Silver != nil:
		if r.Silver.Rebuilt {
			parts = append(parts, "rebuilt")
		}
		parts = append(parts, fmt.Sprintf("%s inserted, %s updated, %s deleted", quantity.Grouped(r.Silver.Inserted), quantity.Grouped(r.Silver.Updated), quantity.Grouped(r.Silver.Deleted)),
			verdictText(r.Silver.Verdict))
	case r.Check != nil:
		parts = append(parts, CheckText(r.Check))
	}
	return fmt.Sprintf("%s, %s (%.1f s)", head, strings.Join(parts, ", "), r.Duration.Seconds())
}

func verdictText(micros *int64) string {
	if micros == nil {
		return "no verdict yet"
	}
	return "final until " + time.UnixMicro(*micros).UTC().Format("2006-01-02 15:04")
}

// CheckText says what a check found.
func CheckText(c *plugin.CheckResult) string {
	text := fmt.Sprintf("%s: %s of the source, %s of silver, %s", c.Outcome, rowCount(c.SourceRows), rowCount(c.SilverRows), quantity.Of(c.Buckets, "range", "ranges"))
	if c.Hashed > 0 {
		text += fmt.Sprintf(", %d compared row by row", c.Hashed)
	}
	if c.InFlight > 0 {
		text += fmt.Sprintf(", %d in flight", c.InFlight)
	}
	if c.Mismatch > 0 {
		text += fmt.Sprintf(", %d with other counts", c.Mismatch)
	}
	if n := c.Findings(); n > 0 {
		text += ", " + quantity.Of(n, "finding", "findings")
	}
	return text
}

func rowCount(n int64) string { return quantity.Of(n, "row", "rows") }

// FindingLine says one difference: its kind, key and columns.
func FindingLine(f plugin.Finding) string {
	parts := []string{f.Kind}
	if f.Key != "" {
		parts = append(parts, f.Key)
	} else if f.Lo == "null" { // as JSON
		parts = append(parts, "keys that are NULL")
	} else if f.Lo != "" || f.Hi != "" {
		parts = append(parts, fmt.Sprintf("keys from %s to below %s", open(f.Lo), open(f.Hi)))
	}
	if len(f.Columns) > 0 && f.Detail == "" {
		parts = append(parts, "columns: "+diag.Columns(f.Columns))
	}
	if f.Detail != "" {
		parts = append(parts, f.Detail)
	}
	return strings.Join(parts, "  ")
}

func open(bound string) string {
	if bound == "" {
		return "the end"
	}
	return bound
}

// Result writes the end of a run: the diagnostics of steps that failed, then
// one line.
func (r *Run) Result(result run.Result) {
	if r.s.JSON {
		return
	}
	done, other := 0, 0
	var errs diag.List
	for i := range result.Steps {
		step := &result.Steps[i]
		if step.Status == run.Done {
			done++
			continue
		}
		other++
		errs = append(errs, step.Diagnostics.Errors()...)
	}
	if len(errs) > 0 {
		r.s.Logf("\n")
		// A source out of reach fails all its steps, and is told of once.
		r.s.Diagnostics(errs.Unique(), r.excerpt)
		r.s.Logf("\n")
	}
	if done+other == 0 {
		r.s.Logf("%s created or changed, no work done.\n", quantity.Of(len(result.Tables), "table", "tables"))
		return
	}
	text := quantity.Of(done, "step", "steps") + " done"
	if other > 0 {
		text += fmt.Sprintf(", %d not", other)
	}
	switch {
	case result.CutShort:
		text += "; stopped as asked before all was done, the next run goes on from here"
	case result.Stopped:
		text += "; stopped as asked"
	}
	r.s.Logf("%s.\n", text)
}
