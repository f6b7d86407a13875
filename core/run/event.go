package run

import (
	"slices"
	"time"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/stream"
)

// Status is how a step ended.
type Status string

// Statuses.
const (
	Done Status = "done"
	// Failed: it started and did not end well.
	Failed Status = "failed"
	// Skipped: it never started, because of another step or a cancelled run.
	Skipped Status = "skipped"
	// Refused: it was not accepted by apply.
	Refused Status = "refused"
)

// StepResult is what one step did.
type StepResult struct {
	Address addr.Address
	Kind    plan.Kind
	Reason  string
	Status  Status
	// Because names the step that a skipped one waited for.
	Because  addr.Address
	Duration time.Duration
	// Diagnostics are placed in the text; errors of a failed step are among them.
	Diagnostics diag.List
	// One of these is set for a step that started.
	Stream *stream.Result
	Silver *plugin.SilverResult
	Check  *plugin.CheckResult
	// Findings are the first differences that a check found, at most MaxFindings.
	Findings []plugin.Finding
	// CutShort is true for a check that could not decide because the run was asked
	// to end.
	CutShort bool

	// looks are those of a check so far, for when one is tried again.
	looks *looks
}

// MaxFindings bounds the findings that a result keeps; the counts are exact.
const MaxFindings = 100

// Result is what a run did.
type Result struct {
	// Tables lists the tables that were created or changed.
	Tables []plan.Table
	// Steps in the order of the plan.
	Steps []StepResult
	// Diagnostics concern the run as a whole.
	Diagnostics diag.List
	// Stopped is true when the run was asked to end early.
	Stopped bool
	// CutShort is true when that left something out: a step that did not begin,
	// a stream that is not yet where the run would have brought it, or a check that
	// could not decide any more. A watch
	// has no other end and is never cut short.
	CutShort bool
}

// Failed reports whether a step failed, or was left out because of another one.
func (r Result) Failed() bool {
	return slices.ContainsFunc(r.Steps, func(s StepResult) bool {
		return s.Status == Failed || s.Status == Skipped && !s.Because.IsZero()
	})
}

// cutShort reports whether a run that was asked to end left something out.
func cutShort(steps []StepResult) bool {
	return slices.ContainsFunc(steps, func(s StepResult) bool {
		return s.Status == Skipped && s.Because.IsZero() || s.Stream != nil && s.Stream.Stopped || s.CutShort
	})
}

// EventKind is what an event tells.
type EventKind string

// Event kinds.
const (
	TableReady   EventKind = "table"
	StepStarted  EventKind = "started"
	StepProgress EventKind = "progress"
	StepEnded    EventKind = "ended"
	StepWarning  EventKind = "warning"
	StepFinding  EventKind = "finding"
	// StepWorking: a step of a watch has carried out its first round.
	StepWorking EventKind = "working"
	// StepFailing: a step of a watch does not work for now, and is tried again
	// until it does; told once per cause. StepRecovered ends that.
	StepFailing   EventKind = "failing"
	StepRecovered EventKind = "recovered"
	// StepGoesOn: a step of which a warning said that it waits, or comes no further,
	// does no more.
	StepGoesOn EventKind = "goes_on"
)

// Event is one thing to tell while a run goes on.
type Event struct {
	Kind    EventKind
	Address addr.Address
	// Table is set for TableReady.
	Table *plan.Table
	// Step is set for StepStarted, StepEnded, StepWorking, StepFailing (with the
	// errors, as if it had failed) and StepRecovered.
	Step *StepResult
	// Stage, Rows, RowsTotal, Rate, Position and Lag are set for StepProgress;
	// RowsTotal -1 and Lag nil are unknown.
	Stage           string
	Rows, RowsTotal int64
	Rate            float64
	Position        plugin.Position
	Batch           int64
	Lag             *time.Duration
	// Waited is set for StepGoesOn: how long nothing had come.
	Waited     time.Duration
	Diagnostic *diag.Diagnostic
	Finding    *plugin.Finding
}
