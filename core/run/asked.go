package run

import (
	"context"

	"github.com/pipectl/pipectl/core/plugin"
)

// askedSource is a source as one step asks it, so that the step can say for what it
// waits.
type askedSource struct {
	plugin.Source
	// object is the step's table, for people.
	object    string
	attention *attention
}

func ask[T any](a *attention, what string, do func() (T, error)) (T, error) {
	over := a.asks(what)
	out, err := do()
	over(err == nil)
	return out, err
}

func (s askedSource) Inspect(ctx context.Context, req plugin.InspectRequest) (plugin.InspectResponse, error) {
	return ask(s.attention, "what its tables are", func() (plugin.InspectResponse, error) { return s.Source.Inspect(ctx, req) })
}

func (s askedSource) Start(ctx context.Context, req plugin.StartRequest) (plugin.Position, error) {
	return ask(s.attention, "a position to start at", func() (plugin.Position, error) { return s.Source.Start(ctx, req) })
}

func (s askedSource) Latest(ctx context.Context, req plugin.LatestRequest) (plugin.LatestResponse, error) {
	return ask(s.attention, "the newest position", func() (plugin.LatestResponse, error) { return s.Source.Latest(ctx, req) })
}

func (s askedSource) PlanBatch(ctx context.Context, req plugin.PlanBatchRequest) (plugin.BatchPlan, error) {
	return ask(s.attention, "the ranges of a batch of "+s.object, func() (plugin.BatchPlan, error) { return s.Source.PlanBatch(ctx, req) })
}

func (s askedSource) Stamp(ctx context.Context, table plugin.SourceTable) (plugin.Position, error) {
	return ask(s.attention, "its position", func() (plugin.Position, error) { return s.Source.Stamp(ctx, table) })
}

func (s askedSource) OpenSnapshot(ctx context.Context, req plugin.OpenSnapshotRequest) (plugin.SnapshotInfo, error) {
	return ask(s.attention, "a snapshot of "+s.object, func() (plugin.SnapshotInfo, error) { return s.Source.OpenSnapshot(ctx, req) })
}

func (s askedSource) PlanChunks(ctx context.Context, req plugin.PlanChunksRequest) ([]plugin.Chunk, error) {
	return ask(s.attention, "the parts of a snapshot of "+s.object, func() ([]plugin.Chunk, error) { return s.Source.PlanChunks(ctx, req) })
}

func (s askedSource) Lost(ctx context.Context, req plugin.LostRequest) (plugin.LostResponse, error) {
	return ask(s.attention, "the oldest changes of "+s.object, func() (plugin.LostResponse, error) { return s.Source.Lost(ctx, req) })
}

func (s askedSource) Read(ctx context.Context, req plugin.ReadRequest) (plugin.FrameReader, error) {
	what := "changes of " + s.object
	if req.Chunk != nil {
		what = "rows of " + s.object
	}
	return askFrames(s.attention, what, func() (plugin.FrameReader, error) { return s.Source.Read(ctx, req) })
}

func (s askedSource) Aggregate(ctx context.Context, req plugin.AggregateRequest) (plugin.FrameReader, error) {
	what := "counts of " + s.object
	if req.Kind == plugin.AggregateBounds || req.Kind == plugin.AggregateTiles {
		what = "key ranges of " + s.object
	}
	return askFrames(s.attention, what, func() (plugin.FrameReader, error) { return s.Source.Aggregate(ctx, req) })
}

func askFrames(a *attention, what string, open func() (plugin.FrameReader, error)) (plugin.FrameReader, error) {
	frames, err := ask(a, what, open)
	if err != nil {
		return nil, err
	}
	return &askedFrames{FrameReader: frames, attention: a, what: what}, nil
}

// askedFrames are waited for one by one: while one is written, the source is not
// waited for.
type askedFrames struct {
	plugin.FrameReader
	attention *attention
	what      string
}

func (f *askedFrames) Recv() (plugin.Frame, error) {
	return ask(f.attention, f.what, f.FrameReader.Recv)
}

// askingSource ends the asking for the newest position with the run: that is no
// work in hand.
type askingSource struct {
	plugin.Source
	// until is a context that ends with the run, see execution.untilStopped.
	until func(context.Context) (context.Context, func())
}

// Latest asks for the end of the next batch; errStopped when the run ended first.
func (s askingSource) Latest(ctx context.Context, req plugin.LatestRequest) (plugin.LatestResponse, error) {
	asking, over := s.until(ctx)
	out, err := s.Source.Latest(asking, req)
	if cut := asking.Err() != nil && ctx.Err() == nil; cut && err != nil {
		err = errStopped
	}
	over()
	return out, err
}
