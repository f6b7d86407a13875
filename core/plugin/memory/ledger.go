package memory

import (
	"context"
	"reflect"
	"slices"
	"sync"

	"github.com/pipectl/pipectl/core/diag"
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
	return l.advance(req), nil
}

// advance stores position, then verdict; the caller holds the lock.
func (l *Ledger) advance(req plugin.AdvanceRequest) *int64 {
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
	return view.Verdict
}

// Step returns the ledger as one step sees it: a position moves only from the
// one that this step read first, like that of the real one.
func (l *Ledger) Step() plugin.Ledger {
	return &stepLedger{Ledger: l, from: map[string]plugin.TargetPosition{}}
}

type stepLedger struct {
	*Ledger
	from map[string]plugin.TargetPosition // guarded by the ledger's lock
}

func (s *stepLedger) ReadLedger(_ context.Context, target string) (plugin.LedgerView, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	view := s.Views[target]
	if _, read := s.from[target]; !read {
		s.from[target] = view.Position
	}
	return view, nil
}

func (s *stepLedger) Advance(_ context.Context, req plugin.AdvanceRequest) (*int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stored := s.Views[req.Target].Position; !reflect.DeepEqual(stored, s.from[req.Target]) {
		return nil, diag.Errorf(diag.KindConflict, "memory.position_moved", "",
			"The position of %q moved from %+v to %+v during the step", req.Target, s.from[req.Target], stored).Err()
	}
	s.from[req.Target] = req.Position
	return s.advance(req), nil
}

// Advances lists what was reported, in order.
func (l *Ledger) Advances() []plugin.AdvanceRequest {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.advances)
}
