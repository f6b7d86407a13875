package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/plan"
)

// A watch is started at boot, perhaps before its database is there. Streams that
// could not be planned for a cause that passes are absent: they, and the silvers
// that follow them, wait for their source and are planned when it answers. What
// else is wrong ends them as it does a run.

// errAbsent ends a silver whose stream never came so far as to be planned.
var errAbsent = errors.New("its stream was never planned")

// waits reports whether the steps of a source that is away are to wait for it.
func (x *execution) waits() bool { return x.Watch && x.Again != nil }

// absentee reports whether a step waits for its source, and remembers its stream.
// A silver that is carried out alone says it for its stream, which is not in the
// plan.
func (x *execution) absentee(step *plan.Step) bool {
	switch {
	case !x.waits():
	case step.Address.Kind == addr.Stream && step.Diagnostics.HasErrors() && allPass(step.Diagnostics.Errors()):
		x.absent[step.Address] = step.Diagnostics.Errors().Err()
		return true
	case step.Address.Kind == addr.Silver && !step.Blocked.IsZero() && x.Plan.Step(step.Blocked) == nil && allPass(step.Diagnostics.Errors()):
		if _, known := x.absent[step.Blocked]; !known {
			x.absent[step.Blocked] = step.Diagnostics.Errors().Err()
		}
		return true
	}
	return false
}

// allPass reports whether trying again may end every one of the errors.
func allPass(errs diag.List) bool {
	return !slices.ContainsFunc(errs, func(d diag.Diagnostic) bool { return !passes(d.Err()) })
}

// misses notes that the source of streams could not be looked at, and reports
// whether they wait for it.
func (x *execution) misses(ctx context.Context, streams []*model.Stream, err error) bool {
	if !x.waits() || ctx.Err() != nil || !passes(err) {
		return false
	}
	for _, s := range streams {
		x.absent[s.Addr] = err
	}
	return true
}

// absence reports whether a stream is absent, and why when that is known.
func (x *execution) absence(stream addr.Address) (cause error, absent bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	cause, absent = x.absent[stream]
	return cause, absent
}

// ready looks at the source of a step whose stream is absent and plans what waits
// for it. It returns at once when the run is asked to end.
func (x *execution) ready(ctx context.Context, a addr.Address) error {
	s := x.streamOf(a)
	cause, absent := x.absence(s.Addr)
	if !absent {
		return x.takeOver(a)
	}
	asking, over := x.untilStopped(ctx)
	err := x.look(asking, []*model.Stream{s}, false)
	if err == nil {
		err = x.planAgain(asking, s)
	}
	// Errors of a call that was cut off say so in words of their own.
	cut := asking.Err() != nil
	over()
	switch {
	case err == nil:
		return x.takeOver(a)
	case ctx.Err() == nil && x.stopped() && cut:
		if cause == nil {
			return errStopped
		}
		return cause // what kept it from working until the end
	case passes(err):
		x.mu.Lock()
		x.absent[s.Addr] = err
		x.mu.Unlock()
	}
	return err
}

// planAgain plans the absent streams of a stream's source and their silvers, all
// at once: with many of them one plan serves all.
func (x *execution) planAgain(ctx context.Context, s *model.Stream) error {
	x.planning.Lock()
	defer x.planning.Unlock()
	if _, absent := x.absence(s.Addr); !absent {
		return nil
	}
	source := x.Config.Table(s.Table).Source
	var streams, steps []addr.Address
	for i := range x.Config.Streams {
		a := x.Config.Streams[i].Addr
		if _, absent := x.absence(a); absent && x.Config.Table(x.Config.Streams[i].Table).Source == source {
			streams = append(streams, a)
		}
	}
	steps = append(steps, streams...)
	for _, v := range x.Config.Silvers {
		if slices.Contains(streams, v.From) && x.results[v.Addr] != nil {
			steps = append(steps, v.Addr)
		}
	}
	p, err := x.Again(ctx, steps)
	if err != nil {
		return fmt.Errorf("planning the streams of %s: %w", source, err)
	}
	var own error
	for _, a := range streams {
		step := p.Step(a)
		if step == nil {
			return fmt.Errorf("the plan of %s holds no step for %s", source, a)
		}
		errs := step.Diagnostics.Errors()
		if len(errs) > 0 && allPass(errs) { // away again, or it alone is
			x.mu.Lock()
			x.absent[a] = errs.Err()
			x.mu.Unlock()
			if a == s.Addr {
				own = errs.Err()
			}
			continue
		}
		x.adopt(p, a)
	}
	return own
}

// adopt keeps what a stream and its silvers are planned as; each takes it over
// itself, before its work begins.
func (x *execution) adopt(p *plan.Plan, stream addr.Address) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.absent, stream)
	for i := range p.Steps {
		step := &p.Steps[i]
		if x.streamOf(step.Address).Addr != stream {
			continue
		}
		if step.Diagnostics.Errors() == nil && !step.Blocked.IsZero() {
			of := *step
			of.Diagnostics = append(slices.Clone(step.Diagnostics), p.Step(stream).Diagnostics.Errors()...)
			step = &of
		}
		x.again[step.Address] = step
	}
}

// takeOver gives a step what it was planned as again, once, and returns why it
// cannot be carried out. What may pass is not kept: the work itself meets it
// again, for as long as it lasts. A step that is not accepted as it is now does
// not begin: the first plan could not look at its source.
func (x *execution) takeOver(a addr.Address) error {
	x.mu.Lock()
	step := x.again[a]
	delete(x.again, a)
	x.mu.Unlock()
	if step == nil {
		return nil
	}
	r := x.results[a]
	r.Kind, r.Reason = step.Kind, step.Reason
	r.Diagnostics = append(r.Diagnostics, step.Diagnostics.Warnings()...)
	lasting := slices.DeleteFunc(step.Diagnostics.Errors(), func(d diag.Diagnostic) bool { return passes(d.Err()) })
	switch {
	case len(lasting) > 0:
		return lasting.Err()
	case !x.Apply && !step.Accepted:
		return x.refusal(step).Err()
	}
	return nil
}
