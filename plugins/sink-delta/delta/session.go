package delta

import (
	"context"
	"errors"
	"fmt"
	"path"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
	"github.com/pipectl/pipectl/plugins/sink-delta/deltatable"
	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// session is one lake. Open tables are kept, so that looking at one again
// reads only the commits that are new.
type session struct {
	settings settings
	schemes  store.Schemes
	options  deltatable.Options

	mu     sync.Mutex
	store  store.Store
	tables map[string]*deltatable.Table // by place
	writes map[string]*write
	swept  map[string]struct{} // folders
}

var _ plugin.Tables = (*session)(nil)

// Limits: parts share the budget of row groups, so a few are enough to keep
// every processor busy.
func (s *session) Limits() plugin.Limits {
	return plugin.Limits{MaxReads: 4 * runtime.GOMAXPROCS(0), MaxParts: 2 * runtime.GOMAXPROCS(0)}
}

// Close drops writes that were never committed.
func (s *session) Close() error {
	s.mu.Lock()
	writes := s.writes
	s.writes = map[string]*write{}
	s.mu.Unlock()
	var errs []error
	for _, w := range writes {
		errs = append(errs, w.abort(context.Background()))
	}
	return errors.Join(errs...)
}

// lake opens the store, once.
func (s *session) lake(ctx context.Context) (store.Store, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store == nil {
		st, err := s.schemes.Open(ctx, s.settings.root)
		if err != nil {
			return nil, unreachable(s.settings.root, err)
		}
		s.store = st
	}
	return s.store, nil
}

// probe finds out, where the store can tell, that a table's folder cannot be
// written. Only plans ask: what reads tables needs no right to write them.
func (s *session) probe(ctx context.Context, ref plugin.TableRef) error {
	at, err := place(ref)
	if err != nil {
		return err
	}
	st, err := s.lake(ctx)
	if err != nil {
		return err
	}
	prober, ok := st.(store.Prober)
	if !ok {
		return nil
	}
	return notWritable(s.settings.root, prober.Probe(ctx, path.Join(at, "_delta_log")))
}

// leftAlone is how long a file of a dead writer stays. Where the file system does
// not tell who writes a file, a day is far from the pauses of a living writer,
// whatever the clocks of the machines that share a lake say.
const leftAlone = 24 * time.Hour

// sweep removes what writers that were killed left in the folders of a table, once
// per session: what has no room for it cannot be written, and nothing else removes
// these files. Delta's VACUUM passes over names that begin with a dot.
func (s *session) sweep(ctx context.Context, ref plugin.TableRef) {
	at, err := place(ref)
	if err != nil {
		return
	}
	s.mu.Lock()
	_, done := s.swept[at]
	s.swept[at] = struct{}{}
	sweeper, ok := s.store.(store.Sweeper)
	s.mu.Unlock()
	if done || !ok {
		return
	}
	before := time.Now().Add(-leftAlone)
	for _, folder := range []string{at, path.Join(at, "_delta_log")} {
		// It is waste, not damage: the write goes on when it cannot be removed.
		_, _ = sweeper.Sweep(ctx, folder, before)
	}
}

// place is where a table lies below the root: its path, else its dotted name
// as folders.
func place(ref plugin.TableRef) (string, error) {
	at := ref.Path
	if at == "" {
		at = strings.ReplaceAll(ref.Name, ".", "/")
	}
	at = path.Clean(strings.TrimSuffix(at, "/"))
	if err := store.CheckPath(at); err != nil {
		return "", diag.Errorf(diag.KindConfiguration, "delta.place", "A table lies in a folder below the lake's root: name it schema.table, or set path.",
			"The table %q has no usable place: %v", ref.Name, err).Err()
	}
	return at, nil
}

// table opens a table; nil when there is none.
func (s *session) table(ctx context.Context, ref plugin.TableRef) (*deltatable.Table, error) {
	at, err := place(ref)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	t := s.tables[at]
	s.mu.Unlock()
	if t != nil {
		return t, nil
	}
	st, err := s.lake(ctx)
	if err != nil {
		return nil, err
	}
	t, err = deltatable.Open(ctx, st, at, s.options)
	switch {
	case errors.Is(err, deltalog.ErrNotTable), s.gone(ctx, ref, err):
		return nil, nil
	case err != nil:
		return nil, s.failed(ctx, ref, "opening", err)
	}
	s.keep(at, t)
	return t, nil
}

func (s *session) keep(at string, t *deltatable.Table) {
	s.mu.Lock()
	s.tables[at] = t
	s.mu.Unlock()
}

func (s *session) forget(ref plugin.TableRef) {
	if at, err := place(ref); err == nil {
		s.mu.Lock()
		delete(s.tables, at)
		s.mu.Unlock()
	}
}

// snapshot pins a version, -1 = the newest; nil when there is no table. A
// table that was removed while the session knew it is no table.
func (s *session) snapshot(ctx context.Context, ref plugin.TableRef, version int64) (*deltatable.Snapshot, error) {
	t, err := s.table(ctx, ref)
	if err != nil || t == nil {
		return nil, err
	}
	var snap *deltatable.Snapshot
	if version < 0 {
		snap, err = t.Snapshot(ctx)
	} else {
		snap, err = t.SnapshotAt(ctx, version)
	}
	switch {
	case errors.Is(err, deltalog.ErrNotTable), s.gone(ctx, ref, err):
		s.forget(ref)
		return nil, nil
	case err != nil:
		return nil, s.failed(ctx, ref, "reading", err)
	}
	return snap, nil
}

// existing pins a version of a table that must exist.
func (s *session) existing(ctx context.Context, ref plugin.TableRef, version int64) (*deltatable.Snapshot, error) {
	snap, err := s.snapshot(ctx, ref, version)
	if err == nil && snap == nil {
		err = s.absent(ref)
	}
	return snap, err
}

func (s *session) absent(ref plugin.TableRef) error {
	return diag.Errorf(diag.KindStale, "delta.no_table", "apply creates it; if it was there before, it was moved or removed.",
		"There is no table %s in %s", ref.Name, s.settings.root).Err()
}

// gone reports whether err is of a table that was removed while it was in use:
// a file of it is not there, and neither is its log.
func (s *session) gone(ctx context.Context, ref plugin.TableRef, err error) bool {
	if !errors.Is(err, store.ErrNotExist) {
		return false
	}
	at, err := place(ref)
	if err != nil {
		return false
	}
	st, err := s.lake(ctx)
	if err != nil {
		return false
	}
	_, err = deltatable.Open(ctx, st, at, s.options)
	return errors.Is(err, deltalog.ErrNotTable)
}

// GetTables looks at the newest version of each table.
func (s *session) GetTables(ctx context.Context, req plugin.GetTablesRequest) ([]plugin.TableState, error) {
	out := make([]plugin.TableState, 0, len(req.Tables))
	for _, ref := range req.Tables {
		state, err := s.state(ctx, ref, req.AppIDs)
		if err != nil {
			return nil, err
		}
		out = append(out, state)
	}
	return out, nil
}

func (s *session) state(ctx context.Context, ref plugin.TableRef, appIDs []string) (plugin.TableState, error) {
	state := plugin.TableState{Table: ref, Version: -1, Rows: -1, Bytes: -1}
	snap, err := s.snapshot(ctx, ref, -1)
	if err != nil || snap == nil {
		return state, err
	}
	log := snap.Log()
	state.Exists = true
	state.ID = log.Metadata().ID
	state.Version = snap.Version()
	state.Schema = snap.Schema()
	state.Description = log.Metadata().Description
	state.Properties = map[string]string(log.Properties())
	state.Features = features(log.Protocol())
	state.Bytes = log.SizeInBytes()
	state.Rows = rowsOf(log)
	state.Txns = map[string]int64{}
	// By it other engines leave old ones out of the checkpoints that they write
	// (Delta Lake: "Table properties reference").
	_, state.TxnsExpire = log.Properties()[deltalog.PropTxnRetention]
	for _, id := range appIDs {
		if v, ok := log.Txn(id); ok {
			state.Txns[id] = v
		}
	}
	if err := snap.CheckWrite(); err != nil {
		state.Writable = fmt.Sprintf("This release cannot write it: %v.", err)
	}
	return state, nil
}

// rowsOf adds up the statistics of all files, -1 when one has none.
func rowsOf(log *deltalog.Snapshot) int64 {
	var rows int64
	for f := range log.Files(nil) {
		n, ok := f.LiveRecords()
		if !ok {
			return -1
		}
		rows += n
	}
	return rows
}

func features(p *deltalog.Protocol) []string {
	out := append([]string(nil), p.WriterFeatures...)
	return append([]string{fmt.Sprintf("reader %d", p.MinReaderVersion), fmt.Sprintf("writer %d", p.MinWriterVersion)}, out...)
}

// History lists commits, oldest first.
func (s *session) History(ctx context.Context, req plugin.HistoryRequest) ([]plugin.Commit, error) {
	t, err := s.table(ctx, req.Table)
	if err != nil {
		return nil, err
	}
	if t == nil {
		_, err := s.existing(ctx, req.Table, -1)
		return nil, err
	}
	var out []plugin.Commit
	for c, err := range t.Log().History(ctx, req.After) {
		if err != nil {
			return nil, s.failed(ctx, req.Table, "reading the history of", err)
		}
		commit := plugin.Commit{Version: c.Version, Micros: c.Timestamp.UnixMicro(), UserMetadata: c.UserMetadata(),
			Operation: c.Info.Operation, DataChange: c.DataChange, RowsAdded: -1}
		if n, ok := c.Metric("numOutputRows"); ok {
			commit.RowsAdded = n
		}
		out = append(out, commit)
		if req.Limit > 0 && len(out) > 2*req.Limit {
			out = append(out[:0], out[len(out)-req.Limit:]...)
		}
	}
	if req.Limit > 0 && len(out) > req.Limit {
		out = out[len(out)-req.Limit:]
	}
	return out, nil
}
