package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/graph"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/state"
	"github.com/pipectl/pipectl/core/stream"
)

// Request is a plan to carry out.
type Request struct {
	Config  *model.Config
	Plan    *plan.Plan
	Plugins planner.Plugins
	// Lakes are the open lakes by sink.
	Lakes map[addr.Address]*planner.Lake

	// Apply creates and changes the plan's tables and accepts its steps; without
	// it only accepted steps are carried out.
	Apply bool
	// TablesOnly ends an apply when tables are ready and steps accepted.
	TablesOnly bool
	// Whole tells that the plan covers the whole configuration, so that an apply
	// may forget what is declared no more.
	Whole bool
	// Watch keeps streams and silvers at the head until Stop; checks do not run.
	Watch bool
	// Again plans steps anew. A watch asks for it when a source was away that
	// answers now; nil = the steps of such a source fail.
	Again func(ctx context.Context, steps []addr.Address) (*plan.Plan, error)
	// Poll is the pause of an idle watch; 0 = the stream's default.
	Poll time.Duration
	// Patience is how long a step may come no further, as one that waits for its
	// source, before it says so; 0 = a minute.
	Patience time.Duration
	// Work can be asked what the run is at, while it goes on; nil = nobody asks.
	Work *Work
	// Jobs bounds the steps that run at once; 0 = 4.
	Jobs int
	// Stop, when closed, ends the run after the batches in hand.
	Stop <-chan struct{}
	// Holder is who locks name.
	Holder state.Holder
	// Event hears what happens; calls come one at a time. It may be nil.
	Event func(Event)

	// Clock and Sleep stand for the world in tests; nil = the real one.
	Clock func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error
}

const defaultJobs = 4

// execution is one run under way.
type execution struct {
	Request
	identified *identified
	events     sync.Mutex
	mu         sync.Mutex // guards the maps, and what is in sources
	results    map[addr.Address]*StepResult
	slots      map[addr.Address]stream.Slots // by source
	sources    map[addr.Address]map[string]sourceTable
	// timelines are those of the sources that were read so far.
	timelines map[addr.Address]timeline
	// catching are held while a check carries out a stream or silver again.
	catching map[addr.Address]*sync.Mutex
	// absent are the streams of a watch whose source was away, with why; nil =
	// not known. again are steps that were planned again and have not taken that
	// over yet. planning is held while that is done.
	absent   map[addr.Address]error
	again    map[addr.Address]*plan.Step
	planning sync.Mutex
}

// Execute carries out the plan. The error is for what spoils the run as a
// whole; what concerns one step stands in its result.
func Execute(ctx context.Context, req Request) (Result, error) {
	x := &execution{
		Request: req, results: map[addr.Address]*StepResult{},
		slots: map[addr.Address]stream.Slots{}, sources: map[addr.Address]map[string]sourceTable{},
		timelines: map[addr.Address]timeline{}, catching: map[addr.Address]*sync.Mutex{},
		absent: map[addr.Address]error{}, again: map[addr.Address]*plan.Step{},
	}
	x.identified = newIdentified(req.Plugins)
	x.Plugins = x.identified
	if x.Jobs <= 0 {
		x.Jobs = defaultJobs
	}
	if x.Patience == 0 {
		x.Patience = patience
	}
	if x.Work == nil {
		x.Work = &Work{}
	}
	if x.Clock == nil {
		x.Clock = time.Now
	}
	if x.Sleep == nil {
		x.Sleep = sleep
	}
	var out Result
	if req.Apply {
		tables, err := x.apply(ctx)
		out.Tables = tables
		if err != nil {
			return out, err
		}
		if req.TablesOnly {
			return out, nil
		}
	}
	work, err := x.steps(ctx)
	if err != nil {
		return out, err
	}
	err = x.inspect(ctx, work)
	for range pauses { // a plugin that died has a new process for the next call
		if diag.HasCode(err, plugin.CodeCrashed) && ctx.Err() == nil {
			err = x.inspect(ctx, work)
		}
	}
	if err != nil {
		return out, err
	}
	if req.Watch {
		err = x.watch(ctx, work)
	} else {
		err = x.walk(ctx, work)
	}
	for i := range req.Plan.Steps {
		if r := x.results[req.Plan.Steps[i].Address]; r != nil {
			out.Steps = append(out.Steps, *r)
		}
	}
	out.Stopped = x.stopped()
	out.CutShort = out.Stopped && !req.Watch && cutShort(out.Steps)
	return out, err
}

