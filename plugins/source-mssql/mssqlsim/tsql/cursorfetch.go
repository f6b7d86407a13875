package tsql

import (
	"reflect"
	"slices"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// cursorQuery is the query of a cursor, with the variables as they were when it was declared.
type cursorQuery struct {
	statement *ast.SelectStatement
	batch     batch
	cols      []Column // that are fetched
	// keys are columns behind cols that tell rows apart, 0 without
	keys int
	// copied tells that SQL Server copies the rows when the cursor opens, whatever was asked for
	// (Microsoft: Implicit cursor conversions (ODBC))
	copied bool
	// ordered: the rows have another order than that of the table
	ordered bool
	// volatile: it reads what no stamp tells of
	volatile bool
}

// cursorQuery binds the SELECT of a cursor. Of one table with a unique order its key is read too, so that rows can be found
// again.
func (x *executor) cursorQuery(b *binder, s *ast.SelectStatement) cursorQuery {
	q := cursorQuery{statement: s, batch: *x.batch, volatile: volatile(s)}
	q.batch.vars = map[string]*variable{}
	for n, v := range x.batch.vars {
		held := *v
		q.batch.vars[n] = &held
	}
	if s.Into != nil || s.QueryExpression == nil {
		unsupported("this query of a cursor")
	}
	spec, plain := s.QueryExpression.(*ast.QuerySpecification)
	if plain {
		switch spec.ForClause.(type) {
		case *ast.UpdateForClause: // what may be updated through it: nothing is
			without, st := *spec, *s
			without.ForClause, st.QueryExpression = nil, &without
			spec, s = &without, &st
			q.statement = s
		}
	}
	keyed := keyedSelect(b, s)
	bound := func(st *ast.SelectStatement) (cols []Column, err error) {
		defer catch(&err)
		c := x.binder()
		c.hints(st.OptimizerHints)
		c.with(st.WithCtesAndXmlNamespaces)
		cols = c.query(st.QueryExpression, nil).columns()
		return cols, nil
	}
	cols, err := bound(s)
	if err != nil {
		fail(err)
	}
	q.cols = cols
	if keyed != nil {
		if with, err := bound(keyed); err == nil { // the key may be out of bounds for the login
			q.statement, q.keys = keyed, len(with)-len(cols)
		}
	}
	q.copied = !plain || spec.FromClause == nil || spec.GroupByClause != nil || spec.HavingClause != nil || spec.UniqueRowFilter == "Distinct" || hasAggregate(spec.SelectElements)
	q.ordered = plain && spec.OrderByClause != nil
	return q
}

// keyedSelect gives the SELECT of one table with the table's key behind its columns; nil when it is of another kind.
func keyedSelect(b *binder, s *ast.SelectStatement) *ast.SelectStatement {
	spec, ok := s.QueryExpression.(*ast.QuerySpecification)
	if !ok || spec.FromClause == nil || len(spec.FromClause.TableReferences) != 1 || spec.GroupByClause != nil || spec.HavingClause != nil || spec.UniqueRowFilter == "Distinct" ||
		spec.TopRowFilter != nil || spec.OffsetClause != nil || hasAggregate(spec.SelectElements) || hasWindow(spec.SelectElements) {
		return nil
	}
	table, ok := spec.FromClause.TableReferences[0].(*ast.NamedTableReference)
	if !ok || s.WithCtesAndXmlNamespaces != nil {
		return nil
	}
	n := objectName(table.SchemaObject)
	rel, err := b.sess.Relation(n)
	if err != nil || rel == nil {
		return nil // which binding the query will tell
	}
	orders, unique := rel.Orders()
	if !unique || len(orders) == 0 {
		return nil
	}
	alias := n.Object
	if table.Alias != nil {
		alias = table.Alias.Value
	}
	with, st := *spec, *s
	with.SelectElements = slices.Clone(spec.SelectElements)
	for _, k := range orders[0] {
		with.SelectElements = append(with.SelectElements, &ast.SelectScalarExpression{Expression: &ast.ColumnReferenceExpression{ColumnType: "Regular",
			MultiPartIdentifier: &ast.MultiPartIdentifier{Identifiers: []*ast.Identifier{{Value: alias}, {Value: rel.Columns()[k].Name}}}}})
	}
	st.QueryExpression = &with
	return &st
}

// volatile tells whether a query reads anything but tables of databases: table variables, functions, the catalog, and tables of
// change data capture, which no statement changes.
func volatile(node any) (found bool) {
	walkTree(reflect.ValueOf(node), func(n any) bool {
		switch t := n.(type) {
		case *ast.VariableTableReference, *ast.SchemaObjectFunctionTableReference:
			found = true
		case *ast.NamedTableReference:
			switch lower(ident(t.SchemaObject.SchemaIdentifier)) {
			case "sys", "information_schema", "cdc":
				found = true
			}
			found = found || sqltype.EqualName(ident(t.SchemaObject.DatabaseIdentifier), "msdb")
		}
		return !found
	})
	return found
}

// rowsOf runs the query of a cursor.
func (x *executor) rowsOf(q *cursorQuery) (rows []sqltype.Row, err error) {
	outer := x.batch
	inner := q.batch
	inner.implicit = outer.implicit
	x.batch = &inner
	defer func() { x.batch = outer }()
	err = x.scoped(false, func(b *binder) error {
		rows = nil
		b.hints(q.statement.OptimizerHints)
		b.with(q.statement.WithCtesAndXmlNamespaces)
		p := b.query(q.statement.QueryExpression, nil)
		namedAll(p.columns())
		if err := p.open(nil); err != nil {
			return err
		}
		defer p.close()
		for {
			row, err := p.next()
			if err != nil || row == nil {
				return err
			}
			if row, err = b.keep(row); err != nil {
				return err
			}
			rows = append(rows, row)
		}
	})
	return rows, err
}

// fetchCursor is Microsoft: FETCH (Transact-SQL).
func (x *executor) fetchCursor(s *ast.FetchCursorStatement) error {
	var c *heldCursor
	var targets []*variable
	orientation, offset := "Next", int64(0)
	if err := x.plain(func(b *binder) {
		c = x.cursor(s.Cursor)
		if !c.open {
			failf(16917, "Cursor is not open.")
		}
		if s.FetchType != nil && s.FetchType.Orientation != "" {
			orientation = s.FetchType.Orientation
			if s.FetchType.RowOffset != nil {
				offset = b.valueOf(s.FetchType.RowOffset, sqltype.Of(sqltype.Int)).Int()
			}
		}
		if !c.scroll && orientation != "Next" {
			failf(16911, "fetch: The fetch type %s cannot be used with forward only cursors.", orientation)
		}
		if c.kind == dynamicCursor && orientation == "Absolute" {
			failf(16925, "The fetch type FETCH_ABSOLUTE cannot be used with dynamic cursors.")
		}
		for _, v := range s.IntoVariables {
			ref, ok := v.(*ast.VariableReference)
			if !ok {
				unsupported("FETCH INTO %s", nodeName(v))
			}
			targets = append(targets, b.variable(ref.Name))
		}
		if len(targets) > 0 && len(targets) != len(c.query.cols) {
			failf(16924, "Cursorfetch: The number of variables declared in the INTO list must match that of selected columns.")
		}
	}); err != nil {
		return err
	}
	if err := x.refresh(c); err != nil {
		return err
	}
	c.move(orientation, offset)
	session := &x.sess.Settings().cursors
	var row sqltype.Row
	session.status = -1
	if c.at >= 0 && c.at < len(c.rows) {
		row, session.status = c.rows[c.at][:len(c.query.cols)], 0
	}
	x.batch.rowCount = session.status + 1
	if len(targets) == 0 {
		rows := &Rows{Cols: c.query.cols}
		if row != nil {
			rows.Data = []sqltype.Row{row}
		}
		return sendRows(x.out, rows)
	}
	if row == nil {
		return nil
	}
	return x.plain(func(b *binder) {
		for i, v := range targets {
			w, err := b.locale().Convert(row[i], c.query.cols[i].Type, v.typ, 0)
			if err != nil {
				fail(err)
			}
			v.val = w
		}
	})
}

// move goes to another row. Past the ends it stays before the first or behind the last.
func (c *heldCursor) move(orientation string, n int64) {
	last := len(c.rows)
	to := int64(c.at)
	switch orientation {
	case "First":
		to = 0
	case "Last":
		to = int64(last) - 1
	case "Prior":
		if to--; c.gone { // the row before the one that is gone is at the place itself
			to++
		}
	case "Absolute":
		if to = n - 1; n < 0 {
			to = int64(last) + n
		} else if n == 0 {
			to = -1
		}
	case "Relative":
		if to += n; c.gone && n <= 0 {
			to++
		}
	default:
		to++
	}
	c.at, c.gone = int(max(-1, min(to, int64(last)))), false
}

// refresh lets a cursor see what has changed since its rows were read, as far as its kind sees it. Where documentation leaves
// open what a server shows, it refuses.
func (x *executor) refresh(c *heldCursor) error {
	stamp := x.sess.Stamp()
	if c.kind == staticCursor || stamp == c.stamp && !c.query.volatile {
		return nil
	}
	rows, err := x.rowsOf(&c.query)
	if err != nil {
		return err
	}
	defer func() { c.holds(x.sess.Settings(), c.rows) }() // what it shows from here on
	c.stamp = stamp
	if sameRows(c.rows, rows) {
		return nil
	}
	refused := sqltype.Unsupported("FETCH of the cursor %s: rows of its query have changed since it was opened; a STATIC cursor does not see that", c.name)
	if c.query.keys == 0 || c.kind == scrollCursor {
		return refused
	}
	now := map[string]int{}
	for i, r := range rows {
		now[c.query.key(r)] = i
	}
	if c.kind == dynamicCursor && !c.query.ordered {
		return c.follow(rows, now, refused)
	}
	// Who does not see new rows, or may not see them, needs the old ones that are still to come, in their order.
	before := map[string]bool{}
	for _, r := range c.rows {
		before[c.query.key(r)] = true
	}
	for k := range now {
		if !before[k] && c.kind != keysetCursor {
			return refused
		}
	}
	place := -1
	for i, r := range c.rows {
		to, ok := now[c.query.key(r)]
		passed := i <= c.at && !c.scroll
		switch {
		case !ok && passed:
			continue
		case !ok, c.kind == fastCursor && !passed && !sameRow(r, rows[to]), c.kind != keysetCursor && !passed && to < place:
			return refused
		}
		place = max(place, to)
		c.rows[i] = rows[to]
	}
	return nil
}

// follow puts a dynamic cursor into the rows of now, at the row it was at, or behind the last one before it that is left.
func (c *heldCursor) follow(rows []sqltype.Row, now map[string]int, refused error) error {
	place, at := -1, -1
	gone := c.gone
	for i, r := range c.rows {
		to, ok := now[c.query.key(r)]
		if ok && to < place {
			return refused // rows have changed places
		}
		if ok {
			place = to
		}
		if i <= c.at {
			if ok {
				at = to
			}
			if i == c.at {
				gone = gone || !ok
			}
		}
	}
	if c.at >= len(c.rows) {
		at, gone = len(rows), false
	}
	c.rows, c.at, c.gone = rows, at, gone
	return nil
}

// key gives what tells a row from the others.
func (q *cursorQuery) key(row sqltype.Row) string {
	var k []byte
	for _, v := range row[len(q.cols):] {
		k = v.AppendKey(k, sqltype.Type{Collation: "Latin1_General_BIN2"})
		k = append(k, 0xFF)
	}
	return string(k)
}

func sameRows(a, b []sqltype.Row) bool { return slices.EqualFunc(a, b, sameRow) }

func sameRow(a, b sqltype.Row) bool { return slices.EqualFunc(a, b, sqltype.Value.Same) }
