package run_test

import (
	"testing"

	"github.com/pipectl/pipectl/core/run"
)

// A step that had not started when the run was asked to end is told, so that
// who listens knows that it was not carried out.
func TestAStepThatWasNotStartedIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "orders")
	w.mustExecute(true)
	stop := make(chan struct{})
	close(stop)
	told := map[string]run.Status{}
	result, err := w.execute(false, func(q *run.Request) {
		q.Stop = stop
		q.Event = func(e run.Event) {
			if e.Kind == run.StepEnded {
				told[e.Address.String()] = e.Step.Status
			}
		}
	})
	if err != nil || !result.Stopped || !result.CutShort {
		t.Fatalf("stopped %v, cut short %v, %v", result.Stopped, result.CutShort, err)
	}
	for _, s := range result.Steps {
		if a := s.Address.String(); s.Status != run.Skipped || told[a] != run.Skipped {
			t.Errorf("%s ended as %q and was told as %q", a, s.Status, told[a])
		}
	}
	if len(told) != len(result.Steps) {
		t.Errorf("%d of %d steps were told", len(told), len(result.Steps))
	}
}
