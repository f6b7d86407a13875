package command

import (
	"context"
	"slices"
	"strings"

	"github.com/pipectl/pipectl/cmd/pipectl/internal/view"
	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/state"
)

// statusRuns is how many of the newest runs status looks at.
const statusRuns = 200

// history reads the newest runs; more of them when a check of the lake is in
// none of these: where a run comes every minute and the check every night, what
// the check found must not be forgotten by noon.
func (w *workspace) history(ctx context.Context, lake *planner.Lake) ([]state.Run, diag.List, error) {
	runs, left, err := lake.State.Runs(ctx, statusRuns)
	if err != nil || len(runs) < statusRuns {
		return runs, left, err
	}
	for _, c := range w.config.Checks {
		v := w.config.Silver(c.Silver)
		if v != nil && v.To == lake.Sink.Addr && !slices.ContainsFunc(runs, func(r state.Run) bool { return outcomeIn(r, c.Addr) != nil }) {
			return lake.State.Runs(ctx, 0)
		}
	}
	return runs, left, nil
}

// unequal is what a person is to know of the checks of a silver: of each the
// newest outcome, when it was not equal, and that it has failed since to come to
// one.
func (w *workspace) unequal(runs []state.Run, silver addr.Address) []view.CheckState {
	var out []view.CheckState
	for _, c := range w.config.Checks {
		if c.Silver != silver {
			continue
		}
		failed := false
		for _, r := range runs { // newest first
			o := outcomeIn(r, c.Addr)
			if o == nil || o.Outcome == view.CheckFailed && failed {
				continue
			}
			if o.Outcome != view.CheckEqual {
				out = append(out, *o)
			}
			if o.Outcome != view.CheckFailed {
				break
			}
			failed = true
		}
	}
	return out
}

// outcomeIn is what became of a check in a run, nil when it did not take place.
func outcomeIn(r state.Run, a addr.Address) *view.CheckState {
	for _, s := range r.Steps {
		if s.Address != a.String() || !ran(s) {
			continue
		}
		o := &view.CheckState{Address: s.Address, Outcome: view.CheckEqual, At: r.Finished}
		if s.Ended != nil {
			o.At = *s.Ended
		}
		for _, d := range s.Diagnostics {
			switch {
			// A check may only warn of what it found (on_failure = "warn").
			case d.Code == "check.different", d.Code == "check.not_settled":
				o.Outcome, o.Summary = view.CheckDifferent, d.Summary
				return o
			case d.Code == "check.undecided":
				o.Outcome, o.Summary = view.CheckUndecided, d.Summary
				return o
			case strings.EqualFold(d.Severity, "error") && o.Outcome == view.CheckEqual:
				o.Outcome, o.Summary = view.CheckFailed, d.Summary
			}
		}
		if o.Outcome == view.CheckEqual && s.Status != "done" {
			return nil // it was cut short
		}
		return o
	}
	return nil
}
