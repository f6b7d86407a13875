package command

import (
	"context"
	"fmt"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
)

// sessions opens sessions of a workspace, each once.
type sessions struct {
	w *workspace

	mu      sync.Mutex
	sources map[addr.Address]plugin.Source
	tables  map[addr.Address]plugin.Tables
	silvers map[addr.Address]plugin.Silver
	checks  map[addr.Address]plugin.Check
	closers []func() error
}

var _ planner.Plugins = (*sessions)(nil)

func newSessions(w *workspace) *sessions {
	return &sessions{
		w: w, sources: map[addr.Address]plugin.Source{}, tables: map[addr.Address]plugin.Tables{},
		silvers: map[addr.Address]plugin.Silver{}, checks: map[addr.Address]plugin.Check{},
	}
}

func (s *sessions) request(component string, a addr.Address, body cty.Value) plugin.OpenRequest {
	return plugin.OpenRequest{Component: component, Address: a.String(), Config: body, RunID: s.w.runID, MemoryBudget: s.w.memory}
}

// opened returns the session of an address, opening it the first time.
func opened[S interface{ Close() error }](s *sessions, known map[addr.Address]S, a addr.Address, open func() (S, error)) (S, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if session, ok := known[a]; ok {
		return session, nil
	}
	session, err := open()
	if err != nil {
		return session, fmt.Errorf("opening %s: %w", a, err)
	}
	known[a] = session
	s.closers = append(s.closers, session.Close)
	return session, nil
}

// Source opens the session of a source block.
func (s *sessions) Source(ctx context.Context, a addr.Address) (plugin.Source, error) {
	return opened(s, s.sources, a, func() (plugin.Source, error) {
		block := s.w.config.Source(a)
		req := s.request(block.Type, a, block.Body)
		req.MaxConnections = block.MaxConnections
		return s.w.plugins[block.Plugin].OpenSource(ctx, req)
	})
}

// Tables opens the session of a sink block.
func (s *sessions) Tables(ctx context.Context, a addr.Address) (plugin.Tables, error) {
	return opened(s, s.tables, a, func() (plugin.Tables, error) {
		block := s.w.config.Sink(a)
		return s.w.plugins[block.Plugin].OpenTables(ctx, s.request(block.Type, a, block.Body))
	})
}

// Silver opens the session of a silver block.
func (s *sessions) Silver(ctx context.Context, a addr.Address) (plugin.Silver, error) {
	return opened(s, s.silvers, a, func() (plugin.Silver, error) {
		block := s.w.config.Silver(a)
		return s.w.plugins[block.Plugin].OpenSilver(ctx, s.request(block.Type, a, cty.EmptyObjectVal))
	})
}

// Check opens the session of a check block.
func (s *sessions) Check(ctx context.Context, a addr.Address) (plugin.Check, error) {
	return opened(s, s.checks, a, func() (plugin.Check, error) {
		block := s.w.config.Check(a)
		return s.w.plugins[block.Plugin].OpenCheck(ctx, s.request(block.Type, a, cty.EmptyObjectVal))
	})
}

// close ends all sessions; their processes end right after.
func (s *sessions) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.closers {
		_ = c()
	}
	s.closers = nil
}
