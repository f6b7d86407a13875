package cdc

import (
	"sort"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// Instance is a capture instance with its change table. Guarded by the database's lock; change rows are only ever
// appended, so a reader keeps the slice it started with.
type Instance struct {
	table    *Table
	ID       int32 // of the change table
	Name     string
	Role     string // gating role
	created  LSN    // low endpoint it was made with
	start    LSN    // as listed: cleanup moves it
	at       int64  // create_date
	captured []*captured
	net      bool
	// index and key are what told rows apart when the instance was made (Microsoft: cdc.change_tables (Transact-SQL)).
	index     string
	key       []int // column ids
	filegroup string
	whole     sqltype.Value // update mask with all bits
	lob       bool
	rows      []change
	ddl       []ddlEntry
}

// captured is a column of a change table.
type captured struct {
	name     string
	id       int // column id in the source table
	typ      sqltype.Type
	computed bool
	gone     bool // capture has come to its DROP COLUMN
}

// change is a row of a change table.
type change struct {
	entry *Entry
	image sqltype.Row // stored form
	seq   sqltype.Value
	mask  sqltype.Value
	cmd   int32
	op    int8
}

type ddlEntry struct {
	n        int64
	lsn      LSN
	command  string
	time     int64
	required bool
}

// column finds a captured column by its id in the source table, nil when it is not captured.
func (in *Instance) column(id int) *captured {
	for _, c := range in.captured {
		if c.id == id {
			return c
		}
	}
	return nil
}

// done tells whether the n-th DDL is in the instance's history.
func (in *Instance) done(n int64) bool {
	k := len(in.ddl)
	return k > 0 && in.ddl[k-1].n >= n
}

// after gives the number of change rows at or below an LSN.
func (in *Instance) after(l LSN) int {
	return sort.Search(len(in.rows), func(i int) bool { return l.Less(in.rows[i].entry.LSN) })
}

// before gives the number of change rows below an LSN.
func (in *Instance) before(l LSN) int { return firstAt(in.rows, l) }

// firstAt gives the place of the first change row at or above an LSN.
func firstAt(rows []change, l LSN) int {
	return sort.Search(len(rows), func(i int) bool { return !rows[i].entry.LSN.Less(l) })
}

// Operations of change tables (Microsoft: cdc.<capture_instance>_CT (Transact-SQL)).
const (
	opDelete = 1
	opInsert = 2
	opBefore = 3
	opAfter  = 4
)

// capture writes the change rows of one change of the log. ordinal is the instance's place among its table's:
// instances number the commands of a transaction differently.
func (in *Instance) capture(r *record, o op, ordinal int) {
	seq := func(n int) sqltype.Value { return r.lsn.Add(int64(n)).Value() }
	add := func(op int8, row sqltype.Row, n int, s, mask sqltype.Value, other sqltype.Row) {
		in.rows = append(in.rows, change{entry: r.entry, image: in.image(op, row, other), seq: s, mask: mask, cmd: int32(n + ordinal), op: op})
	}
	switch {
	case o.old == nil:
		add(opInsert, o.new, o.n, seq(o.n), in.whole, nil)
	case o.new == nil:
		add(opDelete, o.old, o.n, seq(o.n), in.whole, nil)
	default:
		mask, changed := in.mask(o.old, o.new)
		if !changed {
			return // no captured column changed
		}
		// A deferred update is a delete and an insert with one __$seqval, which the command ids order (Microsoft:
		// KB3030352; the operations were verified on SQL Server 2022).
		if o.moved && !r.pairs {
			add(opDelete, o.old, o.n, seq(o.n), in.whole, nil)
			add(opInsert, o.new, o.n+1, seq(o.n), in.whole, nil)
			return
		}
		s := seq(o.n)
		add(opBefore, o.old, o.n, s, mask, o.new)
		add(opAfter, o.new, o.n, s, mask, nil)
	}
}

// moved tells whether an update is a deferred one: it changes a column of a unique or of the clustered index
// (Microsoft: KB238254 and KB302341, update statements may be replicated as delete/insert pairs).
func (t *Table) moved(old, new sqltype.Row) bool {
	if t.rows.cmp(old, new) != 0 {
		return true
	}
	for _, s := range t.rows.sides {
		if s.cmp(old, new) != 0 {
			return true
		}
	}
	for _, x := range t.indexes {
		if x.clustered && !x.unique && t.compareColumns(x.cols)(old, new) != 0 {
			return true
		}
	}
	return false
}

// mask tells which captured columns an update changed: bit k of the mask, from the right, is the column with ordinal k+1.
func (in *Instance) mask(old, new sqltype.Row) (sqltype.Value, bool) {
	bits := make([]byte, (len(in.captured)+7)/8)
	changed := false
	for i, c := range in.captured {
		if c.computed || c.gone || at(old, c.id).Same(at(new, c.id)) {
			continue
		}
		changed = true
		bits[len(bits)-1-i/8] |= 1 << (i % 8)
	}
	return sqltype.FromBytes(string(bits)), changed
}

// image gives the row as it is stored for an operation: computed columns and columns that were dropped are NULL; text,
// ntext and image are NULL in operations 1 and 3, (max) columns in 3 unless the update changed them.
func (in *Instance) image(op int8, row, other sqltype.Row) sqltype.Row {
	if !in.lob {
		return row
	}
	out := append(sqltype.Row(nil), row...)
	for _, c := range in.captured {
		if c.id >= len(out) {
			continue
		}
		null := c.computed || c.gone
		switch c.typ.Kind {
		case sqltype.Text, sqltype.NText, sqltype.Image:
			null = null || op == opDelete || op == opBefore
		case sqltype.VarChar, sqltype.NVarChar, sqltype.VarBinary:
			null = null || c.typ.Len == sqltype.Max && op == opBefore && at(row, c.id).Same(at(other, c.id))
		}
		if null {
			out[c.id] = sqltype.Value{}
		}
	}
	return out
}

// special finds out whether images need a copy of their own.
func (in *Instance) special() {
	in.lob = false
	for _, c := range in.captured {
		in.lob = in.lob || c.computed || c.typ.LOB() || c.gone
	}
	bits := make([]byte, (len(in.captured)+7)/8)
	for i := range in.captured {
		bits[len(bits)-1-i/8] |= 1 << (i % 8)
	}
	in.whole = sqltype.FromBytes(string(bits))
}

// low gives the low watermark as sys.fn_cdc_get_min_lsn shows it: zero until capture has come to the instance.
func (in *Instance) low() LSN {
	if l, ok := in.table.db.maxLSN(); !ok || l.Less(in.created) {
		return LSN{}
	}
	return in.start
}

// The columns before and after the captured ones (Microsoft: cdc.<capture_instance>_CT).
const (
	colStart   = 0
	colEnd     = 1
	colSeq     = 2
	colOp      = 3
	colMask    = 4
	colsBefore = 5
)

func (in *Instance) changeColumns() []tsql.Column {
	lsn := sqltype.Bin(sqltype.Binary, 10)
	cols := []tsql.Column{{Name: "__$start_lsn", Type: lsn}, {Name: "__$end_lsn", Type: lsn, Nullable: true}, {Name: "__$seqval", Type: lsn},
		{Name: "__$operation", Type: sqltype.Of(sqltype.Int)}, {Name: "__$update_mask", Type: sqltype.Bin(sqltype.VarBinary, 128), Nullable: true}}
	for _, c := range in.captured {
		t := c.typ
		if t.Kind == sqltype.RowVersion {
			t = sqltype.Bin(sqltype.Binary, 8)
		}
		cols = append(cols, tsql.Column{Name: c.name, Type: t, Nullable: true})
	}
	return append(cols, tsql.Column{Name: "__$command_id", Type: sqltype.Of(sqltype.Int), Nullable: true})
}
