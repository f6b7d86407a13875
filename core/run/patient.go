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

// Patient are plugins whose sources and sinks are not waited for without a word, for
// what asks them outside of a run: making a plan, or looking how far tables are.
type Patient struct {
	planner.Plugins
	clock  func() time.Time
	waits  func(addr.Address, diag.Diagnostic)
	goesOn func(asked addr.Address, waited time.Duration)

	mu    sync.Mutex
	asked map[addr.Address]*attention
}

// NewPatient returns such plugins; waits hears a warning of a source or sink that has
// not answered for a minute, and again every 10 minutes, goesOn that it did then. End
// must be called.
func NewPatient(p planner.Plugins, clock func() time.Time, waits func(addr.Address, diag.Diagnostic), goesOn func(asked addr.Address, waited time.Duration)) *Patient {
	return &Patient{Plugins: p, clock: clock, waits: waits, goesOn: goesOn, asked: map[addr.Address]*attention{}}
}

// Source opens a source.
func (p *Patient) Source(ctx context.Context, a addr.Address) (plugin.Source, error) {
	attention := p.attention(a)
	session, err := ask(attention, toOpen, func() (plugin.Source, error) { return p.Plugins.Source(ctx, a) })
	if err != nil {
		return nil, err
	}
	return askedSource{Source: session, object: "a table", attention: attention}, nil
}

// Tables opens a sink.
func (p *Patient) Tables(ctx context.Context, sink addr.Address) (plugin.Tables, error) {
	attention := p.attention(sink)
	session, err := ask(attention, toOpen, func() (plugin.Tables, error) { return p.Plugins.Tables(ctx, sink) })
	if err != nil {
		return nil, err
	}
	return askedTables{Tables: session, attention: attention}, nil
}

// toOpen is what is asked first.
const toOpen = "to open"

// attention is the one that is paid to a source or sink.
func (p *Patient) attention(to addr.Address) *attention {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asked[to] == nil {
		p.asked[to] = &attention{
			clock: p.clock, patience: patience, step: to, source: to,
			waits: func(d diag.Diagnostic) {
				d.Severity = diag.Warning
				p.waits(to, d)
			},
			goesOn: func(waited time.Duration) { p.goesOn(to, waited) },
		}
		p.asked[to].begin()
	}
	return p.asked[to]
}

// End ends the listening: nothing is told any more when it returns.
func (p *Patient) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.asked {
		a.end()
	}
}
