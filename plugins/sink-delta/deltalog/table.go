package deltalog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// Table is a Delta table in a store. It is safe for concurrent use.
type Table struct {
	options
	store store.Store
	path  string

	mu     sync.Mutex
	latest *Snapshot // newest snapshot given out, the start of the next update
}

func newTable(st store.Store, path string, opts []Option) (*Table, error) {
	path = strings.Trim(path, "/")
	if path != "" {
		if err := store.CheckPath(path); err != nil {
			return nil, fmt.Errorf("open Delta table: %w", err)
		}
	}
	t := &Table{options: defaultOptions(), store: st, path: path}
	for _, o := range opts {
		o(&t.options)
	}
	return t, nil
}

// Open finds the table at path inside st; an empty path means that the store's
// root is the table. It reads the newest version and fails with ErrNotTable when
// there is no log, with *UnsupportedError when the table cannot be read, and
// with ErrCorrupt when its log breaks the protocol.
func Open(ctx context.Context, st store.Store, path string, opts ...Option) (*Table, error) {
	t, err := newTable(st, path, opts)
	if err != nil {
		return nil, err
	}
	if _, err := t.Snapshot(ctx); err != nil {
		return nil, err
	}
	return t, nil
}

// Store is the store that holds the table.
func (t *Table) Store() store.Store { return t.store }

// Path is the table's folder in the store, "" for the root.
func (t *Table) Path() string { return t.path }

// object is the path in the store of something inside the table.
func (t *Table) object(elements ...string) string {
	name := strings.Join(elements, "/")
	if t.path == "" {
		return name
	}
	return t.path + "/" + name
}

// Object is the path in the store of an object that is named relative to the
// table, for example of a data file to be written.
func (t *Table) Object(relative string) string { return t.object(relative) }

// Locate says where the object lies that a path of the log names: of an Add or
// a Remove. Relative paths are in the table's store; absolute ones are opened as
// WithOpener says.
func (t *Table) Locate(ctx context.Context, path string) (st store.Store, object string, err error) {
	location, name, err := decodePath(path)
	if err != nil {
		return nil, "", err
	}
	if location == "" {
		object = t.object(name)
		if err := store.CheckPath(object); err != nil {
			return nil, "", fmt.Errorf("%w: the file %q of table %q: %w", ErrCorrupt, path, t.path, err)
		}
		return t.store, object, nil
	}
	st, err = t.open(ctx, location)
	if err != nil {
		return nil, "", fmt.Errorf("file %q of table %q: %w", path, t.path, err)
	}
	return st, name, nil
}

// Snapshot returns the newest version. It reads only what is new since the
// newest snapshot that the table has given out.
func (t *Table) Snapshot(ctx context.Context) (*Snapshot, error) {
	t.mu.Lock()
	have := t.latest
	t.mu.Unlock()
	if have != nil {
		next, ok, err := t.update(ctx, have)
		if err != nil {
			return nil, err
		}
		if ok {
			t.remember(next)
			return next, nil
		}
	}
	next, err := t.loadAt(ctx, newest)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	t.latest = next
	t.mu.Unlock()
	return next, nil
}

// remember keeps a snapshot as the start of later updates if it is newer.
func (t *Table) remember(s *Snapshot) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.latest == nil || s.version > t.latest.version {
		t.latest = s
	}
}

// SnapshotAt returns one version: ErrVersionNotFound when it does not exist
// yet or its log is gone.
func (t *Table) SnapshotAt(ctx context.Context, version int64) (*Snapshot, error) {
	if version < 0 {
		return nil, fmt.Errorf("%w: versions begin at 0, %d was asked for", ErrVersionNotFound, version)
	}
	t.mu.Lock()
	have := t.latest
	t.mu.Unlock()
	if have != nil && have.version == version {
		return have, nil
	}
	return t.loadAt(ctx, version)
}

// CreateSpec says what a new table is.
type CreateSpec struct {
	// Schema has all columns, partition columns too. When the table gets column
	// mapping, ids and physical names are given to fields that have none.
	Schema           *Struct
	PartitionColumns []string
	Name             string
	Description      string
	// Properties are table properties. Features that the schema or a property
	// needs (timestampNtz, deletionVectors, columnMapping, ...) are added to the
	// protocol.
	Properties map[string]string
	// Operation is what history shows; empty means CREATE TABLE.
	Operation string
}

// Create makes a table without rows, as version 0. It fails with ErrTableExists
// when there is one, also when another creator was quicker.
func Create(ctx context.Context, st store.Store, path string, spec CreateSpec, opts ...Option) (*Table, error) {
	t, err := newTable(st, path, opts)
	if err != nil {
		return nil, err
	}
	l, err := t.list(ctx, 0)
	if err != nil {
		return nil, err
	}
	if l.newest >= 0 {
		return nil, fmt.Errorf("%w: %q", ErrTableExists, t.path)
	}
	tx, err := t.creation(spec)
	if err != nil {
		return nil, fmt.Errorf("create table %q: %w", t.path, err)
	}
	if _, err := tx.Commit(ctx); err != nil {
		if errors.Is(err, ErrConflict) {
			return nil, fmt.Errorf("%w: %q: %w", ErrTableExists, t.path, err)
		}
		return nil, fmt.Errorf("create table %q: %w", t.path, err)
	}
	if _, err := t.Snapshot(ctx); err != nil {
		return nil, err
	}
	return t, nil
}
