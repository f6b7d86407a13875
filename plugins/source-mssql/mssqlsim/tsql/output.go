package tsql

import (
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// outputs is the OUTPUT of a statement that changes rows: one row for each change, to the client and into a table
// (Microsoft: OUTPUT clause (Transact-SQL)).
type outputs struct {
	run   *run
	frame frame
	cols  []Column // to the client; nil when nothing goes there
	outs  []expr
	table Writable // nil when nothing goes into a table
	name  Name
	into  []int
	vals  []expr
	rows  []sqltype.Row
	more  []Change
}

// The tables that OUTPUT knows: the rows after and before, the word for what was done, and those of the FROM.
const (
	segInserted = iota
	segDeleted
	segAction
	segSources
)

// output binds the OUTPUT clauses of a statement on a table; nil when there is none. What a statement does not do it
// does not know: an INSERT has no deleted rows, a DELETE no inserted ones.
func (b *binder) output(cols []Column, to *ast.OutputClause, into *ast.OutputIntoClause, kinds []StatementKind, sources []*tableRef) *outputs {
	if to == nil && into == nil {
		return nil
	}
	has := func(k StatementKind) bool {
		for _, x := range kinds {
			if x == k {
				return true
			}
		}
		return false
	}
	nullable := func(on bool) []Column {
		out := append([]Column(nil), cols...)
		for i := range out {
			out[i].Identity, out[i].Computed = false, false
			out[i].Nullable = out[i].Nullable || on
		}
		return out
	}
	several := len(kinds) > 1
	none := "\x00" // no name that can be written
	pick := func(on bool, name string) string {
		if on {
			return name
		}
		return none
	}
	sc := &scope{}
	sc.add(pick(has(KindInsert) || has(KindUpdate), "inserted"), "", nullable(several), false)
	sc.add(pick(has(KindDelete) || has(KindUpdate), "deleted"), "", nullable(several), false)
	sc.action = sc.add(none, "", []Column{{Name: "$action", Type: sqltype.Str(sqltype.NVarChar, 10), Nullable: true}}, false)
	for _, s := range sources {
		c := append([]Column(nil), s.cols...)
		for i := range c {
			c[i].Nullable = true
		}
		sc.add(s.alias, s.schema, c, false)
	}
	o := &outputs{run: b.run}
	o.frame.seg = make([]sqltype.Row, len(sc.tables))
	if to != nil {
		p := &selectPlan{run: b.run}
		b.selectList(to.SelectColumns, sc, p)
		o.cols, o.outs = p.cols, p.outs
		for i := range o.cols {
			o.cols[i].Identity, o.cols[i].Computed = false, false
		}
	}
	if into != nil {
		p := &selectPlan{run: b.run}
		b.selectList(into.SelectColumns, sc, p)
		o.vals = p.outs
		o.table, o.name = b.target(into.IntoTable)
		o.into = b.insertColumns(o.table, o.name, into.IntoTableColumns)
		if err := identityGiven(o.table, o.name, o.into); err != nil {
			fail(err)
		}
		b.guardInsert(o.table, o.into)
		if len(o.vals) != len(o.into) {
			fail(sqltype.Errorf(213, "Column name or number of supplied values does not match table definition."))
		}
	}
	return o
}

// add takes the row of one change, after the table has completed it.
func (o *outputs) add(c Change, action string, sources []sqltype.Row) error {
	width := func(row sqltype.Row, n int) sqltype.Row {
		if row == nil {
			return make(sqltype.Row, n)
		}
		return row
	}
	n := max(len(c.New), len(c.Old))
	o.frame.seg[segInserted], o.frame.seg[segDeleted] = width(c.New, n), width(c.Old, n)
	o.frame.seg[segAction] = sqltype.Row{sqltype.FromString(action)}
	copy(o.frame.seg[segSources:], sources)
	if o.cols != nil {
		row := make(sqltype.Row, len(o.outs))
		for i, e := range o.outs {
			row[i] = e.eval(&o.frame)
		}
		o.run.take(row.Size())
		o.rows = append(o.rows, row)
	}
	if o.table != nil {
		row := make(sqltype.Row, len(o.table.Columns()))
		for i, d := range o.table.Defaults() {
			row[i] = d.Value
		}
		for i, k := range o.into {
			v := o.vals[i].eval(&o.frame)
			if o.run.err != nil {
				return o.run.takeErr()
			}
			v, err := o.run.assign(v, o.vals[i].typ, o.table.Columns()[k], o.table, o.name)
			if err != nil {
				return err
			}
			row[k] = v
		}
		o.run.take(row.Size())
		o.more = append(o.more, Change{New: row})
	}
	return o.run.takeErr()
}

// send delivers the rows, after the statement's changes are done.
func (o *outputs) send(b *binder) error {
	if o.table != nil {
		if err := o.table.Write(b.ctx, o.more); err != nil {
			return err
		}
	}
	if o.cols == nil {
		return nil
	}
	if err := b.out.Columns(o.cols); err != nil {
		return err
	}
	for _, row := range o.rows {
		if err := b.out.Row(row); err != nil {
			return err
		}
	}
	return nil // the row count of the statement ends the result
}