// steps returns the steps to carry out, and gives the others their results.
func (x *execution) steps(ctx context.Context) (*graph.Graph[addr.Address], error) {
	gone, err := x.withoutLedger(ctx)
	if err != nil {
		return nil, err
	}
	g := graph.New[addr.Address]()
	chosen := map[addr.Address]bool{}
	for i := range x.Plan.Steps {
		step := &x.Plan.Steps[i]
		r := &StepResult{Address: step.Address, Kind: step.Kind, Reason: step.Reason, Status: Skipped}
		x.results[step.Address] = r
		absent := x.absentee(step)
		if !absent {
			r.Diagnostics = append(r.Diagnostics, step.Diagnostics...)
		}
		switch {
		case x.Watch && step.Address.Kind == addr.Check: // no part of a watch
			delete(x.results, step.Address)
		case step.Diagnostics.HasErrors() && !absent:
			r.Status = Failed
			x.ended(r)
		case !x.Apply && !step.Accepted:
			r.Status = Refused
			r.Diagnostics = append(r.Diagnostics, x.locate(step.Address, diag.List{x.refusal(step)})...)
			x.ended(r)
		case gone[step.Address] != nil && !x.follows(step): // what follows it is skipped below
			r.Status = Failed
			r.Diagnostics = append(r.Diagnostics, x.locate(step.Address, diag.FromError(gone[step.Address]))...)
			x.ended(r)
		default:
			g.Add(step.Address)
			chosen[step.Address] = true
		}
	}
	for i := range x.Plan.Steps {
		step := &x.Plan.Steps[i]
		for _, on := range step.After {
			if !chosen[step.Address] {
				continue
			}
			if chosen[on] {
				g.Connect(step.Address, on)
			} else if r := x.results[on]; r != nil && r.Status != Done {
				x.skip(step.Address, on)
				chosen[step.Address] = false
			}
		}
	}
	// A step that was skipped after it was added leaves the graph.
	kept := graph.New[addr.Address]()
	for i := range x.Plan.Steps {
		step := &x.Plan.Steps[i]
		if !chosen[step.Address] {
			continue
		}
		kept.Add(step.Address)
		for _, on := range step.After {
			if chosen[on] {
				kept.Connect(step.Address, on)
			}
		}
	}
	return kept, nil
}

// withoutLedger finds the steps of lakes whose ledger is not there. Apply has
// just made it; a run never does, because what the tables held is lost.
func (x *execution) withoutLedger(ctx context.Context) (map[addr.Address]error, error) {
	out := map[addr.Address]error{}
	if x.Apply {
		return out, nil
	}
	checked := map[addr.Address]error{}
	for i := range x.Plan.Steps {
		a := x.Plan.Steps[i].Address
		sink, _ := x.sinkOf(a)
		lake := x.Lakes[sink]
		if lake == nil {
			continue
		}
		err, known := checked[sink]
		if !known {
			err = lake.Ledger.Check(ctx)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			checked[sink] = err
		}
		if err != nil {
			out[a] = err
		}
	}
	return out, nil
}

// follows reports whether the step comes after another one of the plan.
func (x *execution) follows(step *plan.Step) bool {
	return slices.ContainsFunc(step.After, func(a addr.Address) bool { return x.Plan.Step(a) != nil })
}

// statusOf is how a step ended that did not end well. A stream whose source no
// longer gives a column waits for a person, whether plan finds it or the batch.
func statusOf(a addr.Address, err error) Status {
	if diag.HasCode(err, planner.CodeNotAccepted) || a.Kind == addr.Stream && diag.HasCode(err, stream.CodeDiscontinued) {
		return Refused
	}
	return Failed
}

