package cdc

import (
	"context"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// changeTable is cdc.[<instance>_CT].
type changeTable struct {
	in   *Instance
	cols []tsql.Column
}

// Columns gives the columns.
func (r *changeTable) Columns() []tsql.Column { return r.cols }

// Unwritable: on a server the owner may change the rows of a change table (Microsoft: cdc.<capture_instance>_CT, Data
// Definition Language Modifications, tells when to); here nobody can.
func (r *changeTable) Unwritable() error {
	return sqltype.Unsupported("a change of rows of the change table cdc.%s_CT", r.in.Name)
}

// Orders: capture appends commits in LSN order and their changes in command order; 3 comes before 4.
func (r *changeTable) Orders() ([][]int, bool) {
	cmd := len(r.cols) - 1
	return [][]int{{colStart, cmd, colSeq, colOp}, {colStart, colSeq, colOp}, {colStart, cmd, colOp}}, true
}

// Exact: an LSN range is cut by lsnRange.
func (r *changeTable) Exact(column int) bool { return column == colStart }

// Scan delivers the change rows of an LSN range.
func (r *changeTable) Scan(_ context.Context, req tsql.ScanRequest) (tsql.Cursor, error) {
	db := r.in.table.db
	db.mu.RLock()
	rows := r.in.rows
	db.mu.RUnlock()
	from, to := lsnRange(req, len(rows), 0, func(i int) *Entry { return rows[i].entry })
	places := make([]int, len(req.Columns))
	for i, k := range req.Columns {
		places[i] = r.place(k)
	}
	return changes(rows[from:to], req.Reverse, places), nil
}

// The places of columns that are not in the image.
const (
	placeStart = -iota - 1
	placeNull
	placeSeq
	placeOp
	placeMask
	placeCmd
)

func (r *changeTable) place(col int) int {
	switch col {
	case colStart:
		return placeStart
	case colEnd:
		return placeNull
	case colSeq:
		return placeSeq
	case colOp:
		return placeOp
	case colMask:
		return placeMask
	case len(r.cols) - 1:
		return placeCmd
	}
	return r.in.captured[col-colsBefore].id
}

type changeCursor struct {
	rows    []change
	cells   []changeCells
	reverse bool
	out     sqltype.Row
}

// changeCells are columns of the answer: one that is not in the image, or as many as stand side by side in the image.
type changeCells struct {
	place int // of the first
	out   int // where the first goes
	n     int
}

// changes gives a cursor over change rows whose columns have these places.
func changes(rows []change, reverse bool, places []int) *changeCursor {
	c := &changeCursor{rows: rows, reverse: reverse, out: make(sqltype.Row, len(places))}
	for i, p := range places {
		if k := len(c.cells) - 1; k >= 0 && p >= 0 && c.cells[k].place >= 0 && c.cells[k].place+c.cells[k].n == p {
			c.cells[k].n++
			continue
		}
		c.cells = append(c.cells, changeCells{place: p, out: i, n: 1})
	}
	return c
}

func (c *changeCursor) Next() (sqltype.Row, error) {
	if len(c.rows) == 0 {
		return nil, nil
	}
	var x *change
	if c.reverse {
		x = &c.rows[len(c.rows)-1]
		c.rows = c.rows[:len(c.rows)-1]
	} else {
		x = &c.rows[0]
		c.rows = c.rows[1:]
	}
	for i := range c.cells {
		cell := &c.cells[i]
		to := &c.out[cell.out]
		switch cell.place {
		case placeStart:
			*to = x.entry.value
		case placeNull:
			*to = sqltype.Value{}
		case placeSeq:
			*to = x.seq
		case placeOp:
			*to = sqltype.FromInt(int64(x.op))
		case placeMask:
			*to = x.mask
		case placeCmd:
			*to = sqltype.FromInt(int64(x.cmd))
		default: // images older than a column have NULL there
			run := c.out[cell.out : cell.out+cell.n]
			clear(run[copy(run, x.image[min(cell.place, len(x.image)):]):])
		}
	}
	return c.out, nil
}

// Len is the number of rows left.
func (c *changeCursor) Len() int { return len(c.rows) }

func (c *changeCursor) Close() {}

// mappingTable is cdc.lsn_time_mapping, for one statement.
type mappingTable struct {
	db *Database
	// near is where the last scan began: a join with a change table asks for one entry after the other.
	near int
}

var mappingColumns = []tsql.Column{{Name: "start_lsn", Type: sqltype.Bin(sqltype.Binary, 10)}, {Name: "tran_begin_time", Type: sqltype.Of(sqltype.DateTime), Nullable: true},
	{Name: "tran_end_time", Type: sqltype.Of(sqltype.DateTime), Nullable: true}, {Name: "tran_id", Type: sqltype.Bin(sqltype.VarBinary, 10), Nullable: true},
	{Name: "tran_begin_lsn", Type: sqltype.Bin(sqltype.Binary, 10), Nullable: true}}

// Columns gives the columns.
func (r *mappingTable) Columns() []tsql.Column { return mappingColumns }

// Orders gives the order of start_lsn.
func (r *mappingTable) Orders() ([][]int, bool) { return [][]int{{0}}, true }

// Exact: an LSN range is cut by lsnRange.
func (r *mappingTable) Exact(column int) bool { return column == 0 }

// Scan delivers the entries of an LSN range.
func (r *mappingTable) Scan(_ context.Context, req tsql.ScanRequest) (tsql.Cursor, error) {
	r.db.mu.RLock()
	entries := r.db.mapping
	r.db.mu.RUnlock()
	from, to := lsnRange(req, len(entries), r.near, func(i int) *Entry { return entries[i] })
	r.near = from
	return &mappingCursor{entries: entries[from:to], cols: req.Columns, reverse: req.Reverse, out: make(sqltype.Row, len(req.Columns))}, nil
}

type mappingCursor struct {
	entries []*Entry
	cols    []int
	reverse bool
	out     sqltype.Row
}

func (c *mappingCursor) Next() (sqltype.Row, error) {
	n := len(c.entries)
	if n == 0 {
		return nil, nil
	}
	e := c.entries[0]
	if c.reverse {
		e, c.entries = c.entries[n-1], c.entries[:n-1]
	} else {
		c.entries = c.entries[1:]
	}
	for i, k := range c.cols {
		switch k {
		case 0:
			c.out[i] = e.value
		case 1:
			c.out[i] = sqltype.FromTicks(e.Begin)
		case 2:
			c.out[i] = sqltype.FromTicks(e.End)
		case 3:
			c.out[i] = sqltype.FromBytes(e.Tran)
		default:
			c.out[i] = sqltype.Value{}
		}
	}
	return c.out, nil
}

func (c *mappingCursor) Close() {}
