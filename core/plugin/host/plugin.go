package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/wire"
	"github.com/pipectl/pipectl/core/schema"
)

// Plugin is one declared plugin. Its process may be another one from call to
// call: after a crash the next call starts it again.
type Plugin struct {
	host        *Host
	spec        Spec
	description plugin.Description

	// lock is held by a send; it guards the fields below, and unlike a mutex a
	// call that waits for it can be cancelled.
	lock    chan struct{}
	current *process
	// restarts counts all of them, recent those since a process was healthy.
	restarts, recent int
	// unstarted tells that one of the recent restarts failed.
	unstarted bool
	// forgiven is the process whose long life made recent begin anew. It stays
	// the current one when a restart fails, and a life counts once.
	forgiven *process
	stopped  bool
}

// healthy is how long a process must have lived for its end to be a new trouble
// and not the old one. A watch goes on for weeks, and a plugin that dies once
// in a while must not end it.
const healthy = time.Hour

func newPlugin(h *Host, spec Spec, proc *process) *Plugin {
	return &Plugin{host: h, spec: spec, current: proc, lock: make(chan struct{}, 1)}
}

// live returns the running process. One that died is started again, after a
// pause, as often as the host allows.
func (p *Plugin) live(ctx context.Context) (*process, error) {
	select {
	case p.lock <- struct{}{}:
		defer func() { <-p.lock }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	switch {
	case p.stopped:
		return nil, diag.Errorf(diag.KindTransient, "plugin.stopped", "Run again.", "Plugin %q was stopped", p.spec.Name).Err()
	case p.current.alive():
		return p.current, nil
	}
	// What is left of the dead process goes first: its folder, its goroutines.
	p.current.stop(0)
	if p.current != p.forgiven && p.current.runner.lived() >= healthy {
		p.recent, p.unstarted, p.forgiven = 0, false, p.current
	}
	if p.recent >= len(p.host.options.Backoff) {
		d := p.current.crashedFor(p.recent+1, p.unstarted)
		return nil, d.Err()
	}
	if err := pause(ctx, p.host.options.Backoff[p.recent]); err != nil {
		return nil, err
	}
	p.host.options.Logger.Warn("starting a plugin again after a crash", "plugin", p.spec.Name, "restart", p.restarts+1)
	proc, err := p.host.start(ctx, p.spec)
	if err != nil && ctx.Err() != nil {
		return nil, err // the caller gave it up, which says nothing of the plugin
	}
	p.restarts++
	p.recent++
	if err != nil {
		p.unstarted = true
		return nil, err
	}
	p.current = proc
	return proc, nil
}

// codeCrashes is the code of a plugin that ended too often.
const codeCrashes = "plugin.crashes"

// crashedFor is the end of restarting. unstarted tells that the times are not
// only ends but also starts that failed.
func (p *process) crashedFor(times int, unstarted bool) diag.Diagnostic {
	what := "ended unexpectedly"
	if unstarted {
		what = "ended unexpectedly or did not start"
	}
	d := p.crash()
	d.Kind, d.Code = diag.KindUnavailable, codeCrashes
	d.Summary = fmt.Sprintf("Plugin %q %s %d times, without an hour of life in between, and is not started again", p.name, what, times)
	return d
}

// judge turns the error of a call into what a caller may see: the crash of the
// process that it was made to, or diagnostics without sensitive values.
func (p *Plugin) judge(proc *process, err error) error {
	if err == nil {
		return nil
	}
	var known *diag.Err
	switch {
	case errors.As(err, &known):
		return (p.host.mask.diagnostics(known.List)).Err()
	case errors.Is(err, wire.ErrGone):
		return proc.crash().Err()
	}
	return err
}

// Spec is what was declared.
func (p *Plugin) Spec() Spec { return p.spec }

// Restarts counts how often the process was started again.
func (p *Plugin) Restarts() int {
	p.lock <- struct{}{}
	defer func() { <-p.lock }()
	return p.restarts
}

func (p *Plugin) stop() {
	p.lock <- struct{}{}
	defer func() { <-p.lock }()
	p.stopped = true
	p.current.stop(p.host.options.StopGrace)
}

// Describe answers what the plugin said when it was started.
func (p *Plugin) Describe(context.Context) (plugin.Description, error) { return p.description, nil }

// component returns what the plugin said of one component.
func (p *Plugin) component(role plugin.Role, name string) plugin.Component {
	for _, c := range p.description.Components {
		if c.Role == role && c.Type == name {
			return c
		}
	}
	return plugin.Component{}
}

// ValidateConfig asks the plugin, and once more where it ends meanwhile: what is
// asked changes nothing.
func (p *Plugin) ValidateConfig(ctx context.Context, id plugin.ComponentID, body plugin.BodyKind, value cty.Value) (diag.List, error) {
	c := p.component(id.Role, id.Type)
	p.host.mask.addBody(map[plugin.BodyKind]schema.Body{
		plugin.BodyConnection: c.Connection, plugin.BodyObject: c.Object, plugin.BodyRead: c.Read,
	}[body], value)
	for {
		proc, err := p.live(ctx)
		if err != nil {
			return nil, err
		}
		list, err := proc.wire.ValidateConfig(ctx, id, body, value)
		err = p.judge(proc, err)
		if ctx.Err() != nil || !diag.HasCode(err, plugin.CodeCrashed) { // live bounds how often
			return p.host.mask.diagnostics(list), err
		}
	}
}

// OpenSource opens a session that outlives its process.
func (p *Plugin) OpenSource(ctx context.Context, req plugin.OpenRequest) (plugin.Source, error) {
	s := newSession(p, plugin.RoleSource, req, (*wire.Client).OpenSource)
	return openLimited(ctx, s, &sourceSession{session: s})
}

// OpenTables opens a session that outlives its process. Writes do not: after a
// crash their parts and commits answer that they are to be begun again.
func (p *Plugin) OpenTables(ctx context.Context, req plugin.OpenRequest) (plugin.Tables, error) {
	s := newSession(p, plugin.RoleSink, req, (*wire.Client).OpenTables)
	return openLimited(ctx, s, &tablesSession{session: s})
}

// OpenSilver opens a session that outlives its process.
func (p *Plugin) OpenSilver(ctx context.Context, req plugin.OpenRequest) (plugin.Silver, error) {
	s := newSession(p, plugin.RoleSilver, req, (*wire.Client).OpenSilver)
	if _, _, err := s.on(ctx); err != nil {
		return nil, err
	}
	return &silverSession{session: s}, nil
}

// OpenCheck opens a session that outlives its process.
func (p *Plugin) OpenCheck(ctx context.Context, req plugin.OpenRequest) (plugin.Check, error) {
	s := newSession(p, plugin.RoleCheck, req, (*wire.Client).OpenCheck)
	if _, _, err := s.on(ctx); err != nil {
		return nil, err
	}
	return &checkSession{session: s}, nil
}
