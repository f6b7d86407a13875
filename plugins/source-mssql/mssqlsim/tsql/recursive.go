package tsql

import (
	"slices"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// maxRecursion is how often a recursive common table expression may call itself without OPTION (MAXRECURSION)
// (Microsoft: WITH common_table_expression (Transact-SQL), Guidelines for defining and using recursive CTEs).
const maxRecursion = 100

// recursion is a recursive common table expression: its members that begin it are read once, the others again over the
// rows that the round before gave, until a round gives none.
type recursion struct {
	run     *run
	name    string
	cols    []Column
	anchors []plan
	members []plan

	rows      []sqltype.Row // of the round before, which the members read
	following []sqltype.Row // of this round
	round     int64
	part      int
	opened    bool
	at        []plan // what this round reads: anchors, then members
	outer     *frame
}

// recursive binds a common table expression some of whose queries name it in FROM; nil is one that is not recursive.
func (b *binder) recursive(c *ast.CommonTableExpression) plan {
	r := &recursion{run: b.run, name: c.ExpressionName.Value}
	list := unionAll(c.QueryExpression)
	first := slices.IndexFunc(list, r.named)
	if len(list) == 1 && r.within(list[0]) {
		failf(252, "Recursive common table expression '%s' does not contain a top-level UNION ALL operator.", r.name)
	}
	if first <= 0 {
		return nil
	}
	key := strings.ToLower(r.name)
	before := b.working[key]
	defer func() { b.working[key] = before }()
	for i, q := range list {
		recursive := r.named(q)
		switch {
		case recursive:
			plainMember(q, r.name)
			b.working[key] = r
		case i > first:
			unsupported("a query of the recursive expression %s that does not name it after one that does", r.name)
		default:
			b.working[key] = nil
		}
		p := b.subquery(q, nil)
		if i == 0 {
			r.cols = renamed(p.columns(), c.Columns, r.name)
			for k := range r.cols {
				r.cols[k].Nullable = true
			}
		}
		if len(p.columns()) != len(r.cols) {
			failf(205, "All queries combined using a UNION, INTERSECT or EXCEPT operator must have an equal number of expressions in their target lists.")
		}
		for k, col := range p.columns() {
			switch x, y := col.Type, r.cols[k].Type; {
			case x.Kind == y.Kind && x.Len == y.Len && x.Prec == y.Prec && x.Scale == y.Scale:
			case recursive:
				failf(240, "Types don't match between the anchor and the recursive part in column \"%s\" of recursive query \"%s\".", r.cols[k].Name, r.name)
			default:
				unsupported("queries of different types that begin the recursive expression %s", r.name)
			}
		}
		if recursive {
			r.members = append(r.members, p)
		} else {
			r.anchors = append(r.anchors, p)
		}
	}
	return r
}

// within tells whether a query or one of those that UNION, EXCEPT or INTERSECT joins names the expression, where it means none
// that is around it.
func (r *recursion) within(q ast.QueryExpression) bool {
	switch x := q.(type) {
	case *ast.QueryParenthesisExpression:
		return r.within(x.QueryExpression)
	case *ast.BinaryQueryExpression:
		return r.within(x.FirstQueryExpression) || r.within(x.SecondQueryExpression)
	}
	return r.named(q)
}

// named tells whether the FROM of a query names the expression.
func (r *recursion) named(q ast.QueryExpression) bool {
	s, ok := q.(*ast.QuerySpecification)
	return ok && s.FromClause != nil && slices.ContainsFunc(s.FromClause.TableReferences, r.in)
}

func (r *recursion) in(ref ast.TableReference) bool {
	switch x := ref.(type) {
	case *ast.NamedTableReference:
		n := objectName(x.SchemaObject)
		return n.Schema == "" && sqltype.EqualName(n.Object, r.name)
	case *ast.QualifiedJoin:
		return r.in(x.FirstTableReference) || r.in(x.SecondTableReference)
	case *ast.UnqualifiedJoin:
		return r.in(x.FirstTableReference) || r.in(x.SecondTableReference)
	case *ast.JoinParenthesisTableReference:
		return r.in(x.Join)
	}
	return false
}

// unionAll gives the queries that UNION ALL joins.
func unionAll(q ast.QueryExpression) []ast.QueryExpression {
	switch x := q.(type) {
	case *ast.QueryParenthesisExpression:
		return unionAll(x.QueryExpression)
	case *ast.BinaryQueryExpression:
		if x.BinaryQueryExpressionType == "Union" && x.All && x.OrderByClause == nil {
			return append(unionAll(x.FirstQueryExpression), unionAll(x.SecondQueryExpression)...)
		}
	}
	return []ast.QueryExpression{q}
}

// plainMember refuses what a recursive member may not have (Microsoft: WITH common_table_expression (Transact-SQL),
// Guidelines for defining and using recursive CTEs).
func plainMember(q ast.QueryExpression, name string) {
	s, ok := q.(*ast.QuerySpecification)
	if !ok || s.UniqueRowFilter == "Distinct" || s.GroupByClause != nil || s.HavingClause != nil || s.TopRowFilter != nil || s.OffsetClause != nil || hasAggregate(s.SelectElements) {
		unsupported("DISTINCT, GROUP BY, HAVING, aggregates, TOP and OFFSET in the recursive part of %s", name)
	}
	if s.FromClause != nil {
		for _, ref := range s.FromClause.TableReferences {
			if outerJoined(ref) {
				unsupported("an outer join in the recursive part of %s", name)
			}
		}
	}
}

func outerJoined(ref ast.TableReference) bool {
	switch x := ref.(type) {
	case *ast.QualifiedJoin:
		return x.QualifiedJoinType != "Inner" || outerJoined(x.FirstTableReference) || outerJoined(x.SecondTableReference)
	case *ast.UnqualifiedJoin:
		return outerJoined(x.FirstTableReference) || outerJoined(x.SecondTableReference)
	case *ast.JoinParenthesisTableReference:
		return outerJoined(x.Join)
	}
	return false
}

// reference is the expression inside of one of its members.
func (r *recursion) reference(sc *scope, alias string) (*tableRef, node) {
	if sc.outer != nil {
		unsupported("the recursive expression %s in a subquery of itself", r.name)
	}
	t := sc.add(alias, "", r.cols, false)
	return t, &roundNode{r: r, ref: t}
}

// roundNode delivers the rows of the round before.
type roundNode struct {
	r   *recursion
	ref *tableRef
	f   *frame
	at  int
}

func (n *roundNode) open(f *frame) error { n.f, n.at = f, 0; return nil }

func (n *roundNode) next() (bool, error) {
	if n.at == len(n.r.rows) {
		return false, nil
	}
	n.f.seg[n.ref.idx] = n.r.rows[n.at]
	n.at++
	return true, nil
}

func (n *roundNode) close() {}

func (r *recursion) columns() []Column { return r.cols }

func (r *recursion) open(outer *frame) error {
	r.outer, r.round, r.part, r.opened, r.at = outer, 0, 0, false, r.anchors
	r.rows, r.following = nil, nil
	return nil
}

func (r *recursion) next() (sqltype.Row, error) {
	for {
		if r.part == len(r.at) {
			if len(r.following) == 0 {
				return nil, nil
			}
			if limit := r.run.recursion; limit > 0 && r.round >= limit {
				return nil, sqltype.Errorf(530, "The statement terminated. The maximum recursion %d has been exhausted before statement completion.", limit)
			}
			r.rows, r.following, r.part, r.at = r.following, nil, 0, r.members
			r.round++
		}
		p := r.at[r.part]
		if !r.opened {
			if err := p.open(r.outer); err != nil {
				return nil, err
			}
			r.opened = true
		}
		row, err := p.next()
		if err != nil {
			return nil, err
		}
		if row != nil {
			kept, err := r.run.keep(row)
			r.following = append(r.following, kept)
			return row, err
		}
		r.close()
		r.part++
	}
}

func (r *recursion) close() {
	if r.opened {
		r.at[r.part].close()
		r.opened = false
	}
}
