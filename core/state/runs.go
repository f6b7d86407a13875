package state

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/model"
)

// KeepRuns is how many of the newest runs stay in the history.
const KeepRuns = 1000

// Run is what one command did; it is written once, when the command ends. A
// command that goes on for long writes others before, each with an id of its own.
type Run struct {
	ID      string `json:"id"`
	Command string `json:"command"`
	// Started and Finished are UTC; Finished is when this was written.
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished"`
	Host     string    `json:"host"`
	Version  string    `json:"version"`
	// Exit is the exit code.
	Exit  int       `json:"exit"`
	Steps []RunStep `json:"steps"`
}

// RunStep is one step of a run.
type RunStep struct {
	Address string `json:"address"`
	// Kind and Reason are those of the plan.
	Kind   string `json:"kind"`
	Reason string `json:"reason"`
	// Status is done, failed or skipped.
	Status string `json:"status"`
	// Ended is when that was known (UTC), nil = when the run finished.
	Ended   *time.Time `json:"ended,omitempty"`
	Seconds float64    `json:"seconds"`
	Rows    int64      `json:"rows"`
	// Position is where the step ended, "" when it has none.
	Position string `json:"position,omitempty"`
	// Diagnostics are what the user was told.
	Diagnostics []RunDiagnostic `json:"diagnostics,omitempty"`
}

// RunDiagnostic is a diagnostic as the history keeps it.
type RunDiagnostic struct {
	Severity string    `json:"severity"`
	Code     string    `json:"code"`
	Kind     diag.Kind `json:"kind,omitempty"`
	Summary  string    `json:"summary"`
	Detail   string    `json:"detail,omitempty"`
}

// RunDiagnostics turns diagnostics into the form of the history.
func RunDiagnostics(list diag.List) []RunDiagnostic {
	var out []RunDiagnostic
	for _, d := range list {
		out = append(out, RunDiagnostic{Severity: d.Severity.String(), Code: d.Code, Kind: d.Kind, Summary: d.Summary, Detail: d.Detail})
	}
	return out
}

// runTime is the first part of a run's name; it sorts by time.
const runTime = "20060102T150405.000"

// PutRun adds a run to the history and removes those above KeepRuns that were
// written first: a watch that began long ago has news all the same. A run that is
// there already stays as it is.
func (s *Store) PutRun(ctx context.Context, run Run) error {
	written := run.Finished
	if written.Before(run.Started) { // not known, or a clock that was put back
		written = run.Started
	}
	key := "runs/" + written.UTC().Format(runTime) + "Z-" + model.Element(run.ID) + ".json"
	if err := s.create(ctx, key, run); err != nil && !errors.Is(err, ErrExists) {
		return err
	}
	keys, err := s.objects.List(ctx, s.root+"runs/", "")
	if err != nil {
		return err
	}
	for len(keys) > KeepRuns {
		if err := s.objects.Delete(ctx, keys[0]); err != nil {
			return err
		}
		keys = keys[1:]
	}
	return nil
}

// Runs returns the runs that were written last, newest first, at most limit
// (0 = all). One that cannot be read is left out, and told of in a warning: the
// history steers nothing.
func (s *Store) Runs(ctx context.Context, limit int) ([]Run, diag.List, error) {
	keys, err := s.objects.List(ctx, s.root+"runs/", "")
	if err != nil {
		return nil, nil, err
	}
	var out []Run
	var left diag.List
	for i := len(keys) - 1; i >= 0 && (limit == 0 || len(out) < limit); i-- {
		data, ok, err := s.objects.Get(ctx, keys[i])
		if err != nil {
			return nil, left, err
		}
		if !ok { // another run has trimmed it since the listing
			continue
		}
		var run Run
		if err := json.Unmarshal(data, &run); err != nil {
			left = append(left, diag.Warningf("state.damaged", "What that run did is left out here. Nothing else needs the file: it may be removed.",
				"The record of a run %s is not understood: %v", s.objects.Place(keys[i]), err))
			continue
		}
		out = append(out, run)
	}
	return out, left, nil
}
