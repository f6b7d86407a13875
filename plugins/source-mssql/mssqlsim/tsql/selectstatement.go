package tsql

import (
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

func (x *executor) query(s *ast.SelectStatement) error {
	if s.Into != nil {
		return x.selectInto(s)
	}
	return x.scoped(false, func(b *binder) error {
		b.hints(s.OptimizerHints)
		b.with(s.WithCtesAndXmlNamespaces)
		if q, ok := s.QueryExpression.(*ast.QuerySpecification); ok && len(q.SelectElements) > 0 {
			if _, ok := q.SelectElements[0].(*ast.SelectSetVariable); ok {
				return x.assign(b, q)
			}
		}
		p := b.query(s.QueryExpression, nil)
		namedAll(p.columns())
		if b.compiling {
			return nil
		}
		n := int64(0)
		if err := p.open(nil); err != nil {
			return err
		}
		defer p.close()
		if err := b.out.Columns(p.columns()); err != nil {
			return err
		}
		cut := x.textLimit(p.columns())
		for b.enough(int(n)) == nil {
			row, err := p.next()
			if err != nil {
				return err
			}
			if row == nil {
				break
			}
			if cut != nil {
				row = cut(row)
			}
			if err := b.out.Row(row); err != nil {
				return err
			}
			n++
		}
		b.tell(false)
		b.out.EndResult()
		b.batch.rowCount = n
		return nil
	})
}

// hints refuses query hints that could change a result.
func (b *binder) hints(list []ast.OptimizerHintBase) {
	for _, h := range list {
		o, ok := h.(*ast.OptimizerHint)
		name, words := "", nodeName(h)
		if ok {
			name, words = o.HintKind, kindWords(o.HintKind)
		} else if l, isLiteral := h.(*ast.LiteralOptimizerHint); isLiteral {
			name, words = l.HintKind, kindWords(l.HintKind)
		}
		switch strings.ToLower(name) {
		case "recompile", "maxdop", "keepfixedplan", "hashjoin", "loopjoin", "mergejoin", "forceorder", "optimizeforunknown", "fast":
		case "maxrecursion":
			b.recursion = b.valueOf(h.(*ast.LiteralOptimizerHint).Value, sqltype.Of(sqltype.BigInt)).Int()
			if b.recursion > 32767 {
				failf(310, "The value %d specified for the MAXRECURSION option exceeds the allowed maximum of 32767.", b.recursion)
			}
		default:
			unsupported("the query hint %s", words)
		}
	}
}

func (b *binder) with(w *ast.WithCtesAndXmlNamespaces) {
	if w == nil {
		return
	}
	if w.XmlNamespaces != nil || w.ChangeTrackingContext != nil {
		unsupported("WITH XMLNAMESPACES and CHANGE_TRACKING_CONTEXT")
	}
	for i, c := range w.CommonTableExpressions {
		for _, before := range w.CommonTableExpressions[:i] {
			if sqltype.EqualName(before.ExpressionName.Value, c.ExpressionName.Value) {
				failf(239, "Duplicate common table expression name '%s' was specified.", c.ExpressionName.Value)
			}
		}
		b.ctes[strings.ToLower(c.ExpressionName.Value)] = c
	}
}

// assign is SELECT @a = ..., which keeps the values of the last row.
func (x *executor) assign(b *binder, q *ast.QuerySpecification) error {
	c := *q
	c.SelectElements = nil
	var vars []*variable
	var kinds []string
	assigned := map[string]bool{}
	for _, e := range q.SelectElements {
		s, ok := e.(*ast.SelectSetVariable)
		if !ok {
			failf(141, "A SELECT statement that assigns a value to a variable must not be combined with data-retrieval operations.")
		}
		for _, name := range variableNames(s.Expression) { // in which order they are computed is not promised (Microsoft: Variables (Transact-SQL))
			if assigned[lower(name)] {
				unsupported("a SELECT that assigns %s and then uses it in another assignment", name)
			}
		}
		assigned[lower(s.Variable.Name)] = true
		vars, kinds = append(vars, b.variable(s.Variable.Name)), append(kinds, s.AssignmentKind)
		c.SelectElements = append(c.SelectElements, &ast.SelectScalarExpression{Expression: s.Expression})
	}
	b.assigning = true
	p := b.query(&c, nil)
	var row sqltype.Row
	var sets []expr
	for i, v := range vars {
		e := expr{typ: p.columns()[i].Type, null: true, eval: func(*frame) sqltype.Value { return row[i] }}
		if l := p.columns()[i].label; l != nil {
			e = e.labelled(*l)
		}
		sets = append(sets, b.given(b.compound(kinds[i], v.expr, e), v.typ))
	}
	if b.compiling {
		return nil
	}
	if err := p.open(nil); err != nil {
		return err
	}
	defer p.close()
	for n := int64(0); ; n++ {
		var err error
		row = nil
		if b.enough(int(n)) == nil {
			row, err = p.next()
		}
		if err != nil {
			return err
		}
		if row == nil {
			b.batch.rowCount = n
			b.tell(false)
			b.out.Affected(n, KindSelect)
			return nil
		}
		for i, v := range vars {
			w := sets[i].eval(nil)
			if b.err != nil {
				return b.err
			}
			v.val = w
		}
	}
}
