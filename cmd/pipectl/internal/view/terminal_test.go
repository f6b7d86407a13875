package view

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/run"
)

var wide = regexp.MustCompile(`(\S) {3,}(\S)`)

// screen is what stands on a terminal after an output: lines, of which the moves
// of the view take back the last ones.
func screen(t *testing.T, out string) []string {
	t.Helper()
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSuffix(out, "\n"), "\n") {
		for strings.HasPrefix(line, "\x1b[1A\x1b[2K") {
			line = strings.TrimPrefix(line, "\x1b[1A\x1b[2K")
			if len(lines) == 0 {
				t.Fatal("more lines are taken back than stand there")
			}
			lines = lines[:len(lines)-1]
		}
		lines = append(lines, line)
	}
	return lines
}

// On a terminal each running step has one line below what stays, which is drawn
// anew at most ten times a second; elsewhere nothing moves.
func TestRunOnATerminal(t *testing.T) {
	t.Parallel()
	orders, lines := addr.New(addr.Stream, "orders"), addr.New(addr.Stream, "lines")
	var out bytes.Buffer
	now := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	s := &Streams{Out: &bytes.Buffer{}, Err: &out, Terminal: true}
	r := s.NewRun(nil, func() time.Time { return now })
	shows := func(want ...string) {
		t.Helper()
		// A code stands at the right edge.
		if got := wide.ReplaceAllString(strings.Join(screen(t, out.String()), "\n"), "$1  $2"); got != strings.Join(want, "\n") {
			t.Errorf("the terminal shows\n%s\nwant\n%s", got, strings.Join(want, "\n"))
		}
	}
	progress := func(a addr.Address, rows int64) run.Event {
		return run.Event{Kind: run.StepProgress, Address: a, Stage: "snapshot", Rows: rows, RowsTotal: 3000, Rate: 500, Batch: -1}
	}
	r.Event(run.Event{Kind: run.StepStarted, Address: orders})
	r.Event(run.Event{Kind: run.StepStarted, Address: lines})
	if out.Len() != 0 {
		t.Errorf("a step that has only begun writes %q", out.String())
	}
	r.Event(progress(orders, 1000))
	shows("  stream.orders: snapshot, 1,000 rows of about 3,000, 500 rows/s, 5 s left", "  stream.lines: starting, 0 rows")

	drawn := out.Len()
	now = now.Add(99 * time.Millisecond)
	r.Event(progress(orders, 1500))
	if out.Len() != drawn {
		t.Error("it is drawn more than ten times a second")
	}
	now = now.Add(time.Millisecond)
	r.Event(progress(orders, 2000))
	shows("  stream.orders: snapshot, 2,000 rows of about 3,000, 500 rows/s, 3 s left", "  stream.lines: starting, 0 rows")

	r.Event(run.Event{Kind: run.StepWarning, Address: orders, Diagnostic: &diag.Diagnostic{Severity: diag.Warning, Code: "stream.no_metrics", Summary: "Nothing is measured"}})
	shows("Warning: Nothing is measured  stream.no_metrics",
		"  stream.orders: snapshot, 2,000 rows of about 3,000, 500 rows/s, 3 s left", "  stream.lines: starting, 0 rows")

	r.Event(run.Event{Kind: run.StepEnded, Address: orders, Step: &run.StepResult{Address: orders, Status: run.Failed}})
	shows("Warning: Nothing is measured  stream.no_metrics", "08:00:00 stream.orders: failed", "  stream.lines: starting, 0 rows")
	r.Event(run.Event{Kind: run.StepEnded, Address: lines, Step: &run.StepResult{Address: lines, Status: run.Failed}})
	shows("Warning: Nothing is measured  stream.no_metrics", "08:00:00 stream.orders: failed", "08:00:00 stream.lines: failed")
}

