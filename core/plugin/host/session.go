package host

import (
	"context"
	"io"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/wire"
)

// session is one configured component. It is opened again in each process that
// its plugin has in turn; a call that was under way when a process died fails
// with a transient diagnostic, and the next one finds a new process.
type session[S io.Closer] struct {
	plugin *Plugin
	req    plugin.OpenRequest
	open   func(*wire.Client, context.Context, plugin.OpenRequest) (S, error)

	// lock is held by a send and guards the fields below.
	lock  chan struct{}
	proc  *process
	inner S
	// before is the process that had the session before this one, nil for the
	// first: it can say what became of the writes that it had.
	before *process
	// generation counts processes; it tells writes of a dead one apart.
	generation int
	limits     plugin.Limits
}

func newSession[S io.Closer](p *Plugin, role plugin.Role, req plugin.OpenRequest, open func(*wire.Client, context.Context, plugin.OpenRequest) (S, error)) *session[S] {
	p.host.mask.addBody(p.component(role, req.Component).Connection, req.Config)
	return &session[S]{plugin: p, req: req, open: open, lock: make(chan struct{}, 1)}
}

// opened is a session in one process.
type opened[S io.Closer] struct {
	proc       *process
	inner      S
	generation int
	before     *process
}

// on returns the session in the running process.
func (s *session[S]) on(ctx context.Context) (opened[S], *process, error) {
	proc, err := s.plugin.live(ctx)
	if err != nil {
		return opened[S]{}, nil, err
	}
	select {
	case s.lock <- struct{}{}:
		defer func() { <-s.lock }()
	case <-ctx.Done():
		return opened[S]{}, nil, context.Cause(ctx)
	}
	if s.proc != proc {
		inner, err := s.open(proc.wire, ctx, s.req)
		if err != nil {
			return opened[S]{}, nil, s.plugin.judge(proc, err)
		}
		s.before, s.proc, s.inner = s.proc, proc, inner
		s.generation++
	}
	return opened[S]{proc: s.proc, inner: s.inner, generation: s.generation, before: s.before}, proc, nil
}

// Close closes the session in the process that has it; a dead process has
// closed it already.
func (s *session[S]) Close() error {
	s.lock <- struct{}{}
	defer func() { <-s.lock }()
	if s.proc == nil || !s.proc.alive() {
		return nil
	}
	return s.plugin.judge(s.proc, s.inner.Close())
}

// call makes one call in the running process.
func call[S io.Closer, T any](ctx context.Context, s *session[S], do func(S) (T, error)) (T, error) {
	var none T
	o, proc, err := s.on(ctx)
	if err != nil {
		return none, err
	}
	out, err := do(o.inner)
	if err != nil {
		return out, s.plugin.judge(proc, err)
	}
	return out, nil
}

// limited is a session that says how much it can serve at once.
type limited interface {
	io.Closer
	Limits() plugin.Limits
}

// openLimited opens a session and notes its limits.
func openLimited[S limited, R any](ctx context.Context, s *session[S], out R) (R, error) {
	o, _, err := s.on(ctx)
	if err != nil {
		var none R
		return none, err
	}
	s.limits = o.inner.Limits()
	return out, nil
}

// frames calls for a stream and explains its errors too.
func frames[S io.Closer](ctx context.Context, s *session[S], do func(S) (plugin.FrameReader, error)) (plugin.FrameReader, error) {
	o, proc, err := s.on(ctx)
	if err != nil {
		return nil, err
	}
	r, err := do(o.inner)
	if err != nil {
		return nil, s.plugin.judge(proc, err)
	}
	return &judged{FrameReader: r, plugin: s.plugin, proc: proc}, nil
}

// judged is a stream whose process may die.
type judged struct {
	plugin.FrameReader
	plugin *Plugin
	proc   *process
}

func (j *judged) Recv() (plugin.Frame, error) {
	f, err := j.FrameReader.Recv()
	if err != nil && err != io.EOF {
		err = j.plugin.judge(j.proc, err)
	}
	return f, err
}
