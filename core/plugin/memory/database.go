package memory

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/plugin"
)

// Database is a scripted source: tables with rows and one log of commits. It
// outlives the sessions opened on it.
//
// Position texts look like SQL Server's LSNs ("0x" and 20 upper-case hex
// digits); commit n of the database has number n in its middle 8 digits.
type Database struct {
	mu              sync.Mutex
	identity, alias string
	tables          map[string]*sourceTable
	log             []logEntry // log[i] is commit i+1
	limits          plugin.Limits
	// present keeps what current found, until something changes: a check asks
	// for the same rows range by range.
	present map[string][][]cell
}

// sourceTable is one table of a database.
type sourceTable struct {
	name     string
	identity string
	schema   *arrow.Schema // captured columns
	key      []string
	instance string
	created  int // the commit after which it was captured
	low      int // the oldest commit whose changes are kept
	events   []plugin.Event
}

// logEntry is one commit: its time and its changes.
type logEntry struct {
	at      time.Time
	changes []loggedChange
}

type loggedChange struct {
	table     string
	operation int32
	row       []cell
}

// Change is one change of a commit. Op is plugin.OpInsert (After), OpDelete
// (Before) or OpUpdateAfter (Before and After, logged as a pair). A row names
// columns; a column that is left out is NULL.
type Change struct {
	Table         string
	Op            int32
	Before, After Row
}

// Row is one row by column name; see Lake.Rows for the Go types of values.
type Row map[string]any

// NewDatabase returns a database without tables.
func NewDatabase(identity string) *Database {
	return &Database{identity: identity, tables: map[string]*sourceTable{}, present: map[string][][]cell{}, limits: plugin.Limits{MaxReads: 8, MaxParts: 8}}
}

// CreateTable adds a table of captured columns with a primary key. A table
// created again under the same name gets a new identity.
func (d *Database) CreateTable(name string, schema *arrow.Schema, key ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.present)
	n := 1
	if old, ok := d.tables[name]; ok {
		fmt.Sscanf(old.identity, name+"#%d", &n)
		n++
	}
	d.tables[name] = &sourceTable{
		name: name, identity: fmt.Sprintf("%s#%d", name, n), schema: schema, key: key,
		instance: strings.ToLower(strings.ReplaceAll(name, ".", "_")),
		created:  len(d.log), low: len(d.log) + 1,
	}
}

// Commit logs one transaction at a time (UTC) and returns its position. A
// commit without changes is an idle entry. It panics on a script that makes
// no sense, such as an unknown table.
func (d *Database) Commit(at time.Time, changes ...Change) plugin.Position {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.present)
	entry := logEntry{at: at.UTC().Truncate(time.Millisecond)}
	for _, c := range changes {
		t, ok := d.tables[c.Table]
		if !ok {
			panic("memory: no table " + c.Table)
		}
		add := func(op int32, row Row) {
			entry.changes = append(entry.changes, loggedChange{table: c.Table, operation: op, row: t.cells(row)})
		}
		switch c.Op {
		case plugin.OpInsert:
			add(plugin.OpInsert, c.After)
		case plugin.OpDelete:
			add(plugin.OpDelete, c.Before)
		case plugin.OpUpdateAfter:
			add(plugin.OpUpdateBefore, c.Before)
			add(plugin.OpUpdateAfter, c.After)
		default:
			panic(fmt.Sprintf("memory: no change has operation %d", c.Op))
		}
	}
	d.log = append(d.log, entry)
	return d.position(len(d.log))
}

// Insert, Update and Delete build changes.
func Insert(table string, after Row) Change {
	return Change{Table: table, Op: plugin.OpInsert, After: after}
}

// Update builds an update, logged as a pair of rows.
func Update(table string, before, after Row) Change {
	return Change{Table: table, Op: plugin.OpUpdateAfter, Before: before, After: after}
}

// Delete builds a delete.
func Delete(table string, before Row) Change {
	return Change{Table: table, Op: plugin.OpDelete, Before: before}
}

func (t *sourceTable) cells(row Row) []cell {
	out := make([]cell, t.schema.NumFields())
	for name, v := range row {
		index := t.schema.FieldIndices(name)
		if len(index) == 0 {
			panic(fmt.Sprintf("memory: table %s has no column %s", t.name, name))
		}
		c, err := cellOf(t.schema.Field(index[0]).Type, v)
		if err != nil {
			panic(fmt.Sprintf("memory: column %s of table %s: %v", name, t.name, err))
		}
		out[index[0]] = c
	}
	return out
}

