package run

import (
	"slices"
	"sync"
	"time"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plan"
)

const (
	// patience is how long a step comes no further before it says so: a server that
	// is slow, or holds locks for an hour, is no reason to break off, and one that
	// hangs must not be waited for without a word.
	patience = time.Minute
	// sayAgain is the pause before it is said once more.
	sayAgain = 10 * time.Minute
)

const (
	codeNoAnswer   = "run.no_answer"
	codeNoProgress = "run.no_progress"
)

// Work is what a run is at, for those who ask while it goes on. The zero value is
// ready for one Execute; a nil one is never at work.
type Work struct {
	mu        sync.Mutex
	attention []*attention
}

// Busy is a step under way.
type Busy struct {
	Address addr.Address
	// Stage is that of its last progress, "" before the first.
	Stage string
	// Waits is what the step waits for, such as "rows of dbo.orders from source.shop";
	// "" when it asks nothing of its source.
	Waits string
	// Quiet is how long nothing has come, and no call has ended.
	Quiet time.Duration
}

// Steps are the steps under way, in the order in which they began. One that has
// nothing to do for now, as in a watch, is none.
func (w *Work) Steps() []Busy {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	all := slices.Clone(w.attention)
	w.mu.Unlock()
	var out []Busy
	for _, a := range all {
		if b, ok := a.busy(); ok {
			out = append(out, b)
		}
	}
	return out
}

func (w *Work) begin(a *attention) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.attention = append(w.attention, a)
}

func (w *Work) end(a *attention) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.attention = slices.DeleteFunc(w.attention, func(b *attention) bool { return a == b })
}

// attention is paid to a step under way: when nothing comes of it any more, it says
// for what it waits, again now and then, and when it goes on. Rows, stages and answers
// are signs of life; a call that begins, or fails, is none.
type attention struct {
	clock    func() time.Time
	patience time.Duration
	work     *Work
	step     addr.Address
	// source is the step's, and where no step asks, it and the step are what is asked,
	// a source or a sink. place the table that it works on, for people.
	source addr.Address
	place  string
	// waits hears for what it waits, goesOn that it does no more and how long it
	// did. Calls come one at a time, and none after end.
	waits  func(diag.Diagnostic)
	goesOn func(time.Duration)
	// answers hears of each call that was answered; it may be nil.
	answers func()

	mu    sync.Mutex
	at    sign
	asked []*string // what is asked of the source, the oldest first
	since time.Time // the last sign of life
	quiet time.Duration
	told  bool
	idle  bool
	over  bool
	timer *time.Timer
	// turn is the number of the timer, so that one which fired before it was stopped
	// does nothing; firing are those that may still fire.
	turn   int
	firing sync.WaitGroup
}

// sign is how far a step is; another one is a sign of life.
type sign struct {
	stage    string
	rows     int64
	batch    int64
	position string
}

// attend begins to pay attention to a step; end must be called. A listener of a
// watch hears of a source that does not answer as of one that is away.
func (x *execution) attend(step, source addr.Address, place string, l *listener) *attention {
	a := &attention{clock: x.Clock, patience: x.Patience, work: x.Work, step: step, source: source, place: place}
	a.waits = func(d diag.Diagnostic) {
		if l != nil && d.Code == codeNoAnswer {
			l.waits(d.Err())
			return
		}
		d.Severity = diag.Warning
		d = x.locate(step, diag.List{d})[0]
		x.tell(Event{Kind: StepWarning, Address: step, Diagnostic: &d})
	}
	a.goesOn = func(waited time.Duration) {
		if l == nil || !l.answered() {
			x.tell(Event{Kind: StepGoesOn, Address: step, Waited: waited})
		}
	}
	if l != nil {
		a.answers = l.heard
	}
	a.begin()
	return a
}

func (a *attention) begin() {
	a.mu.Lock()
	a.alive()
	a.restIfUnasked()
	a.mu.Unlock()
	a.work.begin(a)
}

