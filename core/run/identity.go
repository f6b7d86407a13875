package run

import (
	"context"
	"fmt"
	"sync"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
)

// identified are sessions whose sources are held to the database that they had
// when the run first heard of it. A connection that comes back may lead to
// another one, in which the positions of the streams mean nothing.
type identified struct {
	planner.Plugins

	mu      sync.Mutex
	sources map[addr.Address]*identifiedSource
}

func newIdentified(p planner.Plugins) *identified {
	return &identified{Plugins: p, sources: map[addr.Address]*identifiedSource{}}
}

// Source opens a source, once.
func (p *identified) Source(ctx context.Context, a addr.Address) (plugin.Source, error) {
	session, err := p.Plugins.Source(ctx, a)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sources[a] == nil {
		p.sources[a] = &identifiedSource{Source: session, address: a}
	}
	return p.sources[a], nil
}

// away reports whether the source of a stream has not answered since a call of
// it failed.
func (x *execution) away(stream addr.Address) bool {
	session := x.identifiedOf(stream)
	return session != nil && session.away()
}

// identifiedOf is the source of a stream, nil when it was not opened.
func (x *execution) identifiedOf(stream addr.Address) *identifiedSource {
	x.identified.mu.Lock()
	defer x.identified.mu.Unlock()
	return x.identified.sources[x.Config.Table(x.Config.Stream(stream).Table).Source]
}

// unreachable asks the source of a stream, which is away, who it is, and reports
// whether it does not answer that either.
func (x *execution) unreachable(ctx context.Context, stream addr.Address) bool {
	err := x.identifiedOf(stream).sure(ctx)
	return err != nil && ctx.Err() == nil && unanswered(err)
}

// unanswered reports whether the error of a call says that nobody was there.
func unanswered(err error) bool {
	kind := diag.KindOf(err)
	return kind == diag.KindTransient || kind == diag.KindUnavailable
}

// identifiedSource asks who the source is before the first call after one that
// failed in a way that may pass, and listens to every answer that says it. When
// it is another one, no call is made any more.
//
// A failure that the plugin's own retries hid is not heard here, nor a connection
// that the plugin opens beside one that stands. To hold those to the database
// that answered first is the plugin's part, as source-mssql does; of one that
// does not, a stream's position is still checked by the source, while the parts
// of one snapshot, and a check, may then be of two databases.
type identifiedSource struct {
	plugin.Source
	address addr.Address

	mu       sync.Mutex      // guards the fields below
	asking   *question       // under way, nil when none is
	database plugin.Database // zero before it is known
	// failures counts calls that failed, vouched is how many of them came before
	// the last answer.
	failures, vouched int
	other             error
}

// question is one that several calls wait for. Its fields are set before it is
// over.
type question struct {
	over chan struct{}
	err  error
	// given up tells that its asker was, so that err says nothing of the source.
	givenUp bool
}

// sure makes sure that the source is the one that it was. One call asks, and
// those that come meanwhile take its answer: each of many streams asking a
// server that is away by itself, one after the other, would keep all of them
// from saying so.
func (s *identifiedSource) sure(ctx context.Context) error {
	for {
		s.mu.Lock()
		if s.other != nil || s.database == (plugin.Database{}) || s.failures == s.vouched {
			defer s.mu.Unlock()
			return s.other
		}
		q := s.asking
		if q == nil {
			q = &question{over: make(chan struct{})}
			s.asking = q
			s.mu.Unlock()
			s.ask(ctx, q)
			return q.err
		}
		s.mu.Unlock()
		select {
		case <-q.over:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if q.err != nil && !q.givenUp {
			return q.err
		}
	}
}

// ask answers a question.
func (s *identifiedSource) ask(ctx context.Context, q *question) {
	if _, err := s.inspect(ctx, plugin.InspectRequest{}); err != nil {
		q.err, q.givenUp = fmt.Errorf("asking %s who it is: %w", s.address, err), ctx.Err() != nil
	}
	s.mu.Lock()
	s.asking = nil
	s.mu.Unlock()
	close(q.over)
}

// away reports whether the source has not answered since a call of it failed.
func (s *identifiedSource) away() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failures != s.vouched
}

