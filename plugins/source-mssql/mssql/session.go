package mssql

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/lsn"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
)

// session is one source block in one run.
type session struct {
	config connection
	pool   *pool
	retry  retrier
	clocks *clocks
	log    *slog.Logger
	now    func() time.Time
	limit  int
	// minRangeRows is the least number of rows worth a range of its own: each
	// costs a log-in and several queries.
	minRangeRows int64

	mu     sync.Mutex
	tables map[string]*tableState
	// newest caches the time of the newest commit seen.
	newest plugin.Position
}

// tableState is what a session remembers of a table. The core asks about one
// table from one place at a time; the lock is for those that do not.
type tableState struct {
	mu sync.Mutex
	// known are the names of instances seen, oldest first.
	known []string
	table tsql.Table
	// columns caches captured columns by instance: its list never changes, but
	// types do, so DDL empties it.
	columns map[columnsKey]captured
	shape   *shape
	checked map[string]bool
	// clock is that of the batch in hand; nil before the first.
	clock *clock
	// pending are warnings for the next batch that has ranges.
	pending diag.List
	// clockSaid are warnings about the clock that this table's facts have.
	clockSaid []string
}

// methodInspect is the planner call that people wait for.
const methodInspect = "inspect"

type columnsKey struct {
	name    string
	created time.Time
}

func (s *session) state(address string) *tableState {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, ok := s.tables[address]
	if !ok {
		st = &tableState{columns: map[columnsKey]captured{}, checked: map[string]bool{}}
		s.tables[address] = st
	}
	return st
}

// Limits keeps one connection for planning where there is more than one.
func (s *session) Limits() plugin.Limits { return plugin.Limits{MaxReads: max(1, s.limit-1)} }

// Close closes idle connections; reads close theirs when they end.
func (s *session) Close() error {
	s.pool.close()
	return nil
}

// plan runs a planner call on a borrowed connection, again on a new one after
// an error that may pass.
func (s *session) plan(ctx context.Context, method string, call func(*conn) error) error {
	// A person who looks at a new configuration is told at once that its
	// server is out of reach: what is diagnosed is not tried again here.
	impatient := method == methodInspect && !s.pool.everConnected()
	err := s.retry.do(ctx, method, s.config.mask, func() error {
		c, err := s.pool.borrow(ctx)
		if impatient && err != nil && !answered(err) {
			return s.config.diagnose(err)
		}
		if err != nil {
			return err
		}
		err = call(c)
		var answered *diag.Err
		s.pool.give(c, err != nil && !asDiag(err, &answered))
		return err
	})
	return s.config.diagnose(err)
}

// parse validates a table, which the host has validated before.
func (s *session) parse(t plugin.SourceTable) (tableConfig, *tableState, error) {
	cfg, list := parseTable(t)
	if err := list.Err(); err != nil {
		return cfg, nil, err
	}
	return cfg, s.state(t.Address), nil
}

// discover finds the table's instances: by a listing of its table once that is
// known, else of the database, which also finds a renamed table.
func (s *session) discover(ctx context.Context, c *conn, cfg tableConfig, st *tableState) (resolved, error) {
	st.mu.Lock()
	table, known := st.table, slices.Clone(st.known)
	st.mu.Unlock()
	if table.Name != "" {
		list, err := listInstances(ctx, c, tsql.CaptureInstancesOf(table))
		if err != nil && (transient(err) || cancelled(err) || !c.usable()) {
			return resolved{}, err
		}
		if err == nil {
			if r, err := resolve(list, cfg, known); err == nil {
				st.remember(r)
				return r, nil
			}
		}
	}
	list, err := listInstances(ctx, c, tsql.CaptureInstances())
	if err != nil {
		return resolved{}, s.listingError(err)
	}
	r, err := resolve(list, cfg, known)
	if err != nil {
		return resolved{}, explain(ctx, c, cfg, s.config.driver.Database, "", len(known) > 0, err)
	}
	st.remember(r)
	return r, nil
}

// listingError reads the listing's own refusal: without CDC in the database
// there is no such procedure to run.
func (s *session) listingError(err error) error {
	if n := sqlNumber(err); n != 0 && n != errCDCNotEnabled && n != 2812 {
		return err
	} else if n == 0 {
		return err
	}
	return diag.Errorf(diag.KindConfiguration, codeNotEnabled, "A DBA enables it with EXEC sys.sp_cdc_enable_db, then per table with sys.sp_cdc_enable_table.",
		"Change data capture is not enabled on the database %s", s.config.driver.Database).Err()
}

func (st *tableState) remember(r resolved) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.table = r.table
	var names []string
	for _, k := range st.known {
		if found, _ := byName(r.instances, k); found == nil {
			names = append(names, k)
		}
	}
	for _, i := range r.instances {
		names = append(names, i.name)
	}
	st.known = names
}

