package tsql

import (
	"cmp"
	"slices"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// Assign converts a value for a column of a table as INSERT and UPDATE do: text that is too long is an error there, not
// cut, which names the table since SQL Server 2019 (Microsoft: ALTER DATABASE SCOPED CONFIGURATION (Transact-SQL),
// VERBOSE_TRUNCATION_WARNINGS). The table's name is with its database.
func Assign(v sqltype.Value, from sqltype.Type, col Column, table string, release Release) (sqltype.Value, error) {
	return assigning{table: table, release: release}.convert(v, from, col)
}

// assign is Assign in a statement. Without ANSI_WARNINGS what is too long is cut (Microsoft: SET ANSI_WARNINGS
// (Transact-SQL)).
func (r *run) assign(v sqltype.Value, from sqltype.Type, col Column, w Writable, name Name) (sqltype.Value, error) {
	a := assigning{locale: r.locale(), release: r.sess.Release(), cut: r.sess.Settings().Options&ansiWarnings == 0, table: name.String()}
	if n, ok := w.(interface{ FullName() string }); ok {
		a.table = n.FullName()
	}
	v, err := a.convert(v, from, col)
	if err != nil {
		v = r.undefined(err)
	}
	return v, r.takeErr()
}

// assigning is what counts for values on their way into a column.
type assigning struct {
	locale  *sqltype.Locale
	release Release
	cut     bool
	table   string
}

func (a assigning) convert(v sqltype.Value, from sqltype.Type, col Column) (sqltype.Value, error) {
	if v.IsNull() {
		return v, nil
	}
	to := col.Type
	if err := assignable(from, col); err != nil {
		return v, err
	}
	if c := to.Class(); (c == sqltype.ClassString || c == sqltype.ClassBinary) && from.Class() == c && to.Len > 0 {
		switch n := sqltype.LengthToKeep(v, to); {
		case n <= to.Len, a.cut:
		case a.release < 2019:
			return v, sqltype.Errorf(8152, "String or binary data would be truncated.")
		default:
			return v, sqltype.Errorf(2628, "String or binary data would be truncated in table '%s', column '%s'. Truncated value: '%.*s'.", a.table, col.Name, to.Len, v.Str())
		}
	}
	return a.locale.Convert(v, from, to, 0)
}

// assignable tells whether a column takes values of a type.
func assignable(from sqltype.Type, col Column) error {
	if err := sqltype.Implicit(from, col.Type); err != nil {
		return err
	}
	if col.Type.Kind == sqltype.RowVersion && from.Kind != sqltype.Null {
		return sqltype.Errorf(273, "Cannot insert an explicit value into a timestamp column. Use INSERT with a column list to exclude the timestamp column, or insert a DEFAULT into the timestamp column.")
	}
	return nil
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
		n, hint := objectName(x.SchemaObject), lockHint(x.TableHints, true)
		if n.Schema == "" && b.ctes[lower(n.Object)] != nil {
			unsupported("a change through the common table expression %s", n)
		}
		rel, err := b.sess.Relation(n)
		if err != nil {
			fail(err)
		}
		if rel == nil {
			failf(208, "Invalid object name '%s'.", n)
		}
		w, ok := hinted(rel, hint).(Writable)
		if u, is := rel.(interface{ Unwritable() error }); !ok && is {
			fail(u.Unwritable())
		}
		if !ok {
			failf(259, "Ad hoc updates to system catalogs are not allowed.")
		}
		return w, n
	}
	unsupported("a change of %s", nodeName(ref))
	return nil, Name{}
}

// write hands the changes of a statement over, delivers its OUTPUT and counts its rows.
func (x *executor) write(b *binder, w Writable, changes []Change, kind StatementKind, out *outputs) error {
	if err := w.Write(b.ctx, changes); err != nil {
		return err
	}
	if out != nil {
		for _, c := range changes {
			if err := out.add(c, "", nil); err != nil {
				return err
			}
		}
		if err := out.send(b); err != nil {
			return err
		}
	}
	x.affected(b, len(changes), kind)
	return nil
}

