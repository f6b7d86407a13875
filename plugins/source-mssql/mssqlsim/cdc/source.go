package cdc

import (
	"context"
	"slices"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// source is a user table as one session reads and writes it, of the shape that it had when a statement was compiled: others may
// change that before the statement reads.
type source struct {
	t    *Table
	sess *Session
	shape
	full string // with database and schema
	cols []tsql.Column
	ids  []int                    // column ids in column order
	only func(securedColumn) bool // columns the session may read; nil is all
	hint tsql.LockHint
}

// FullName gives the name of the table with its database and schema.
func (r *source) FullName() string { return r.full }

// shape is that of a table behind one of the changes of shapes that its database counts.
type shape struct {
	version int64
	key     []int // column ids
	columns []*column
	rng     keyRange // without a request
}

// asCompiled tells why a statement cannot read a table in the shape that it was compiled for: with errStale it is compiled again.
// The database's lock is held.
func (r *source) asCompiled() error {
	switch {
	case r.t.shaped == r.version:
		return nil
	case r.sess.stmt == nil: // it has read nothing yet
		return errStale
	case slices.Equal(r.t.key, r.key):
		return nil
	}
	return sqltype.Unsupported("another key of the table %s while a statement reads", r.full)
}

func (s *Session) source(t *Table) *source {
	r := &source{t: t, sess: s, shape: shape{t.shaped, t.key, t.columns, t.keyRange(nil)}, full: t.fullName(), cols: based(t.describe(), t.baseName())}
	for _, c := range t.columns {
		r.ids = append(r.ids, c.id)
	}
	return r
}

// baseName is the name that clients get told of the table of a column.
func (t *Table) baseName() tsql.Name {
	return tsql.Name{Database: t.database(), Schema: t.Schema, Object: t.Name}
}

// based says of columns which table they are of.
func based(cols []tsql.Column, table tsql.Name) []tsql.Column {
	for i := range cols {
		cols[i].Base = table
	}
	return cols
}

// Columns gives the columns.
func (r *source) Columns() []tsql.Column { return r.cols }

// Orders gives the key's order.
func (r *source) Orders() ([][]int, bool) {
	if r.key == nil {
		return nil, false
	}
	var order []int
	for _, k := range r.key {
		for i, id := range r.ids {
			if id == k {
				order = append(order, i)
			}
		}
	}
	return [][]int{order}, true
}

// Scan reads the version of the table the session's isolation level shows.
func (r *source) Scan(ctx context.Context, req tsql.ScanRequest) (tsql.Cursor, error) {
	if r.only != nil && !req.Write { // what a statement reads to write was asked for by Guard
		for _, c := range req.Columns {
			if c >= 0 && !r.only(securedColumn{r.cols[c].Name, r.ids[c]}) {
				return nil, deniedColumn("SELECT", r.cols[c].Name, r.t.Name, r.t.db.Name, r.t.Schema)
			}
		}
	}
	if req.Rows {
		if hook := r.t.takeHook(); hook != nil {
			if err := hook(); err != nil {
				return nil, err
			}
			r.sess.refresh()
		}
	}
	rows, err := r.sess.version(ctx, r, &req)
	if err != nil {
		return nil, err
	}
	return newTableCursor(rows, r, req), nil
}

// keyRange compares rows with a request's range.
type keyRange struct {
	places []int
	cmps   []func(a, b *sqltype.Value) int
	req    *tsql.ScanRequest
}

func (t *Table) keyRange(req *tsql.ScanRequest) keyRange {
	k := keyRange{places: t.keyPlaces(), req: req}
	for _, typ := range t.keyTypes() {
		k.cmps = append(k.cmps, sqltype.Comparer(typ))
	}
	return k
}

// prefix compares the row's first key columns with the request's.
func (k *keyRange) prefix(row sqltype.Row) int {
	for i := range k.req.Prefix {
		if c := k.cmps[i](&row[k.places[i]], &k.req.Prefix[i]); c != 0 {
			return c
		}
	}
	return 0
}

// below tells that the row comes before the range.
func (k *keyRange) below(row sqltype.Row) bool {
	if c := k.prefix(row); c != 0 {
		return c < 0
	}
	if b := k.req.Low; b != nil {
		i := len(k.req.Prefix)
		c := k.cmps[i](&row[k.places[i]], &b.Value)
		return c < 0 || c == 0 && !b.Inclusive
	}
	return false
}

// above tells that the row comes after the range.
func (k *keyRange) above(row sqltype.Row) bool {
	if c := k.prefix(row); c != 0 {
		return c > 0
	}
	if b := k.req.High; b != nil {
		i := len(k.req.Prefix)
		c := k.cmps[i](&row[k.places[i]], &b.Value)
		return c > 0 || c == 0 && !b.Inclusive
	}
	return false
}

type tableCursor struct {
	cur     *treeCursor
	rng     keyRange
	bounded bool
	reverse bool
	places  []int
	out     sqltype.Row
}

func newTableCursor(rows *tree, r *source, req tsql.ScanRequest) *tableCursor {
	c := &tableCursor{reverse: req.Reverse, out: make(sqltype.Row, len(req.Columns))}
	for _, k := range req.Columns {
		if k == tsql.RowID {
			c.places = append(c.places, 0)
		} else {
			c.places = append(c.places, r.ids[k])
		}
	}
	c.rng = r.rng
	c.rng.req = &req
	low, high := len(req.Prefix) > 0 || req.Low != nil, len(req.Prefix) > 0 || req.High != nil
	switch {
	case req.Reverse && high:
		c.cur = rows.descend(c.rng.above)
	case req.Reverse:
		c.cur = rows.descend(nil)
	case low:
		c.cur = rows.ascend(c.rng.below)
	default:
		c.cur = rows.ascend(nil)
	}
	c.bounded = req.Reverse && low || !req.Reverse && high
	return c
}

func (c *tableCursor) Next() (sqltype.Row, error) {
	row := c.cur.next()
	if row == nil {
		return nil, nil
	}
	if c.bounded && (!c.reverse && c.rng.above(row) || c.reverse && c.rng.below(row)) {
		return nil, nil
	}
	for i, p := range c.places {
		c.out[i] = at(row, p)
	}
	return c.out, nil
}

func (c *tableCursor) Close() {}

// Write does the changes of a statement in the session's transaction.
func (r *source) Write(ctx context.Context, changes []tsql.Change) error {
	if r.hint.Table {
		if err := r.sess.lockTable(ctx, r.t, r.hint); err != nil {
			return err
		}
	}
	return r.sess.write(ctx, r, changes)
}

// Hinted gives the table with other locks than the isolation level asks for.
func (r *source) Hinted(h tsql.LockHint) tsql.Relation {
	own := *r
	own.hint = h
	return &own
}

// Defaults gives the DEFAULT of each column.
func (r *source) Defaults() []tsql.Default {
	out := make([]tsql.Default, len(r.columns))
	for i, c := range r.columns {
		out[i] = c.EachInsert()
	}
	return out
}

// IdentityInsert tells whether the session gives values to the table's identity column itself.
func (r *source) IdentityInsert() bool { return r.sess.ids.insert == r.t }
