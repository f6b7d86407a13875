package tsql

import (
	"context"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

func lower(s string) string { return strings.ToLower(s) }

// tableVar is a table variable. The identity of a row is its number plus one; deleted rows leave a hole.
type tableVar struct {
	defs     []ColumnDef
	cols     []Column
	rows     []sqltype.Row
	identity int64
}

func newTableVar(defs []ColumnDef) *tableVar {
	t := &tableVar{defs: defs}
	for _, d := range defs {
		t.cols = append(t.cols, d.Column)
	}
	return t
}

func (t *tableVar) Columns() []Column       { return t.cols }
func (t *tableVar) Orders() ([][]int, bool) { return nil, false }

func (t *tableVar) Scan(_ context.Context, req ScanRequest) (Cursor, error) {
	return &tableVarCursor{rows: t.rows, cols: req.Columns, out: make(sqltype.Row, len(req.Columns))}, nil
}

type tableVarCursor struct {
	rows []sqltype.Row
	cols []int
	out  sqltype.Row
	at   int
}

func (c *tableVarCursor) Next() (sqltype.Row, error) {
	for c.at < len(c.rows) {
		row := c.rows[c.at]
		c.at++
		if row == nil {
			continue
		}
		for i, k := range c.cols {
			if k == RowID {
				c.out[i] = sqltype.FromInt(int64(c.at))
			} else {
				c.out[i] = row[k]
			}
		}
		return c.out, nil
	}
	return nil, nil
}

func (c *tableVarCursor) Close() {}

func (t *tableVar) Defaults() []sqltype.Value {
	out := make([]sqltype.Value, len(t.defs))
	for i, d := range t.defs {
		out[i] = d.Default
	}
	return out
}

func (t *tableVar) Write(_ context.Context, changes []Change) error {
	rows := append([]sqltype.Row(nil), t.rows...)
	identity := t.identity
	for _, c := range changes {
		if c.New != nil {
			for i, col := range t.cols {
				if col.Identity && c.Old == nil {
					identity++
					c.New[i] = sqltype.FromInt(identity)
				}
				if !col.Nullable && c.New[i].IsNull() {
					return sqltype.Errorf(515, "Cannot insert the value NULL into column '%s', table '@table'; column does not allow nulls. INSERT fails.", col.Name)
				}
			}
		}
		if c.Old == nil {
			rows = append(rows, c.New)
		} else {
			rows[c.ID.Int()-1] = c.New
		}
	}
	t.rows, t.identity = rows, identity
	return nil
}
