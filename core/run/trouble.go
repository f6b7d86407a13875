package run

import (
	"context"
	"sync"

	"github.com/pipectl/pipectl/core/diag"
)

// trouble is what keeps a step of a watch from working. Each cause is told once
// until the step works again, not at every try of a server that is away for
// days. A cause has a code: its text may be another one each time.
type trouble struct {
	x    *execution
	step *StepResult
	// warned are the codes of tries that failed, failing those of whole rounds.
	warned, failing map[string]bool
	// worked tells that a round was carried out.
	worked bool
	// last is why it does not work, nil when it does; waiting is an answer that does
	// not come meanwhile, nil when nothing is waited for.
	last, waiting error
	// lost tells that the last try failed, and no call was answered since.
	lost bool

	mu sync.Mutex // guards the fields above: that an answer does not come is heard from elsewhere
}

// have notes why the step does not work.
func (t *trouble) have(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last, t.waiting, t.lost = err, nil, true
}

// heard notes that a call of its source was answered.
func (t *trouble) heard() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lost = false
}

// unheard reports whether the step has failed, and its source has not answered it
// since.
func (t *trouble) unheard() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lost
}

// cause is why the step does not work, nil when it does, or has not begun.
func (t *trouble) cause() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiting != nil {
		return t.waiting
	}
	return t.last
}

// warn tells that a try failed.
func (t *trouble) warn(d diag.Diagnostic) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.warned[d.Code] {
		t.warned[d.Code] = true
		t.x.tell(Event{Kind: StepWarning, Address: t.step.Address, Diagnostic: &d})
	}
}

// fails tells that the step does not work for now.
func (t *trouble) fails(ctx context.Context, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last, t.waiting = err, nil
	t.failed(ctx, err)
}

// waits tells that its source does not answer.
func (t *trouble) waits(ctx context.Context, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting = err
	t.failed(ctx, err)
}

// answered tells that its source answers again, when nothing else keeps it from
// working, and reports whether it did not answer.
func (t *trouble) answered() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiting == nil {
		return false
	}
	t.waiting = nil
	delete(t.failing, codeNoAnswer)
	if len(t.failing) == 0 {
		t.tell(StepRecovered)
	}
	return true
}

func (t *trouble) failed(ctx context.Context, err error) {
	a := t.step.Address
	failed := StepResult{Address: a, Kind: t.step.Kind, Reason: t.step.Reason, Status: Failed}
	for _, d := range t.x.locate(a, t.x.explain(ctx, err)).Errors() {
		if !t.failing[d.Code] {
			t.failing[d.Code] = true
			failed.Diagnostics = append(failed.Diagnostics, d)
		}
	}
	if len(failed.Diagnostics) > 0 {
		t.x.tell(Event{Kind: StepFailing, Address: a, Step: &failed})
	}
}

// over tells that the step works again when it did not, and that it works at all
// the first time.
func (t *trouble) over() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last, t.waiting = nil, nil
	clear(t.warned)
	kind := StepRecovered
	if len(t.failing) == 0 {
		kind = StepWorking
	}
	if kind == StepWorking && t.worked {
		return
	}
	t.worked = true
	clear(t.failing)
	t.tell(kind)
}

func (t *trouble) tell(kind EventKind) {
	t.x.tell(Event{Kind: kind, Address: t.step.Address,
		Step: &StepResult{Address: t.step.Address, Kind: t.step.Kind, Reason: t.step.Reason, Status: Done}})
}