// end ends it. Nothing is told any more when it returns.
func (a *attention) end() {
	a.work.end(a)
	a.mu.Lock()
	a.over = true
	a.unset()
	a.mu.Unlock()
	a.firing.Wait()
}

// comes notes progress.
func (a *attention) comes(at sign) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if at != a.at || a.idle {
		a.at = at
		a.alive()
	}
}

// rests notes that there is nothing to do until the next call.
func (a *attention) rests() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.alive()
	a.idle = true
	a.unset()
}

// asks notes that a call of the source begins; what it returns notes its end, and
// with a true that it was answered.
func (a *attention) asks(what string) (over func(answered bool)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.idle {
		a.alive()
	}
	call := &what
	a.asked = append(a.asked, call)
	return func(answered bool) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.asked = slices.DeleteFunc(a.asked, func(c *string) bool { return c == call })
		if answered {
			if a.answers != nil {
				a.answers()
			}
			a.alive()
		}
		a.restIfUnasked()
	}
}

// restIfUnasked: a source or sink by itself, which no step asks, works on nothing else.
func (a *attention) restIfUnasked() {
	if a.step == a.source && len(a.asked) == 0 {
		a.idle, a.told = true, false
		a.unset()
	}
}

// alive is a sign of life.
func (a *attention) alive() {
	if a.over {
		return
	}
	now := a.clock()
	if a.told {
		a.goesOn(now.Sub(a.since))
	}
	a.since, a.told, a.idle, a.quiet = now, false, false, a.patience
	a.set(a.patience)
}

func (a *attention) set(pause time.Duration) {
	a.unset()
	turn := a.turn
	a.firing.Add(1)
	a.timer = time.AfterFunc(pause, func() {
		defer a.firing.Done()
		a.fires(turn)
	})
}

func (a *attention) unset() {
	a.turn++
	if a.timer != nil && a.timer.Stop() {
		a.firing.Done()
	}
	a.timer = nil
}

// fires tells that nothing has come.
func (a *attention) fires(turn int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if turn != a.turn || a.over {
		return
	}
	a.told = true
	a.waits(a.silence())
	a.quiet += sayAgain
	a.set(sayAgain)
}

// silence says for what the step waits.
func (a *attention) silence() diag.Diagnostic {
	since := "Since " + a.since.UTC().Format("2006-01-02 15:04:05") + " UTC. "
	stage := ""
	if a.at.stage != "" {
		stage = " (" + a.at.stage + ")"
	}
	if len(a.asked) == 0 {
		return diag.Errorf(diag.KindTransient, codeNoProgress, since+"It asks nothing of its source meanwhile. A large write, a slow store, or other steps that have all the reads which the source serves at once may take that long, and are waited for.",
			"%s has come no further for %s%s; it is for %s", a.step, plan.Age(a.quiet), stage, a.place)
	}
	const look = "It is waited for. Look whether the server works, and what its sessions wait for: a lock of another session, for instance."
	if a.step == a.source { // outside of any step
		look := look
		if a.source.Kind == addr.Sink {
			look = "It is waited for. Look whether the store works: a file share whose server is away answers nobody, for instance."
		}
		return diag.Errorf(diag.KindTransient, codeNoAnswer, since+look, "%s was asked %s, and has not answered for %s", a.source, *a.asked[0], plan.Age(a.quiet))
	}
	return diag.Errorf(diag.KindTransient, codeNoAnswer, since+look, "%s waits for %s, and nothing has come for %s%s", a.step, a.awaits(), plan.Age(a.quiet), stage)
}

// awaits is what was asked of the source.
func (a *attention) awaits() string { return *a.asked[0] + " from " + a.source.String() }

func (a *attention) busy() (Busy, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	b := Busy{Address: a.step, Stage: a.at.stage, Quiet: a.clock().Sub(a.since)}
	if len(a.asked) > 0 {
		b.Waits = a.awaits()
	}
	return b, !a.idle && !a.over
}