// inspect asks, and holds the answer against what is known.
func (s *identifiedSource) inspect(ctx context.Context, req plugin.InspectRequest) (plugin.InspectResponse, error) {
	s.mu.Lock()
	before := s.failures
	s.mu.Unlock()
	answer, err := s.Source.Inspect(ctx, req)
	if err != nil {
		return answer, s.heard(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.other != nil:
	case s.database == (plugin.Database{}), s.database.Same(answer.Database()):
		s.database, s.vouched = answer.Database(), max(s.vouched, before)
	default:
		s.other = diag.Errorf(diag.KindConfiguration, "run.another_source",
			"The positions of its streams mean nothing in another database, so nothing more is read from it. Check where its address leads to now, then run again.",
			"%s was %q when this run began, and is %q now", s.address, s.database.Identity, answer.Identity).Err()
	}
	return answer, s.other
}

// heard notes the error of a call and returns it.
func (s *identifiedSource) heard(err error) error {
	if err == nil {
		return nil
	}
	if unanswered(err) {
		s.mu.Lock()
		s.failures++
		s.mu.Unlock()
	}
	return err
}

// sourceCall makes one call.
func sourceCall[T any](ctx context.Context, s *identifiedSource, do func() (T, error)) (T, error) {
	if err := s.sure(ctx); err != nil {
		var none T
		return none, err
	}
	out, err := do()
	return out, s.heard(err)
}

// Inspect needs no look before it, since it is one.
func (s *identifiedSource) Inspect(ctx context.Context, req plugin.InspectRequest) (plugin.InspectResponse, error) {
	return s.inspect(ctx, req)
}

func (s *identifiedSource) Start(ctx context.Context, req plugin.StartRequest) (plugin.Position, error) {
	return sourceCall(ctx, s, func() (plugin.Position, error) { return s.Source.Start(ctx, req) })
}

func (s *identifiedSource) Latest(ctx context.Context, req plugin.LatestRequest) (plugin.LatestResponse, error) {
	return sourceCall(ctx, s, func() (plugin.LatestResponse, error) { return s.Source.Latest(ctx, req) })
}

func (s *identifiedSource) PlanBatch(ctx context.Context, req plugin.PlanBatchRequest) (plugin.BatchPlan, error) {
	return sourceCall(ctx, s, func() (plugin.BatchPlan, error) { return s.Source.PlanBatch(ctx, req) })
}

func (s *identifiedSource) Read(ctx context.Context, req plugin.ReadRequest) (plugin.FrameReader, error) {
	return s.frames(ctx, func() (plugin.FrameReader, error) { return s.Source.Read(ctx, req) })
}

func (s *identifiedSource) Stamp(ctx context.Context, table plugin.SourceTable) (plugin.Position, error) {
	return sourceCall(ctx, s, func() (plugin.Position, error) { return s.Source.Stamp(ctx, table) })
}

func (s *identifiedSource) OpenSnapshot(ctx context.Context, req plugin.OpenSnapshotRequest) (plugin.SnapshotInfo, error) {
	return sourceCall(ctx, s, func() (plugin.SnapshotInfo, error) { return s.Source.OpenSnapshot(ctx, req) })
}

func (s *identifiedSource) PlanChunks(ctx context.Context, req plugin.PlanChunksRequest) ([]plugin.Chunk, error) {
	return sourceCall(ctx, s, func() ([]plugin.Chunk, error) { return s.Source.PlanChunks(ctx, req) })
}

func (s *identifiedSource) Lost(ctx context.Context, req plugin.LostRequest) (plugin.LostResponse, error) {
	return sourceCall(ctx, s, func() (plugin.LostResponse, error) { return s.Source.Lost(ctx, req) })
}

func (s *identifiedSource) Aggregate(ctx context.Context, req plugin.AggregateRequest) (plugin.FrameReader, error) {
	return s.frames(ctx, func() (plugin.FrameReader, error) { return s.Source.Aggregate(ctx, req) })
}

// frames makes a call whose stream may break later.
func (s *identifiedSource) frames(ctx context.Context, open func() (plugin.FrameReader, error)) (plugin.FrameReader, error) {
	frames, err := sourceCall(ctx, s, open)
	if err != nil {
		return nil, err
	}
	return &identifiedFrames{FrameReader: frames, source: s}, nil
}

type identifiedFrames struct {
	plugin.FrameReader
	source *identifiedSource
}

func (f *identifiedFrames) Recv() (plugin.Frame, error) {
	frame, err := f.FrameReader.Recv()
	return frame, f.source.heard(err)
}