// A step that has ended has said so. What a check that looks again has its stream do
// after that is not told as the stream's.
func TestAStepThatHasEndedIsAtWorkNoMore(t *testing.T) {
	t.Parallel()
	orders := addr.New(addr.Stream, "orders")
	for _, terminal := range []bool{true, false} {
		var out bytes.Buffer
		now := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
		s := &Streams{Out: &bytes.Buffer{}, Err: &out, Terminal: terminal}
		r := s.NewRun(nil, func() time.Time { return now })
		r.Event(run.Event{Kind: run.StepStarted, Address: orders, Step: &run.StepResult{Kind: "changes"}})
		r.Event(run.Event{Kind: run.StepEnded, Address: orders, Step: &run.StepResult{Address: orders, Status: run.Failed}})
		out.Reset()
		now = now.Add(time.Hour)
		r.Event(run.Event{Kind: run.StepProgress, Address: orders, RowsTotal: -1, Batch: -1})
		if out.Len() > 0 {
			t.Errorf("terminal %t: it shows\n%s", terminal, out.String())
		}
	}
}

// The first signal says what is at work and for what it waits, in lines that stay.
func TestTheEndOfARunSaysForWhatItWaits(t *testing.T) {
	t.Parallel()
	orders, lines := addr.New(addr.Stream, "orders"), addr.New(addr.Silver, "lines")
	for _, terminal := range []bool{true, false} {
		var out bytes.Buffer
		s := &Streams{Out: &bytes.Buffer{}, Err: &out, Terminal: terminal}
		r := s.NewRun(nil, func() time.Time { return time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC) })
		r.Event(run.Event{Kind: run.StepStarted, Address: orders, Step: &run.StepResult{Kind: "changes"}})
		out.Reset()
		r.Ending([]run.Busy{
			{Address: orders, Stage: "snapshot", Waits: "rows of dbo.orders from source.shop", Quiet: 130 * time.Second},
			{Address: orders, Waits: "the newest position from source.shop", Quiet: time.Second},
			{Address: lines, Stage: "merging", Quiet: time.Hour},
		})
		r.Event(run.Event{Kind: run.StepGoesOn, Address: orders, Waited: 150 * time.Second})
		want := []string{
			"Ending after the batch in hand. A second signal cancels.",
			"  stream.orders: snapshot, waits for rows of dbo.orders from source.shop, nothing has come for 2 min",
			"  stream.orders: at work",
			"  silver.lines: merging, at work, no further for 60 min",
			"08:00:00 stream.orders: goes on, nothing had come for 2 min",
		}
		if terminal {
			want = append(want, "  stream.orders: starting, 0 rows")
		}
		if got := screen(t, out.String()); !slices.Equal(got, want) {
			t.Errorf("terminal %t: it shows\n%s", terminal, strings.Join(got, "\n"))
		}
	}
}

// Color is for terminals, and NO_COLOR takes it away; moves of the cursor stay.
func TestColors(t *testing.T) {
	t.Parallel()
	for _, color := range []bool{true, false} {
		var out bytes.Buffer
		s := &Streams{Out: &bytes.Buffer{}, Err: &out, Terminal: true, Color: color}
		s.Diagnostics(diag.List{diag.Errorf(diag.KindConfiguration, "x.y", "Do that.", "Wrong")}, nil)
		if got := strings.Contains(out.String(), "\x1b["); got != color {
			t.Errorf("color %v gives %q", color, out.String())
		}
	}
}

// Findings beyond those that are shown are counted where they would stand.
func TestFindingsThatAreNotShownAreCounted(t *testing.T) {
	t.Parallel()
	for total, want := range map[int64]string{2: "", 3: "  and 1 finding more", 2393: "  and 2,391 findings more"} {
		var out bytes.Buffer
		r := (&Streams{Out: &bytes.Buffer{}, Err: &out}).NewRun(nil, time.Now)
		result := plugin.CheckResult{Outcome: plugin.Different, Failures: map[string]int64{"RECORD_DIFF": total, plugin.FindingInFlight: 9}}
		r.Event(run.Event{Kind: run.StepEnded, Address: addr.New(addr.Check, "orders"),
			Step: &run.StepResult{Status: run.Failed, Check: &result, Findings: make([]plugin.Finding, 2)}})
		first, _, _ := strings.Cut(out.String(), "\n")
		if got := strings.Contains(out.String(), " more,"); got != (want != "") || want != "" && !strings.HasPrefix(first, want) {
			t.Errorf("%d: %q", total, out.String())
		}
	}
}
