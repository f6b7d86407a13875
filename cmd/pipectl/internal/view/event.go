package view

import (
	"time"

	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/run"
)

// jsonEvent is one line of the JSON form of a run.
type jsonEvent struct {
	Type        string                `json:"type"`
	Time        string                `json:"time"`
	Address     string                `json:"address,omitempty"`
	Table       string                `json:"table,omitempty"`
	Action      string                `json:"action,omitempty"`
	Kind        string                `json:"kind,omitempty"`
	Reason      string                `json:"reason,omitempty"`
	Status      string                `json:"status,omitempty"`
	Because     string                `json:"because,omitempty"`
	Stage       string                `json:"stage,omitempty"`
	Batch       *int64                `json:"batch,omitempty"`
	Rows        *int64                `json:"rows,omitempty"`
	RowsTotal   *int64                `json:"rows_total,omitempty"`
	Rate        float64               `json:"rows_per_second,omitempty"`
	Position    string                `json:"position,omitempty"`
	LagSeconds  *float64              `json:"lag_seconds,omitempty"`
	Seconds     *float64              `json:"seconds,omitempty"`
	Result      any                   `json:"result,omitempty"`
	Finding     *jsonFinding          `json:"finding,omitempty"`
	Diagnostics []plan.JSONDiagnostic `json:"diagnostics,omitempty"`
}

func (r *Run) json(e run.Event) {
	j := jsonEvent{Type: string(e.Kind), Time: r.clock().UTC().Format(time.RFC3339Nano), Address: e.Address.String()}
	switch e.Kind {
	case run.TableReady:
		j.Table, j.Action = e.Table.Ref.Name, string(e.Table.Action)
	case run.StepProgress:
		now := r.clock()
		if now.Sub(r.logged[e.Address]) < logEvery {
			return
		}
		r.logged[e.Address] = now
		j.Stage, j.Rows, j.Rate, j.Position = e.Stage, &e.Rows, e.Rate, e.Position.Text
		if e.Batch >= 0 {
			j.Batch = &e.Batch
		}
		if e.RowsTotal >= 0 {
			j.RowsTotal = &e.RowsTotal
		}
		if e.Lag != nil {
			lag := e.Lag.Seconds()
			j.LagSeconds = &lag
		}
	case run.StepStarted:
		r.logged[e.Address] = r.clock()
		j.Kind, j.Reason = string(e.Step.Kind), e.Step.Reason
	case run.StepWorking, run.StepFailing, run.StepRecovered:
		j.Kind, j.Status, j.Diagnostics = string(e.Step.Kind), string(e.Step.Status), plan.Diagnostics(e.Step.Diagnostics)
	case run.StepEnded:
		seconds := e.Step.Duration.Seconds()
		j.Kind, j.Reason, j.Status, j.Because, j.Seconds = string(e.Step.Kind), e.Step.Reason, string(e.Step.Status), e.Step.Because.String(), &seconds
		j.Diagnostics = plan.Diagnostics(e.Step.Diagnostics)
		switch {
		case e.Step.Stream != nil:
			j.Result = streamResult(e.Step)
		case e.Step.Silver != nil:
			j.Result = silverResult(e.Step)
		case e.Step.Check != nil:
			j.Result = checkResult(e.Step)
		}
	case run.StepFinding:
		j.Finding = &jsonFinding{e.Finding.Kind, e.Finding.Key, e.Finding.Columns, e.Finding.Lo, e.Finding.Hi, e.Finding.Detail}
	case run.StepGoesOn:
		waited := e.Waited.Seconds()
		j.Seconds = &waited
	case run.StepWarning:
		j.Diagnostics = plan.Diagnostics([]diagnostic{*e.Diagnostic})
	}
	_ = r.s.WriteJSON(j) // the run goes on; what Out does not take is told at its end
}

// finished is the last line of the JSON form of a run.
type finished struct {
	Type string `json:"type"`
	Time string `json:"time"`
	// Exit is the exit code of the command.
	Exit int `json:"exit"`
	// Tables counts those created or changed, the others count steps.
	Tables  int `json:"tables"`
	Done    int `json:"done"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
	Refused int `json:"refused"`
	// CutShort is true when a signal left something out.
	CutShort bool `json:"cut_short"`
	// Accepted and NotAccepted are there when an apply did not end well.
	*acceptance
}

type acceptance struct {
	Accepted    []string `json:"accepted"`
	NotAccepted []string `json:"not_accepted"`
}

// Finished tells listeners that nothing follows, and with which code.
func (r *Run) Finished(result run.Result, code int) {
	if !r.s.JSON {
		return
	}
	f := finished{Type: "finished", Time: r.clock().UTC().Format(time.RFC3339Nano), Exit: code, Tables: len(result.Tables), CutShort: result.CutShort}
	for i := range result.Steps {
		switch result.Steps[i].Status {
		case run.Done:
			f.Done++
		case run.Failed:
			f.Failed++
		case run.Skipped:
			f.Skipped++
		case run.Refused:
			f.Refused++
		}
	}
	if r.accepted != nil {
		f.acceptance = &acceptance{append(append([]string{}, r.accepted.Accepted...), r.accepted.Refused...), append([]string{}, r.accepted.Not...)}
	}
	_ = r.s.WriteJSON(f) // as the events
}
