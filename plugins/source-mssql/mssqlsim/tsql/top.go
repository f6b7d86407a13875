package tsql

import (
	"math"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// part binds TOP (Microsoft: TOP (Transact-SQL)).
func (b *binder) part(t *ast.TopRowFilter, p *selectPlan, keys []sortKey) {
	to := sqltype.Of(sqltype.BigInt)
	if t.Percent {
		to = sqltype.Of(sqltype.Float)
		if p.distinct {
			unsupported("DISTINCT with TOP PERCENT")
		}
	}
	e := b.cast(b.count(t), to, 0)
	p.top = &e
	if t.Percent {
		p.percent = &keptNode{run: b.run, input: p.input}
		p.input = p.percent
	}
	if t.WithTies {
		if len(keys) == 0 {
			failf(1062, "The TOP N WITH TIES clause is not allowed without a corresponding ORDER BY clause.")
		}
		if p.distinct {
			unsupported("DISTINCT with TOP WITH TIES")
		}
		p.ties = keys
	}
}

// count binds how many rows TOP asks for. What is wrong with a constant is told before the batch begins (Microsoft: Database
// engine events and errors 0 to 999, 127; 1000 to 1999, 1014, 1031, 1060).
func (b *binder) count(t *ast.TopRowFilter) expr {
	x := t.Expression
	if u, ok := x.(*ast.UnaryExpression); ok { // without parentheses it is a number alone
		fail(nearNode(b.batch.source, u, false))
	}
	for {
		p, ok := x.(*ast.ParenthesisExpression)
		if !ok {
			break
		}
		x = p.Expression
	}
	e := b.expr(x, nil)
	u, signed := x.(*ast.UnaryExpression)
	negative := false
	if signed {
		_, whole := u.Expression.(*ast.IntegerLiteral)
		negative = whole && u.UnaryExpressionType == "Negative"
	}
	switch c := e.typ.Class(); {
	case t.Percent:
		if negative {
			failf(1031, "Percent values must be between 0 and 100.")
		}
		if e.typ.Kind == sqltype.Null {
			fail(noCount())
		}
	case c != sqltype.ClassInt && c != sqltype.ClassBit:
		failf(1060, "The number of rows provided for a TOP or FETCH clauses row count parameter must be an integer.")
	case negative:
		fail(negativeCount())
	}
	return e
}

func noCount() *sqltype.Error {
	return sqltype.Errorf(1014, "A TOP or FETCH clause contains an invalid value.")
}

func negativeCount() *sqltype.Error {
	return sqltype.Errorf(127, "A TOP N or FETCH rowcount value may not be negative.")
}

// share gives TOP PERCENT its number of rows, rounded up.
func (p *selectPlan) share() error {
	v := p.top.eval(&p.fr)
	if p.run.err != nil {
		return p.run.err
	}
	if v.IsNull() {
		return noCount()
	}
	if v.Float() < 0 || v.Float() > 100 {
		return sqltype.Errorf(1031, "Percent values must be between 0 and 100.")
	}
	p.left = int64(math.Ceil(float64(len(p.percent.rows)) * v.Float() / 100))
	return nil
}

// tied tells whether the row in hand is one of the first ones, or has the order of the last of them.
func (p *selectPlan) tied() bool {
	keys := make([]sqltype.Value, len(p.ties))
	for i, k := range p.ties {
		keys[i] = k.e.eval(&p.fr)
	}
	if p.left > 0 {
		p.last = keys
		return true
	}
	return p.last != nil && sameKeys(p.last, keys, p.ties)
}

// ordersByItsList refuses an order of DISTINCT rows by what is not one of their columns (Microsoft: SELECT - ORDER BY Clause
// (Transact-SQL)).
func (p *selectPlan) ordersByItsList(q *ast.QuerySpecification, keys []sortKey) {
next:
	for i, k := range keys {
		x := q.OrderByClause.OrderByElements[i].Expression
		for j, e := range p.outs {
			if k.e.ref != nil && k.e.ref == e.ref && k.e.ord == e.ord && k.e.depth == e.depth {
				continue next
			}
			if c, ok := x.(*ast.ColumnReferenceExpression); ok && c.MultiPartIdentifier != nil && len(c.MultiPartIdentifier.Identifiers) == 1 && sqltype.EqualName(c.MultiPartIdentifier.Identifiers[0].Value, p.cols[j].Name) {
				continue next
			}
		}
		if _, ok := x.(*ast.IntegerLiteral); ok {
			continue
		}
		for _, el := range q.SelectElements {
			if s, ok := el.(*ast.SelectScalarExpression); ok && sameTree(s.Expression, x) {
				continue next
			}
		}
		failf(145, "ORDER BY items must appear in the select list if SELECT DISTINCT is specified.")
	}
}
