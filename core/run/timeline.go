package run

import (
	"context"
	"errors"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/planner"
)

// timeline is one source's history as this run relies on it. A source that went
// back in time, as a restore does, is found by the stream whose position is
// gone; for the others, which stood before it, all looks well, and what they
// would read is another history than what their tables hold of the others.
type timeline struct {
	ctx context.Context
	end context.CancelCauseFunc
}

func (x *execution) timeline(source addr.Address) timeline {
	x.mu.Lock()
	defer x.mu.Unlock()
	t, ok := x.timelines[source]
	if !ok {
		t.ctx, t.end = context.WithCancelCause(context.Background())
		x.timelines[source] = t
	}
	return t
}

// onTimeline carries out work that reads a step's source. When one finds that
// the source went back, the others end with it, and none begins any more.
func (x *execution) onTimeline(ctx context.Context, a addr.Address, work func(context.Context) error) error {
	source := x.Config.Table(x.streamOf(a).Table).Source
	t := x.timeline(source)
	if cause := context.Cause(t.ctx); cause != nil {
		return cause
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(t.ctx, func() { cancel(context.Cause(t.ctx)) })
	defer stop()
	err := work(ctx)
	switch cause := context.Cause(t.ctx); {
	case err == nil:
	case cause != nil && errors.Is(err, context.Canceled):
		return cause
	case diag.Is(err, diag.KindRewound):
		t.end(planner.Rewound(source, a))
	}
	return err
}
