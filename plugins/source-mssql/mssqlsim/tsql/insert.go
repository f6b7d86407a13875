package tsql

import (
	"cmp"
	"slices"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

func (x *executor) insert(s *ast.InsertStatement) error {
	spec := s.InsertSpecification
	if spec.TopRowFilter != nil {
		return sqltype.Unsupported("TOP of INSERT")
	}
	return x.scoped(true, func(b *binder) error {
		b.hints(s.OptimizerHints)
		b.with(s.WithCtesAndXmlNamespaces)
		if t, ok := spec.Target.(*ast.NamedTableReference); ok && t.Alias != nil {
			return nearNode(b.batch.source, t.Alias, false)
		}
		w, name := b.target(spec.Target)
		cols := w.Columns()
		into := b.insertColumns(w, name, spec.Columns)
		b.guardInsert(w, into)
		out := b.output(cols, spec.OutputClause, spec.OutputIntoClause, []StatementKind{KindInsert}, nil)
		defaults := b.defaults(w)
		var changes []Change
		add := func(row sqltype.Row, from []sqltype.Type) error {
			if b.compiling {
				for i, k := range into {
					if err := assignable(from[i], cols[k]); err != nil {
						return err
					}
				}
				return nil
			}
			out := make(sqltype.Row, len(cols))
			for i, d := range defaults {
				out[i] = d()
			}
			for i, k := range into {
				v, err := b.assign(row[i], from[i], cols[k], w, name)
				if err != nil {
					return err
				}
				out[k] = v
			}
			b.take(out.Size())
			changes = append(changes, Change{New: out})
			return cmp.Or(b.err, b.enough(len(changes)))
		}
		if err := x.insertSource(b, spec, name, into, cols, defaults, add); err != nil && err != errEnough {
			return err
		}
		if b.compiling || b.err != nil {
			return b.err
		}
		if err := identityGiven(w, name, into); err != nil {
			return err
		}
		return x.write(b, w, changes, KindInsert, out)
	})
}

// explicitIdentity is a table whose identity column may be given values while IDENTITY_INSERT is on.
type explicitIdentity interface{ IdentityInsert() bool }

// insertColumns gives the columns that an INSERT fills: those of its list, or all that can be.
func (b *binder) insertColumns(w Writable, name Name, list []*ast.ColumnReferenceExpression) (into []int) {
	cols := w.Columns()
	explicit := false
	if e, ok := w.(explicitIdentity); ok {
		explicit = e.IdentityInsert()
	}
	for i, c := range cols {
		if len(list) > 0 || c.Identity || c.Computed || c.Type.Kind == sqltype.RowVersion {
			continue
		}
		into = append(into, i)
	}
	for k, c := range list {
		i := columnNamed(cols, columnText(c))
		for _, o := range into[:k] {
			if o == i {
				failf(264, "The column name '%s' is specified more than once in the SET clause or column list of an INSERT. A column cannot be assigned more than one value in the same clause. Modify the clause to make sure that a column is updated only once. If this statement updates or inserts columns into a view, column aliasing can conceal the duplication in your code.", cols[i].Name)
			}
		}
		into = append(into, i)
	}
	for _, i := range into {
		if cols[i].Identity && !explicit {
			failf(544, "Cannot insert explicit value for identity column in table '%s' when IDENTITY_INSERT is set to OFF.", name.Object)
		}
		if cols[i].Computed {
			failf(271, "The column \"%s\" cannot be modified because it is either a computed column or is the result of a UNION operator.", cols[i].Name)
		}
	}
	return into
}

// identityGiven asks an INSERT for the value of an identity column while IDENTITY_INSERT is on.
func identityGiven(w Writable, name Name, into []int) error {
	e, ok := w.(explicitIdentity)
	if !ok || !e.IdentityInsert() || slices.ContainsFunc(into, func(i int) bool { return w.Columns()[i].Identity }) {
		return nil
	}
	return sqltype.Errorf(545, "Explicit value must be specified for identity column in table '%s' either when IDENTITY_INSERT is set to ON or when a replication user is inserting into a NOT FOR REPLICATION identity column.", name.Object)
}

func (x *executor) insertSource(b *binder, spec *ast.InsertSpecification, name Name, into []int, cols []Column, defaults []func() sqltype.Value, add func(sqltype.Row, []sqltype.Type) error) error {
	src := spec.InsertSource
	given := func(n int, selected bool) error {
		return columnCount(n, into, cols, name, len(spec.Columns) > 0, selected)
	}
	switch s := src.(type) {
	case *ast.ValuesInsertSource:
		if s.IsDefaultValues {
			row, types := make(sqltype.Row, len(into)), make([]sqltype.Type, len(into))
			for i, k := range into {
				row[i], types[i] = defaults[k](), cols[k].Type
			}
			return add(row, types)
		}
		for _, rv := range s.RowValues {
			if err := given(len(rv.ColumnValues), false); err != nil {
				return err
			}
			row := make(sqltype.Row, len(into))
			types := make([]sqltype.Type, len(into))
			for i, v := range rv.ColumnValues {
				if _, ok := v.(*ast.DefaultLiteral); ok {
					row[i], types[i] = defaults[into[i]](), cols[into[i]].Type
					continue
				}
				e := b.expr(v, nil)
				if types[i] = e.typ; !b.compiling {
					row[i] = e.eval(&frame{})
				}
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
		if err := given(len(p.columns()), true); err != nil {
			return err
		}
		types := make([]sqltype.Type, len(into))
		for i, c := range p.columns() {
			types[i] = c.Type
			if c.label != nil {
				c.label.converted(c.Type, cols[into[i]].Type)
			}
		}
		if b.compiling {
			return add(nil, types)
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
		if b.compiling { // what it gives is not known before it runs
			return nil
		}
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

// columnCount gives the error of values that are more or fewer than the columns they are for: listed ones, or all that can
// be filled (Microsoft: Database engine events and errors 0 to 999; 8000 to 8999, 8101).
func columnCount(values int, into []int, cols []Column, name Name, listed, selected bool) error {
	switch n := len(into); {
	case values == n:
		return nil
	case !listed && values == n+1 && slices.ContainsFunc(cols, func(c Column) bool { return c.Identity }):
		return sqltype.Errorf(8101, "An explicit value for the identity column in table '%s' can only be specified when a column list is used and IDENTITY_INSERT is ON.", name)
	case !listed:
		return sqltype.Errorf(213, "Column name or number of supplied values does not match table definition.")
	case selected && values < n:
		return sqltype.Errorf(120, "The select list for the INSERT statement contains fewer items than the insert list. The number of SELECT values must match the number of INSERT columns.")
	case selected:
		return sqltype.Errorf(121, "The select list for the INSERT statement contains more items than the insert list. The number of SELECT values must match the number of INSERT columns.")
	case values < n:
		return sqltype.Errorf(109, "There are more columns in the INSERT statement than values specified in the VALUES clause. The number of values in the VALUES clause must match the number of columns specified in the INSERT statement.")
	}
	return sqltype.Errorf(110, "There are fewer columns in the INSERT statement than values specified in the VALUES clause. The number of values in the VALUES clause must match the number of columns specified in the INSERT statement.")
}