// Purge forgets the changes of a table up to and including a position, as a
// cleanup job does.
func (d *Database) Purge(table string, upTo plugin.Position) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.tables[table]
	t.low = max(t.low, d.atOrBefore(upTo.Text)+1)
}

// Rewind restores the database in place: commits after the position never
// happened, and later ones take their numbers.
func (d *Database) Rewind(to plugin.Position) {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.present)
	d.log = d.log[:d.atOrBefore(to.Text)]
	for _, t := range d.tables {
		t.created = min(t.created, len(d.log))
		t.low = min(t.low, len(d.log)+1)
	}
}

// SetIdentity makes the database another one, as a wrong connection would.
func (d *Database) SetIdentity(identity string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.identity, d.alias = identity, ""
}

// JoinGroup gives the database the identity of a group, in which it is known by
// the one that it had, too. LeaveGroup gives that one back.
func (d *Database) JoinGroup(identity string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.identity, d.alias = identity, d.identity
}

// LeaveGroup undoes JoinGroup.
func (d *Database) LeaveGroup() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.identity, d.alias = d.alias, ""
}

// AddColumn adds a captured column to a table; existing rows hold NULL.
func (d *Database) AddColumn(table string, field arrow.Field) {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.present)
	t := d.tables[table]
	t.schema = arrow.NewSchema(append(slices.Clone(t.schema.Fields()), field), nil)
	for i := range d.log {
		for j := range d.log[i].changes {
			if c := &d.log[i].changes[j]; c.table == table {
				c.row = append(slices.Clone(c.row), nil)
			}
		}
	}
}

// AddEvent makes PlanBatch answer an event in the batch that holds its
// position.
func (d *Database) AddEvent(table string, event plugin.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tables[table].events = append(d.tables[table].events, event)
}

// SetLimits bounds the concurrent reads of sessions opened later.
func (d *Database) SetLimits(l plugin.Limits) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.limits = l
}

// Rows returns the current rows of a table in key order; see Lake.Rows for
// their form.
func (d *Database) Rows(table string) []map[string]any {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.tables[table]
	var out []map[string]any
	for _, row := range d.current(t) {
		m := map[string]any{}
		for i, f := range t.schema.Fields() {
			m[f.Name] = plain(f.Type, row[i])
		}
		out = append(out, m)
	}
	return out
}

// Newest is the position of the newest commit, zero when there is none.
func (d *Database) Newest() plugin.Position {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.position(len(d.log))
}

// current replays the log; purged changes still count, only their log is gone.
// The rows belong to the database.
func (d *Database) current(t *sourceTable) [][]cell {
	name := fmt.Sprintf("%s %q", t.name, t.key)
	if rows, ok := d.present[name]; ok {
		return rows
	}
	// A key that a request declares orders the rows; it may be NULL, and does
	// not tell them apart.
	keys, order := columnsOf(t.schema, d.tables[t.name].key), columnsOf(t.schema, t.key)
	live := map[string][]cell{}
	for _, entry := range d.log {
		for _, c := range entry.changes {
			if c.table != t.name {
				continue
			}
			switch c.operation {
			case plugin.OpDelete, plugin.OpUpdateBefore:
				delete(live, keyOf(c.row, keys))
			default:
				live[keyOf(c.row, keys)] = c.row
			}
		}
	}
	d.present[name] = slices.SortedFunc(maps.Values(live), func(a, b []cell) int { return compareRows(a, b, order) })
	return d.present[name]
}

func compareRows(a, b []cell, columns []int) int {
	for _, c := range columns {
		if order, _ := compareCells(a[c], b[c]); order != 0 {
			return order
		}
	}
	return 0
}

// lsn is the text of commit n; before is the text just below it.
func lsn(n int) string    { return fmt.Sprintf("0x0000002A%08X0001", n) }
func before(n int) string { return fmt.Sprintf("0x0000002A%08X0000", n) }

// position is that of commit n, zero for none.
func (d *Database) position(n int) plugin.Position {
	if n == 0 {
		return plugin.Position{}
	}
	return plugin.At(lsn(n), d.log[n-1].at)
}

// atOrBefore is the number of the newest commit whose position is not above
// the text.
func (d *Database) atOrBefore(text string) int {
	n := len(d.log)
	for n > 0 && lsn(n) > text {
		n--
	}
	return n
}