// columns reads the captured columns of instances, from the cache where they
// are known; fresh reads them anew.
func (s *session) columns(ctx context.Context, c *conn, st *tableState, r resolved, fresh bool) ([]captured, error) {
	out := make([]captured, 0, len(r.instances))
	var live []liveColumn
	for _, ci := range r.instances {
		key := columnsKey{ci.name, ci.created}
		st.mu.Lock()
		have, ok := st.columns[key]
		st.mu.Unlock()
		if !ok || fresh {
			if live == nil {
				var err error
				if live, err = liveColumns(ctx, c, r.table); err != nil {
					return nil, err
				}
			}
			var err error
			if have, err = capturedColumns(ctx, c, ci, live); err != nil {
				return nil, err
			}
			st.mu.Lock()
			st.columns[key] = have
			st.mu.Unlock()
		}
		have.instance = ci // its start may have moved
		out = append(out, have)
	}
	return out, nil
}

// shape is the table's shape, inferred at the first call of the session.
func (s *session) shape(st *tableState, instances []captured, cfg tableConfig) (shape, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.shape != nil {
		return *st.shape, nil
	}
	inferred, list := inferShape(instances, cfg)
	if err := list.Err(); err != nil {
		return shape{}, err
	}
	for _, w := range list.Warnings() {
		st.warn(w)
	}
	st.shape = &inferred
	return inferred, nil
}

// warn keeps a warning for the facts of the next batch; st.mu is held.
func (st *tableState) warn(w diag.Diagnostic) {
	st.pending = append(st.pending, w).Unique()
}

// maxLSN is the newest commit that capture has processed; zero when it has
// never written.
func maxLSN(ctx context.Context, c *conn) (lsn.LSN, error) {
	l, _, err := c.lsn(ctx, tsql.MaxLSN())
	return l, err
}

// minLSN is the low watermark of an instance, zero when it is not known yet.
func minLSN(ctx context.Context, c *conn, instance string) (lsn.LSN, error) {
	l, _, err := c.lsn(ctx, tsql.MinLSN(instance))
	return l, err
}

// needMinLSN is minLSN where zero is an error.
func needMinLSN(ctx context.Context, c *conn, instance string) (lsn.LSN, error) {
	m, err := minLSN(ctx, c, instance)
	if err != nil || !m.IsZero() {
		return m, err
	}
	d := diag.Errorf(diag.KindNotReady, codeNotReady,
		"Capture has not processed its creation yet (up to about five minutes on a quiet database: is SQL Server Agent running?), or the instance is gone, or the login lacks SELECT on its captured columns. Retry once the capture job has run.",
		"The low watermark of %s is not known", instance)
	d.Data = map[string]string{"capture_instance": instance}
	return lsn.LSN{}, d.Err()
}

func step(ctx context.Context, c *conn, q tsql.Query) (lsn.LSN, error) {
	l, ok, err := c.lsn(ctx, q)
	if err == nil && !ok {
		err = fmt.Errorf("%s: the server answered NULL", q.Name)
	}
	return l, err
}

func increment(ctx context.Context, c *conn, l lsn.LSN) (lsn.LSN, error) {
	return step(ctx, c, tsql.Increment(l.String()))
}

func decrement(ctx context.Context, c *conn, l lsn.LSN) (lsn.LSN, error) {
	return step(ctx, c, tsql.Decrement(l.String()))
}

// position is an LSN with its commit time, if it is a commit's.
func (s *session) position(ctx context.Context, c *conn, l lsn.LSN) (plugin.Position, error) {
	k, err := s.clocks.get(ctx, c)
	if err != nil {
		return plugin.Position{}, err
	}
	return k.position(ctx, c, l)
}

// position is an LSN with its commit time by this clock.
func (k clock) position(ctx context.Context, c *conn, l lsn.LSN) (plugin.Position, error) {
	micros, ok, err := k.time(ctx, c, l)
	return plugin.Position{Text: l.String(), CommitMicros: micros, HasCommit: ok}, err
}

// positionAdvice is what to do about a stored position that is no LSN.
const positionAdvice = "This source stores positions as 0x and 20 hexadecimal digits, so another kind of source, or another program, stored it. Name the source that the stream was made with. " + plugin.LoadAnew

// parsePosition reads a position that the core stored.
func parsePosition(p plugin.Position, what string) (lsn.LSN, error) {
	l, err := lsn.Parse(p.Text)
	if err != nil {
		return lsn.LSN{}, diag.Errorf(diag.KindConfiguration, codePosition, positionAdvice, "%s: %s", what, err).Err()
	}
	return l, nil
}
