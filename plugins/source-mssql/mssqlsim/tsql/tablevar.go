package tsql

import (
	"context"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

func lower(s string) string { return strings.ToLower(s) }

// tableVar is a table variable. The identity of a row is its number plus one; deleted rows leave a hole.
type tableVar struct {
	name     string
	defs     []ColumnDef
	cols     []Column
	rows     []sqltype.Row
	computed map[int]func(sqltype.Row) (sqltype.Value, error)
	checks   []func(sqltype.Row) (sqltype.Value, error)
	unique   []uniqueColumns
	next     int64 // value of the identity column in the next row
	// identified is told of the identity of the last row of an INSERT.
	identified func(sqltype.Value)
}

// uniqueColumns are columns that no two rows agree in, by a constraint whose name a server makes up.
type uniqueColumns struct {
	cols       []int
	kind, name string
}

// KeyText is a value as the error of a key that is there twice shows it.
func KeyText(v sqltype.Value, typ sqltype.Type) string {
	s, err := sqltype.Format(v, typ, 0)
	switch {
	case v.IsNull() || err != nil && typ.Class() != sqltype.ClassBinary:
		return "<NULL>"
	case err != nil:
		return fmt.Sprintf("0x%x", v.Str())
	}
	return s
}

// tableVariable makes a table variable from its declaration.
func (x *executor) tableVariable(b *binder, name string, d *ast.TableDefinition) *tableVar {
	if !x.nullByDefault() { // the page of table variables does not say what counts for them
		unsupported("DECLARE of a table while ANSI_NULL_DFLT_ON is OFF")
	}
	def := x.tableDef(b, Name{Object: name}, d)
	if len(def.ForeignKeys) > 0 {
		failf(102, "Incorrect syntax near 'REFERENCES'.") // Microsoft: DECLARE @local_variable (Transact-SQL): only PRIMARY KEY, UNIQUE, NULL and CHECK
	}
	t := &tableVar{name: name, identified: x.sess.Identified, defs: def.Columns, computed: map[int]func(sqltype.Row) (sqltype.Value, error){}}
	for _, d := range def.Columns {
		t.cols = append(t.cols, d.Column)
		if d.Identity {
			t.next = d.Seed
		}
	}
	for i, d := range def.Columns {
		if d.Computation == nil {
			continue
		}
		typ, null, fn, err := d.Computation.Bind(t.cols)
		if err != nil {
			fail(err)
		}
		t.cols[i].Type, t.cols[i].Nullable, t.computed[i] = typ, null, fn
	}
	for _, c := range def.Checks {
		_, _, fn, err := c.Condition.Bind(t.cols)
		if err != nil {
			fail(err)
		}
		t.checks = append(t.checks, fn)
	}
	for _, i := range def.Indexes {
		if !i.Unique {
			continue
		}
		var cols []int
		for _, c := range i.Columns {
			cols = append(cols, columnOf(def.Columns, c.Name))
		}
		key := uniqueColumns{cols: cols, kind: "UNIQUE KEY", name: "UQ"}
		if i.Kind == PrimaryKey {
			key.kind, key.name = "PRIMARY KEY", "PK"
		}
		id := crc32.ChecksumIEEE([]byte(lower(name)))
		key.name = fmt.Sprintf("%s__#%07X__%08X%08X", key.name, id>>4, id, crc32.ChecksumIEEE(fmt.Append(nil, key.name, cols)))
		t.unique = append(t.unique, key)
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

func (t *tableVar) Defaults() []Default {
	out := make([]Default, len(t.defs))
	for i, d := range t.defs {
		out[i] = d.EachInsert()
	}
	return out
}

func (t *tableVar) Write(_ context.Context, changes []Change) error {
	rows := append([]sqltype.Row(nil), t.rows...)
	next := t.next
	for _, c := range changes {
		if c.New != nil {
			if err := t.fill(c, &next); err != nil {
				return err
			}
		}
		if c.Old == nil {
			rows = append(rows, c.New)
		} else {
			rows[c.ID.Int()-1] = c.New
		}
	}
	if err := t.distinct(rows); err != nil {
		return err
	}
	t.rows, t.next = rows, next
	place := slices.IndexFunc(t.cols, func(c Column) bool { return c.Identity })
	for _, c := range slices.Backward(changes) {
		if place >= 0 && c.Old == nil {
			t.identified(c.New[place])
			break
		}
	}
	return nil
}

// fill completes a row and checks it.
func (t *tableVar) fill(c Change, next *int64) error {
	verb := "UPDATE"
	if c.Old == nil {
		verb = "INSERT"
	}
	for i, col := range t.cols {
		if col.Identity && c.Old == nil {
			c.New[i] = sqltype.FromInt(*next)
			*next += t.defs[i].Step
		}
		if fn := t.computed[i]; fn != nil {
			v, err := fn(c.New)
			if err != nil {
				return err
			}
			c.New[i] = v
		}
		if !col.Nullable && c.New[i].IsNull() {
			return sqltype.Errorf(515, "Cannot insert the value NULL into column '%s', table '%s'; column does not allow nulls. %s fails.", col.Name, t.name, verb)
		}
	}
	for _, check := range t.checks {
		v, err := check(c.New)
		if err != nil {
			return err
		}
		if !v.IsNull() && !v.Bool() {
			return sqltype.Errorf(547, "The %s statement conflicted with a CHECK constraint of table '%s'.", verb, t.name)
		}
	}
	return nil
}

// distinct checks the unique columns.
func (t *tableVar) distinct(rows []sqltype.Row) error {
	for _, unique := range t.unique {
		seen := map[string]bool{}
		for _, row := range rows {
			if row == nil {
				continue
			}
			var key []byte
			for _, c := range unique.cols {
				key = row[c].AppendKey(key, t.cols[c].Type)
			}
			if seen[string(key)] {
				var texts []string
				for _, c := range unique.cols {
					texts = append(texts, KeyText(row[c], t.cols[c].Type))
				}
				e := sqltype.Errorf(2627, "Violation of %s constraint '%s'. Cannot insert duplicate key in object 'dbo.%s'. The duplicate key value is (%s).", unique.kind, unique.name, t.name, strings.Join(texts, ", "))
				e.Class = 14
				return e
			}
			seen[string(key)] = true
		}
	}
	return nil
}
