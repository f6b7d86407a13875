package tsql

import (
	"reflect"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// changeTarget is the table that UPDATE or DELETE changes, as its FROM reads it: the rows of ref hold those of the table from
// the place at on, with what RowID gives behind them.
type changeTarget struct {
	ref   *tableRef
	scan  *scanNode
	table Writable
	name  Name
	at    int
	// columns are those of the table that the columns before at show, -1 where one shows none; nil when ref is the table.
	columns []int
	through string // the expression by which the table is changed
}

// whole makes the scan read whole rows, in the order of their columns, and for a change. It is called before anything else
// asks for a column.
func (t *changeTarget) whole() {
	for i := range t.ref.cols {
		t.ref.use(i)
	}
	t.ref.use(RowID)
	t.scan.write = true
}

// column finds the column of the table that SET names.
func (t *changeTarget) column(name string) int {
	if t.columns == nil {
		return columnNamed(t.table.Columns(), name)
	}
	k := t.columns[columnNamed(t.ref.cols[:t.at], name)]
	if k < 0 {
		failf(4406, "Update or insert of view or function '%s' failed because it contains a derived or constant field.", t.through)
	}
	return k
}

// sameColumns refuses OUTPUT where the expression does not show the columns of the table as they are.
func (t *changeTarget) sameColumns(out *ast.OutputClause, into *ast.OutputIntoClause) {
	if t.columns == nil || out == nil && into == nil {
		return
	}
	cols := t.table.Columns()
	same := len(t.columns) == len(cols)
	for i, k := range t.columns {
		same = same && k == i && sqltype.EqualName(t.ref.cols[i].Name, cols[i].Name)
	}
	if !same {
		unsupported("OUTPUT of a change through %s, which does not have the columns of its table", t.through)
	}
}

// expression is a query that has a name: a common table expression or a view.
type expression struct {
	name    string
	query   ast.QueryExpression
	columns []*ast.Identifier
	// enter begins a part of the statement in which its own names hold, plan gives what it reads then.
	enter func() (leave func())
	plan  func() plan
}

// expression finds the query that a name in FROM means; nil is none.
func (b *binder) expression(n Name) *expression {
	key := lower(n.Object)
	c := b.ctes[key]
	if c == nil || n.Schema != "" {
		return nil
	}
	return &expression{name: n.Object, query: c.QueryExpression, columns: c.Columns, plan: func() plan { return b.cte(c) }, enter: func() func() {
		delete(b.ctes, key)
		return func() { b.ctes[key] = c }
	}}
}

// changedThrough declares the expression through which a statement changes the table that it reads (Microsoft: WITH
// common_table_expression (Transact-SQL); CREATE VIEW (Transact-SQL), Updatable Views).
func (b *binder) changedThrough(e *expression, sc *scope, alias string) (*tableRef, node) {
	q, ok := e.query.(*ast.QuerySpecification)
	if !ok {
		unsupported("a change through %s, which is no simple query", e.name)
	}
	if q.UniqueRowFilter == "Distinct" || q.GroupByClause != nil || q.HavingClause != nil || hasAggregate(q.SelectElements) {
		failf(4403, "Cannot update the view or function '%s' because it contains aggregates, or a DISTINCT or GROUP BY clause, or PIVOT or UNPIVOT operator.", e.name)
	}
	var table *ast.NamedTableReference
	if q.FromClause != nil && len(q.FromClause.TableReferences) == 1 {
		table, _ = q.FromClause.TableReferences[0].(*ast.NamedTableReference)
	}
	if table == nil {
		unsupported("a change through %s, which does not read one table", e.name)
	}
	leave := e.enter()
	outer := b.changing
	b.changing = table
	p, ok := b.subquery(q, nil).(*selectPlan)
	b.changing = outer
	leave()
	if !ok || b.changes == nil {
		unsupported("a change through %s", e.name)
	}
	if b.changes.columns != nil {
		unsupported("a change through %s, which reads %s", e.name, b.changes.through)
	}
	t := b.changes
	t.through, t.at, t.columns = e.name, len(p.cols), make([]int, len(p.cols))
	for i, out := range p.outs {
		t.columns[i] = -1
		if out.ref == t.ref && out.depth == 0 {
			t.columns[i] = out.ord
		}
	}
	cols := renamed(p.columns(), e.columns, alias)
	seg, of := t.ref.idx, t.table.Columns()
	for ord := range len(of) + 1 {
		col := Column{Name: "\x00", Type: sqltype.Of(sqltype.BigInt), Nullable: true}
		if ord < len(of) {
			col.Type = of[ord].Type
		}
		p.outs = append(p.outs, expr{typ: col.Type, null: true, eval: func(f *frame) sqltype.Value { return f.seg[seg][ord] }})
		p.cols = append(p.cols, col)
		cols = append(cols, col)
	}
	t.ref = sc.add(alias, "", cols, false)
	return t.ref, &derivedNode{plan: p, ref: t.ref}
}

// onlyChanged refuses OUTPUT that names what is neither inserted nor deleted.
func onlyChanged(clauses ...any) {
	for _, clause := range clauses {
		walkTree(reflect.ValueOf(clause), func(node any) bool {
			c, ok := node.(*ast.ColumnReferenceExpression)
			if ok && c.MultiPartIdentifier != nil {
				if first := c.MultiPartIdentifier.Identifiers[0].Value; !sqltype.EqualName(first, "inserted") && !sqltype.EqualName(first, "deleted") {
					unsupported("OUTPUT of columns of FROM")
				}
			}
			return !ok
		})
	}
}