func (x *execution) refusal(step *plan.Step) diag.Diagnostic {
	what := step.NotAccepted
	if lake, err := x.lake(step.Address); err == nil && lake.NoState() != "" {
		what += " (" + lake.NoState() + ")"
	}
	if step.Kind.Large() {
		what += " and it would read a whole table"
	}
	return diag.Errorf(diag.KindStale, planner.CodeNotAccepted, "Look at it with `pipectl plan`, then accept it with `pipectl apply`.",
		"%s was left out: %s", step.Address, what)
}

func (x *execution) skip(a, because addr.Address) {
	r := x.results[a]
	r.Status, r.Because = Skipped, because
	x.ended(r)
}

// walk visits the steps in order.
func (x *execution) walk(ctx context.Context, g *graph.Graph[addr.Address]) error {
	ends, err := g.Walk(ctx, x.Jobs, x.visit)
	if err != nil {
		return err
	}
	for i := range x.Plan.Steps {
		a := x.Plan.Steps[i].Address
		end, walked := ends[a]
		if walked && end.Status == graph.Skipped {
			x.skip(a, end.Because)
		}
	}
	return ctx.Err()
}

// visit carries out one step, again when it failed in a way that may pass.
func (x *execution) visit(ctx context.Context, a addr.Address) error {
	r := x.results[a]
	if x.stopped() {
		x.ended(r)
		return errStopped
	}
	started := x.Clock()
	x.tell(Event{Kind: StepStarted, Address: a, Step: r})
	warn := func(d diag.Diagnostic) { x.tell(Event{Kind: StepWarning, Address: a, Diagnostic: &d}) }
	err := x.retry(ctx, a, warn, func() error { return x.once(ctx, a, r) })
	x.found(r, err)
	r.Duration = x.Clock().Sub(started)
	r.Status = Done
	if err != nil {
		r.Status = statusOf(a, err)
		r.Diagnostics = append(r.Diagnostics, x.locate(a, x.explain(ctx, err))...)
	}
	x.ended(r)
	return err
}

// errStopped skips steps that have not started when the run is asked to end.
var errStopped = errors.New("the run was asked to end")

// explain turns the end of a step into diagnostics; one that was cancelled
// from outside says so instead of what broke on its way.
func (x *execution) explain(ctx context.Context, err error) diag.List {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return diag.List{diag.Errorf(diag.KindUnavailable, "run.cancelled", "The next run goes on from the last commit.", "The run was cancelled")}
	}
	return diag.FromError(err)
}

func (x *execution) once(ctx context.Context, a addr.Address, r *StepResult) error {
	switch a.Kind {
	case addr.Stream:
		return x.stream(ctx, a, r, false, nil)
	case addr.Silver:
		return x.silver(ctx, a, r)
	case addr.Check:
		return x.onTimeline(ctx, a, func(ctx context.Context) error { return x.check(ctx, a, r) })
	}
	return fmt.Errorf("no work is known for %s", a)
}

func (x *execution) stopped() bool {
	select {
	case <-x.Stop:
		return true
	default:
		return false
	}
}

func (x *execution) ended(r *StepResult) { x.tell(Event{Kind: StepEnded, Address: r.Address, Step: r}) }

func (x *execution) tell(e Event) {
	if x.Event == nil {
		return
	}
	x.events.Lock()
	defer x.events.Unlock()
	x.Event(e)
}

// warn tells a warning of a step and keeps it in the result.
func (x *execution) warn(r *StepResult) func(diag.Diagnostic) {
	return func(d diag.Diagnostic) {
		d = x.locate(r.Address, diag.List{d})[0]
		x.mu.Lock()
		r.Diagnostics = append(r.Diagnostics, d)
		x.mu.Unlock()
		x.tell(Event{Kind: StepWarning, Address: r.Address, Diagnostic: &d})
	}
}

// locate places diagnostics of a step in the text.
func (x *execution) locate(a addr.Address, list diag.List) diag.List {
	return x.Config.Locate(a, list)
}

func (x *execution) placed(a addr.Address, err error) error {
	return x.locate(a, diag.FromError(err)).Err()
}
