package memory

import (
	"context"
	"slices"
	"sync"

	"github.com/pipectl/pipectl/core/plugin"
)

// Ledger is a ledger whose answers a test scripts; what a step reports is
// kept and answered from then on. It holds no facts of its own.
type Ledger struct {
	mu sync.Mutex
	// Views holds the answer of ReadLedger per target; one that is absent is
	// the zero view.
	Views map[string]plugin.LedgerView
	// ChunkRows holds the answer of Chunks per snapshot.
	ChunkRows map[string][]plugin.ChunkRow
	// Verdict computes the verdict that Advance stores; nil keeps it.
	Verdict  func(view plugin.LedgerView, req plugin.AdvanceRequest) *int64
	advances []plugin.AdvanceRequest
}

// ReadLedger answers the scripted view.
func (l *Ledger) ReadLedger(_ context.Context, target string) (plugin.LedgerView, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Views[target], nil
}

// Chunks answers the scripted rows.
func (l *Ledger) Chunks(_ context.Context, snapshot string) ([]plugin.ChunkRow, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.ChunkRows[snapshot]), nil
}

// Advance stores position, then verdict.
func (l *Ledger) Advance(_ context.Context, req plugin.AdvanceRequest) (*int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Views == nil {
		l.Views = map[string]plugin.LedgerView{}
	}
	view := l.Views[req.Target]
	view.Position = req.Position
	if l.Verdict != nil && !req.HoldVerdict {
		view.Verdict = l.Verdict(view, req)
	}
	l.Views[req.Target] = view
	l.advances = append(l.advances, req)
	return view.Verdict, nil
}

// Advances lists what was reported, in order.
func (l *Ledger) Advances() []plugin.AdvanceRequest {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.advances)
}
