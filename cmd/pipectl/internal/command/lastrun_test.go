package command

import (
	"testing"
	"time"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/state"
)

// A record of a watch repeats what became of a step long before.
func TestTheLastRunOfAStepIsWhenItEnded(t *testing.T) {
	t.Parallel()
	ended, finished := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC), time.Date(2026, 3, 4, 8, 0, 0, 0, time.UTC)
	step := state.RunStep{Address: "stream.orders", Status: "failed", Diagnostics: []state.RunDiagnostic{{Severity: "Error", Summary: "gone"}}}
	for want, at := range map[time.Time]*time.Time{ended: &ended, finished: nil} {
		step.Ended = at
		text, got := lastRun([]state.Run{{Finished: finished, Steps: []state.RunStep{step}}}, addr.New(addr.Stream, "orders"))
		if text != "gone" || got == nil || !got.Equal(want) {
			t.Errorf("%q at %v, want %v", text, got, want)
		}
	}
}

// A batch that was refused was not interrupted.
func TestABatchWithoutACommitSaysWhyItHasNone(t *testing.T) {
	t.Parallel()
	step := func(status, code string) state.Run {
		return state.Run{Steps: []state.RunStep{{Address: "stream.orders", Status: status, Diagnostics: []state.RunDiagnostic{{Severity: "Error", Code: code, Summary: "told"}}}}}
	}
	for name, c := range map[string]struct {
		runs []state.Run
		want string
	}{
		"refused":                  {[]state.Run{step("refused", "stream.column_discontinued")}, "batch 2 was refused: it waits until the stream may go on"},
		"failed":                   {[]state.Run{step("failed", "mssql.connection")}, "batch 2 was interrupted"},
		"failed after a refusal":   {[]state.Run{step("failed", "mssql.connection"), step("refused", "stream.column_discontinued")}, "batch 2 was interrupted"},
		"not accepted for another": {[]state.Run{step("refused", "run.not_accepted"), step("failed", "mssql.connection")}, "batch 2 was interrupted"},
		"no run that is recorded":  {nil, "batch 2 was interrupted"},
	} {
		if got := unfinished(2, nil, c.runs, addr.New(addr.Stream, "orders")); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got, want := unfinished(2, &state.Holder{Run: "night", PID: 7, Host: "h"}, nil, addr.New(addr.Stream, "orders")), "batch 2 is in the hands of run night (process 7 on h)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// What was not accepted says nothing of the table; what was read, and refused for
// what it lacks, does.
func TestARefusalByWhatWasReadIsTheLastRun(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{"run.not_accepted": "", "stream.column_discontinued": "told"} {
		step := state.RunStep{Address: "stream.orders", Status: "refused", Diagnostics: []state.RunDiagnostic{{Severity: "Error", Code: code, Summary: "told"}}}
		runs := []state.Run{{Finished: time.Unix(1000, 0), Steps: []state.RunStep{step}}}
		if text, _ := lastRun(runs, addr.New(addr.Stream, "orders")); text != want {
			t.Errorf("%s: %q, want %q", code, text, want)
		}
		if text, _ := lastFailure(runs, addr.New(addr.Stream, "orders")); text != want {
			t.Errorf("%s: %q, want %q", code, text, want)
		}
	}
}
