package memory

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

// Lake holds tables and objects: what a sink's folder holds. It outlives the
// sessions opened on it and may be used by many at once.
type Lake struct {
	mu      sync.Mutex
	tables  map[string]*table
	objects map[string][]byte
	made    int64 // tables created, for their ids
	// Now gives commits their time; tests may replace it before the first use.
	Now func() time.Time
	// ReadOnly, when not "", is the reason why no table can be written.
	ReadOnly string
	// Sealed, when not "", is the reason why no object can be written.
	Sealed string
}

// NewLake returns an empty lake whose clock counts seconds from the start of
// 2026, one a commit, so that tests compare whole histories.
func NewLake() *Lake {
	var ticks int64
	return &Lake{
		tables:  map[string]*table{},
		objects: map[string][]byte{},
		Now: func() time.Time {
			ticks++
			return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(ticks) * time.Second)
		},
	}
}

// table is one table with every version it ever had; versions[i] is version i.
type table struct {
	id       string
	versions []version
	forgets  bool
}

// version is one state of a table. Nothing in it changes once it is stored;
// versions share rows.
type version struct {
	schema      *arrow.Schema
	description string
	properties  map[string]string
	txns        map[string]int64
	rows        [][]cell
	commit      plugin.Commit
}

func (t *table) newest() version { return t.versions[len(t.versions)-1] }

// commit stores next as a new version.
func (l *Lake) commit(t *table, next version, operation, metadata string, dataChange bool, added int64) int64 {
	number := int64(len(t.versions))
	next.commit = plugin.Commit{
		Version: number, Micros: l.Now().UnixMicro(), UserMetadata: metadata,
		Operation: operation, DataChange: dataChange, RowsAdded: added,
	}
	t.versions = append(t.versions, next)
	return number
}

// existing returns a table that a call needs.
func (l *Lake) existing(name string) (*table, error) {
	t, ok := l.tables[name]
	if !ok {
		return nil, diag.Errorf(diag.KindStale, "memory.no_table", "", "There is no table %q", name).Err()
	}
	return t, nil
}

// requireID checks the identity that a request was made for.
func requireID(name, want, have string) error {
	if want == "" || want == have || (want == "-" && have == "") {
		return nil
	}
	return diag.Errorf(diag.KindStale, "memory.replaced", "Plan again.",
		"Table %q is not the one that was planned on: its id is %q, not %q", name, have, want).Err()
}

// DropTable removes a table, as someone else might.
func (l *Lake) DropTable(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.tables, name)
}

// Rows returns the newest rows of a table, one map a row: bool, int64,
// float64, string, []byte, time.Time for dates and timestamps, text for
// decimals, nil for NULL. It returns nil when there is no table.
func (l *Lake) Rows(name string) []map[string]any {
	l.mu.Lock()
	defer l.mu.Unlock()
	t, ok := l.tables[name]
	if !ok {
		return nil
	}
	v := t.newest()
	out := make([]map[string]any, 0, len(v.rows))
	for _, row := range v.rows {
		m := map[string]any{}
		for i, f := range v.schema.Fields() {
			m[f.Name] = plain(f.Type, row[i])
		}
		out = append(out, m)
	}
	return out
}

// History returns every commit of a table, oldest first.
func (l *Lake) History(name string) []plugin.Commit {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.history(name, -1)
}

func (l *Lake) history(name string, after int64) []plugin.Commit {
	t, ok := l.tables[name]
	if !ok {
		return nil
	}
	var out []plugin.Commit
	for _, v := range t.versions {
		if v.commit.Version > after {
			out = append(out, v.commit)
		}
	}
	return out
}

// TableNames lists the tables, sorted.
func (l *Lake) TableNames() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.tables))
}

// Objects returns a copy of all objects.
func (l *Lake) Objects() map[string][]byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[string][]byte{}
	for k, v := range l.objects {
		out[k] = slices.Clone(v)
	}
	return out
}

// Clone returns an independent copy of the lake as it is now: the starting
// point of another crash. The clock is shared.
func (l *Lake) Clone() *Lake {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := &Lake{tables: map[string]*table{}, objects: map[string][]byte{}, made: l.made, Now: l.Now, ReadOnly: l.ReadOnly}
	for name, t := range l.tables {
		c.tables[name] = &table{id: t.id, versions: slices.Clone(t.versions), forgets: t.forgets}
	}
	for key, data := range l.objects {
		c.objects[key] = slices.Clone(data)
	}
	return c
}

// PutBack puts one table into the state that it has in an older copy of the lake.
func (l *Lake) PutBack(older *Lake, table string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := older.tables[table]
	l.tables[table].versions = slices.Clone(t.versions)
}

// ForgetTxns lets a table forget what was recorded in it under app ids, as one
// does that keeps that for a time only.
func (l *Lake) ForgetTxns(table string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.tables[table]
	t.forgets = true
	newest := t.newest()
	newest.txns = nil
	t.versions = append(slices.Clone(t.versions[:len(t.versions)-1]), newest)
}

func (l *Lake) newID() string {
	l.made++
	return fmt.Sprintf("table-%d", l.made)
}