func (x *executor) affected(b *binder, n int, kind StatementKind) {
	b.batch.rowCount = int64(n)
	b.tell(true)
	x.out.Affected(int64(n), kind)
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
func (b *binder) affectedRows(w Writable, name Name, from *ast.FromClause, where *ast.WhereClause, top *ast.TopRowFilter) (*scope, *changeTarget, node) {
	if where != nil && where.Cursor != nil {
		unsupported("WHERE CURRENT OF")
	}
	if from != nil {
		return b.joinedRows(name, from, where, top)
	}
	b.rowsWanted = false
	sc := &scope{}
	ref := sc.add(name.Object, name.Schema, w.Columns(), true)
	scan := &scanNode{run: b.run, rel: w, ref: ref}
	t := &changeTarget{ref: ref, scan: scan, table: w, name: name}
	t.whole()
	var cs []*conjunct
	if where != nil {
		cs = b.conjuncts(where.SearchCondition, sc)
	}
	scan.seek(cs, 0)
	return sc, t, b.limited(b.rest(b.filtered(scan, cs, 1), cs), top)
}

// limited is TOP of a statement that changes rows.
func (b *binder) limited(n node, top *ast.TopRowFilter) node {
	if top == nil {
		return n
	}
	if top.Percent || top.WithTies {
		unsupported("TOP PERCENT and WITH TIES of a statement that changes rows")
	}
	e := b.cast(b.count(top), sqltype.Of(sqltype.BigInt), 0)
	if b.compiling {
		return n
	}
	v := e.eval(&frame{})
	switch {
	case b.err != nil:
		fail(b.takeErr())
	case v.IsNull():
		fail(noCount())
	case v.Int() < 0:
		fail(negativeCount())
	}
	return &limitNode{input: n, left: v.Int()}
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
func (b *binder) collect(t *changeTarget, sc *scope, n node, fn func(f *frame, old sqltype.Row, id sqltype.Value) error) error {
	f := &frame{seg: make([]sqltype.Row, len(sc.tables)+1)}
	seen := map[string]bool{} // a row that is joined to several is changed once
	w := t.table
	k := len(w.Columns())
	return b.drain(n, f, func() error {
		row := f.seg[t.ref.idx][t.at:]
		if len(sc.tables) > 1 {
			if !present(row, k, w) {
				return nil
			}
			id := rowIdentity(row, k, w)
			if seen[id] {
				return nil
			}
			seen[id] = true
			b.take(mapEntry + len(id))
		}
		old, err := b.keep(row[:k])
		if err != nil {
			return err
		}
		return fn(f, old, row[k])
	})
}

// present tells whether an outer join has a row of the table: neither a key nor what RowID gives is NULL in one.
func present(row sqltype.Row, width int, w Writable) bool {
	orders, unique := w.Orders()
	if !unique || len(orders) == 0 {
		return !row[width].IsNull()
	}
	return !slices.ContainsFunc(orders[0], func(c int) bool { return row[c].IsNull() })
}

func (x *executor) update(s *ast.UpdateStatement) error {
	spec := s.UpdateSpecification
	return x.scoped(true, func(b *binder) error {
		b.hints(s.OptimizerHints)
		b.with(s.WithCtesAndXmlNamespaces)
		w, name, from := b.changed(spec.Target, spec.FromClause, spec.OutputClause, spec.OutputIntoClause)
		if w != nil {
			b.guardUpdate(w, spec.SetClauses, from != nil)
		}
		if from == nil {
			b.guardRead(w, spec.WhereClause)
		}
		sc, t, n := b.affectedRows(w, name, from, spec.WhereClause, spec.TopRowFilter)
		w, name = t.table, t.name
		t.sameColumns(spec.OutputClause, spec.OutputIntoClause)
		sets := b.assignments(spec.SetClauses, sc, w, t.column)
		b.guardSet(t, sets)
		out := b.output(w.Columns(), spec.OutputClause, spec.OutputIntoClause, []StatementKind{KindUpdate}, nil)
		var changes []Change
		if b.compiling {
			return nil
		}
		err := b.collect(t, sc, n, func(f *frame, old sqltype.Row, id sqltype.Value) error {
			row, err := b.assigned(f, old, sets, w.Columns(), w, name)
			b.take(row.Size())
			changes = append(changes, Change{ID: id, Old: old, New: row})
			return cmp.Or(err, b.enough(len(changes)))
		})
		if err != nil && err != errEnough {
			return err
		}
		return x.write(b, w, changes, KindUpdate, out)
	})
}

// guardSet asks for UPDATE on the columns that are changed through an expression.
func (b *binder) guardSet(t *changeTarget, sets []assignment) {
	if t.columns == nil {
		return
	}
	var cols []int
	for _, s := range sets {
		cols = append(cols, s.col)
	}
	if err := b.sess.Guard(t.table, "UPDATE", cols); err != nil {
		fail(err)
	}
}

// guardUpdate asks for UPDATE on the columns that SET names, and for SELECT when their new values are computed from
// columns (Microsoft: UPDATE (Transact-SQL), Permissions).
func (b *binder) guardUpdate(w Writable, list []ast.SetClause, joined bool) {
	var set, read []string
	for _, c := range list {
		if a, ok := c.(*ast.AssignmentSetClause); ok && a.Column != nil {
			set = append(set, columnNames(a.Column)...)
			read = append(read, columnNames(a.NewValue)...)
		}
	}
	b.guard(w, "UPDATE", set)
	if len(read) > 0 && !joined { // tables of FROM are asked for as such
		b.guard(w, "SELECT", read)
	}
}

// guardRead asks for SELECT on the columns of a condition.
func (b *binder) guardRead(w Writable, node any) {
	if names := columnNames(node); len(names) > 0 {
		b.guard(w, "SELECT", names)
	}
}

// assignment is one column of SET.
type assignment struct {
	col int
	val expr
}

// assignments binds SET of UPDATE and MERGE.
func (b *binder) assignments(list []ast.SetClause, sc *scope, w Writable, place func(column string) int) (sets []assignment) {
	cols := w.Columns()
	defaults := b.defaults(w)
	for _, c := range list {
		a, ok := c.(*ast.AssignmentSetClause)
		if !ok || a.Variable != nil || a.Column == nil {
			unsupported("this SET of UPDATE")
		}
		k := place(a.Column.MultiPartIdentifier.Identifiers[len(a.Column.MultiPartIdentifier.Identifiers)-1].Value)
		for _, s := range sets {
			if s.col == k {
				failf(264, "The column name '%s' is specified more than once in the SET clause or column list of an INSERT. A column cannot be assigned more than one value in the same clause. Modify the clause to make sure that a column is updated only once. If this statement updates or inserts columns into a view, column aliasing can conceal the duplication in your code.", cols[k].Name)
			}
		}
		switch {
		case cols[k].Identity:
			failf(8102, "Cannot update identity column '%s'.", cols[k].Name)
		case cols[k].Computed:
			failf(271, "The column \"%s\" cannot be modified because it is either a computed column or is the result of a UNION operator.", cols[k].Name)
		case cols[k].Type.Kind == sqltype.RowVersion:
			failf(272, "Cannot update a timestamp column.")
		}
		var v expr
		if _, isDefault := a.NewValue.(*ast.DefaultLiteral); isDefault {
			v = expr{typ: cols[k].Type, null: true, eval: func(*frame) sqltype.Value { return defaults[k]() }}
		} else {
			b.setting = true
			v = b.expr(a.NewValue, sc)
			b.setting = false
		}
		v = b.compound(a.AssignmentKind, func() expr { return b.column(a.Column, sc) }, v)
		sets = append(sets, assignment{k, v})
	}
	return sets
}

// assigned gives the row that SET makes of one.
func (b *binder) assigned(f *frame, old sqltype.Row, sets []assignment, cols []Column, w Writable, name Name) (sqltype.Row, error) {
	row := append(sqltype.Row(nil), old...)
	for _, s := range sets {
		v := s.val.eval(f)
		if b.err != nil {
			return nil, b.err
		}
		v, err := b.assign(v, s.val.typ, cols[s.col], w, name)
		if err != nil {
			return nil, err
		}
		row[s.col] = v
	}
	return row, nil
}

func (x *executor) delete(s *ast.DeleteStatement) error {
	spec := s.DeleteSpecification
	return x.scoped(true, func(b *binder) error {
		b.hints(s.OptimizerHints)
		b.with(s.WithCtesAndXmlNamespaces)
		w, name, from := b.changed(spec.Target, spec.FromClause, spec.OutputClause, spec.OutputIntoClause)
		if w != nil {
			b.guard(w, "DELETE", nil)
		}
		if from == nil {
			b.guardRead(w, spec.WhereClause)
		}
		sc, t, n := b.affectedRows(w, name, from, spec.WhereClause, spec.TopRowFilter)
		if w == nil {
			b.guard(t.table, "DELETE", nil)
		}
		w = t.table
		t.sameColumns(spec.OutputClause, spec.OutputIntoClause)
		out := b.output(w.Columns(), spec.OutputClause, spec.OutputIntoClause, []StatementKind{KindDelete}, nil)
		if b.compiling {
			return nil
		}
		var changes []Change
		err := b.collect(t, sc, n, func(_ *frame, old sqltype.Row, id sqltype.Value) error {
			changes = append(changes, Change{ID: id, Old: old})
			return b.enough(len(changes))
		})
		if err != nil && err != errEnough {
			return err
		}
		return x.write(b, w, changes, KindDelete, out)
	})
}
