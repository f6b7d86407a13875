package run

import (
	"context"
	"sync"
	"time"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
)

// Patient are plugins whose sources are not waited for without a word, for what
// asks them outside of a run, such as making a plan.
type Patient struct {
	planner.Plugins
	clock  func() time.Time
	waits  func(addr.Address, diag.Diagnostic)
	goesOn func(source addr.Address, waited time.Duration)

	mu      sync.Mutex
	sources map[addr.Address]*attention
}

// NewPatient returns such plugins; waits hears a warning of a source that has not
// answered for a minute, and again every 10 minutes, goesOn that it did then. End
// must be called.
func NewPatient(p planner.Plugins, clock func() time.Time, waits func(addr.Address, diag.Diagnostic), goesOn func(source addr.Address, waited time.Duration)) *Patient {
	return &Patient{Plugins: p, clock: clock, waits: waits, goesOn: goesOn, sources: map[addr.Address]*attention{}}
}

// Source opens a source.
func (p *Patient) Source(ctx context.Context, a addr.Address) (plugin.Source, error) {
	session, err := p.Plugins.Source(ctx, a)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sources[a] == nil {
		p.sources[a] = &attention{
			clock: p.clock, patience: patience, step: a, source: a,
			waits: func(d diag.Diagnostic) {
				d.Severity = diag.Warning
				p.waits(a, d)
			},
			goesOn: func(waited time.Duration) { p.goesOn(a, waited) },
		}
		p.sources[a].begin()
	}
	return askedSource{Source: session, object: "a table", attention: p.sources[a]}, nil
}

// End ends the listening: nothing is told any more when it returns.
func (p *Patient) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.sources {
		a.end()
	}
}
