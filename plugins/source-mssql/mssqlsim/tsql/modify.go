package tsql

import (
	"context"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// Assign converts a value for a column of a table as INSERT and UPDATE do: text that is too long is an error there,
// not cut (Microsoft: MSSQLSERVER error 2628).
func Assign(v sqltype.Value, from sqltype.Type, col Column, table string) (sqltype.Value, error) {
	if v.IsNull() {
		return v, nil
	}
	to := col.Type
	if c := to.Class(); (c == sqltype.ClassString || c == sqltype.ClassBinary) && from.Class() == c && to.Len > 0 {
		if n := sqltype.Length(v, to); n > to.Len {
			return v, sqltype.Errorf(2628, "String or binary data would be truncated in table '%s', column '%s'. Truncated value: '%.*s'.", table, col.Name, to.Len, v.Str())
		}
	}
	if to.Kind == sqltype.RowVersion {
		return v, sqltype.Errorf(273, "Cannot insert an explicit value into a timestamp column. Use INSERT with a column list to exclude the timestamp column, or insert a DEFAULT into the timestamp column.")
	}
	return sqltype.Convert(v, from, to, 0)
}

// target finds the table a statement writes.
func (b *binder) target(ref ast.TableReference) (Writable, Name) {
	switch x := ref.(type) {
	case *ast.VariableTableReference:
		if t := b.tables[lower(x.Variable.Name)]; t != nil {
			return t, Name{Object: x.Variable.Name}
		}
		failf(1087, "Must declare the table variable \"%s\".", x.Variable.Name)
	case *ast.NamedTableReference:
		n := objectName(x.SchemaObject)
		rel, err := b.sess.Relation(n)
		if err != nil {
			fail(err)
		}
		if rel == nil {
			failf(208, "Invalid object name '%s'.", n)
		}
		w, ok := rel.(Writable)
		if !ok {
			failf(259, "Ad hoc updates to system catalogs are not allowed.")
		}
		return w, n
	}
	unsupported("a change of %s", nodeName(ref))
	return nil, Name{}
}

func (x *executor) insert(s *ast.InsertStatement) error {
	spec := s.InsertSpecification
	if spec.OutputClause != nil || spec.OutputIntoClause != nil || spec.TopRowFilter != nil {
		return sqltype.Unsupported("OUTPUT and TOP of INSERT")
	}
	return x.scoped(true, func(b *binder) error {
		b.with(s.WithCtesAndXmlNamespaces)
		w, name := b.target(spec.Target)
		cols := w.Columns()
		var into []int
		if len(spec.Columns) > 0 {
			for _, c := range spec.Columns {
				into = append(into, columnNamed(cols, columnText(c)))
			}
		} else {
			for i, c := range cols {
				if !c.Identity && !c.Computed && c.Type.Kind != sqltype.RowVersion {
					into = append(into, i)
				}
			}
		}
		for _, i := range into {
			if cols[i].Identity {
				failf(544, "Cannot insert explicit value for identity column in table '%s' when IDENTITY_INSERT is set to OFF.", name.Object)
			}
			if cols[i].Computed {
				failf(271, "The column \"%s\" cannot be modified because it is either a computed column or is the result of a UNION operator.", cols[i].Name)
			}
		}
		defaults := w.Defaults()
		var changes []Change
		add := func(row sqltype.Row, from []sqltype.Type) error {
			out := append(sqltype.Row(nil), defaults...)
			for i, k := range into {
				v, err := Assign(row[i], from[i], cols[k], name.String())
				if err != nil {
					return err
				}
				out[k] = v
			}
			changes = append(changes, Change{New: out})
			return nil
		}
		if err := x.insertSource(b, spec.InsertSource, into, cols, defaults, add); err != nil {
			return err
		}
		if b.err != nil {
			return b.err
		}
		if err := w.Write(b.ctx, changes); err != nil {
			return err
		}
		x.affected(b, len(changes), KindInsert)
		return nil
	})
}

func (x *executor) affected(b *binder, n int, kind StatementKind) {
	b.batch.rowCount = int64(n)
	x.out.Affected(int64(n), kind)
}

func (x *executor) insertSource(b *binder, src ast.InsertSource, into []int, cols []Column, defaults []sqltype.Value, add func(sqltype.Row, []sqltype.Type) error) error {
	switch s := src.(type) {
	case *ast.ValuesInsertSource:
		if s.IsDefaultValues {
			return add(nil, nil)
		}
		for _, rv := range s.RowValues {
			if len(rv.ColumnValues) != len(into) {
				return columnCount(len(rv.ColumnValues), len(into))
			}
			row := make(sqltype.Row, len(into))
			types := make([]sqltype.Type, len(into))
			for i, v := range rv.ColumnValues {
				if _, ok := v.(*ast.DefaultLiteral); ok {
					row[i], types[i] = defaults[into[i]], cols[into[i]].Type
					continue
				}
				e := b.expr(v, nil)
				row[i], types[i] = e.eval(&frame{}), e.typ
			}
			if b.err != nil {
				return b.err
			}
			if err := add(row, types); err != nil {
				return err
			}
		}
		return nil
	case *ast.SelectInsertSource:
		p := b.query(s.Select, nil)
		if len(p.columns()) != len(into) {
			return columnCount(len(p.columns()), len(into))
		}
		types := make([]sqltype.Type, len(into))
		for i, c := range p.columns() {
			types[i] = c.Type
		}
		if err := p.open(nil); err != nil {
			return err
		}
		defer p.close()
		for {
			row, err := p.next()
			if err != nil || row == nil {
				return err
			}
			if err := add(row, types); err != nil {
				return err
			}
		}
	case *ast.ExecuteInsertSource:
		rows, err := x.call(b, s.Execute)
		if err != nil || rows == nil {
			return err
		}
		if len(rows.Cols) != len(into) {
			return sqltype.Errorf(213, "Column name or number of supplied values does not match table definition.")
		}
		types := make([]sqltype.Type, len(into))
		for i, c := range rows.Cols {
			types[i] = c.Type
		}
		for _, row := range rows.Data {
			if err := add(row, types); err != nil {
				return err
			}
		}
		return nil
	}
	return sqltype.Unsupported("INSERT from %s", nodeName(src))
}

func columnCount(values, cols int) error {
	if values < cols {
		return sqltype.Errorf(109, "There are more columns in the INSERT statement than values specified in the VALUES clause. The number of values in the VALUES clause must match the number of columns specified in the INSERT statement.")
	}
	return sqltype.Errorf(110, "There are fewer columns in the INSERT statement than values specified in the VALUES clause. The number of values in the VALUES clause must match the number of columns specified in the INSERT statement.")
}

func columnNamed(cols []Column, name string) int {
	for i, c := range cols {
		if sqltype.EqualName(c.Name, name) {
			return i
		}
	}
	failf(207, "Invalid column name '%s'.", name)
	return -1
}

// affectedRows plans the scan of an UPDATE or DELETE: whole rows with their identity.
func (b *binder) affectedRows(w Writable, name Name, where *ast.WhereClause, top *ast.TopRowFilter) (*scope, *tableRef, node) {
	if where != nil && where.Cursor != nil {
		unsupported("WHERE CURRENT OF")
	}
	b.rowsWanted = false
	sc := &scope{}
	ref := sc.add(name.Object, name.Schema, w.Columns(), true)
	for i := range ref.cols {
		ref.use(i)
	}
	ref.use(RowID)
	scan := &scanNode{run: b.run, rel: w, ref: ref, write: true}
	var cs []*conjunct
	if where != nil {
		cs = b.conjuncts(where.SearchCondition, sc)
	}
	scan.seek(cs, 0)
	n := b.filtered(scan, cs, 1)
	var rest []pred
	for _, c := range cs {
		if !c.done {
			rest = append(rest, c.p)
		}
	}
	if rest != nil {
		n = &filterNode{run: b.run, input: n, preds: rest}
	}
	if top != nil {
		if top.Percent || top.WithTies {
			unsupported("TOP PERCENT and WITH TIES")
		}
		n = &limitNode{input: n, left: b.valueOf(top.Expression, sqltype.Of(sqltype.BigInt)).Int()}
	}
	return sc, ref, n
}

// limitNode ends after a number of rows.
type limitNode struct {
	input node
	left  int64
}

func (n *limitNode) open(f *frame) error { return n.input.open(f) }
func (n *limitNode) next() (bool, error) {
	if n.left <= 0 {
		return false, nil
	}
	n.left--
	return n.input.next()
}
func (n *limitNode) close() { n.input.close() }

// collect runs a scan to its end before anything is changed.
func collect(ctx context.Context, n node, ref *tableRef, fn func(f *frame, old sqltype.Row, id sqltype.Value) error) error {
	f := &frame{seg: make([]sqltype.Row, 1)}
	if err := n.open(f); err != nil {
		return err
	}
	defer n.close()
	k := len(ref.cols)
	for {
		ok, err := n.next()
		if err != nil || !ok {
			return err
		}
		row := f.seg[0]
		if err := fn(f, append(sqltype.Row(nil), row[:k]...), row[k]); err != nil {
			return err
		}
	}
}

func (x *executor) update(s *ast.UpdateStatement) error {
	spec := s.UpdateSpecification
	if spec.OutputClause != nil || spec.OutputIntoClause != nil || spec.FromClause != nil || s.WithCtesAndXmlNamespaces != nil {
		return sqltype.Unsupported("OUTPUT, FROM and WITH of UPDATE")
	}
	return x.scoped(true, func(b *binder) error {
		w, name := b.target(spec.Target)
		sc, ref, n := b.affectedRows(w, name, spec.WhereClause, spec.TopRowFilter)
		type set struct {
			col int
			val expr
		}
		var sets []set
		for _, c := range spec.SetClauses {
			a, ok := c.(*ast.AssignmentSetClause)
			if !ok || a.Variable != nil || a.Column == nil {
				unsupported("this SET of UPDATE")
			}
			k := columnNamed(ref.cols, a.Column.MultiPartIdentifier.Identifiers[len(a.Column.MultiPartIdentifier.Identifiers)-1].Value)
			if ref.cols[k].Identity {
				failf(8102, "Cannot update identity column '%s'.", ref.cols[k].Name)
			}
			if ref.cols[k].Computed {
				failf(271, "The column \"%s\" cannot be modified because it is either a computed column or is the result of a UNION operator.", ref.cols[k].Name)
			}
			var v expr
			if _, isDefault := a.NewValue.(*ast.DefaultLiteral); isDefault {
				v = constant(ref.cols[k].Type, w.Defaults()[k])
			} else {
				v = b.expr(a.NewValue, sc)
			}
			if op, ok := map[string]sqltype.Op{"AddEquals": sqltype.Add, "SubtractEquals": sqltype.Sub, "MultiplyEquals": sqltype.Mul, "DivideEquals": sqltype.Div}[a.AssignmentKind]; ok {
				v = b.arith(op, b.column(a.Column, sc), v)
			} else if a.AssignmentKind != "" && a.AssignmentKind != "Equals" {
				unsupported("the assignment %s", a.AssignmentKind)
			}
			sets = append(sets, set{k, v})
		}
		var changes []Change
		err := collect(b.ctx, n, ref, func(f *frame, old sqltype.Row, id sqltype.Value) error {
			row := append(sqltype.Row(nil), old...)
			for _, s := range sets {
				v := s.val.eval(f)
				if b.err != nil {
					return b.err
				}
				v, err := Assign(v, s.val.typ, ref.cols[s.col], name.String())
				if err != nil {
					return err
				}
				row[s.col] = v
			}
			changes = append(changes, Change{ID: id, Old: old, New: row})
			return nil
		})
		if err != nil {
			return err
		}
		if err := w.Write(b.ctx, changes); err != nil {
			return err
		}
		x.affected(b, len(changes), KindUpdate)
		return nil
	})
}

func (x *executor) delete(s *ast.DeleteStatement) error {
	spec := s.DeleteSpecification
	if spec.OutputClause != nil || spec.OutputIntoClause != nil || spec.FromClause != nil || s.WithCtesAndXmlNamespaces != nil {
		return sqltype.Unsupported("OUTPUT, FROM and WITH of DELETE")
	}
	return x.scoped(true, func(b *binder) error {
		w, name := b.target(spec.Target)
		_, ref, n := b.affectedRows(w, name, spec.WhereClause, spec.TopRowFilter)
		var changes []Change
		err := collect(b.ctx, n, ref, func(_ *frame, old sqltype.Row, id sqltype.Value) error {
			changes = append(changes, Change{ID: id, Old: old})
			return nil
		})
		if err != nil {
			return err
		}
		if err := w.Write(b.ctx, changes); err != nil {
			return err
		}
		x.affected(b, len(changes), KindDelete)
		return nil
	})
}
