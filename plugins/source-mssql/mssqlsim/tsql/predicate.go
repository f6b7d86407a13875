package tsql

import (
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// tri is a truth value with NULL in the middle: AND is the minimum, OR the maximum.
type tri int8

const (
	no tri = iota
	unknown
	yes
)

func truth(b bool) tri {
	if b {
		return yes
	}
	return no
}

// pred is a bound predicate.
type pred func(*frame) tri

func (b *binder) pred(x ast.BooleanExpression, sc *scope) pred {
	switch e := x.(type) {
	case *ast.BooleanParenthesisExpression:
		return b.pred(e.Expression, sc)
	case *ast.BooleanNotExpression:
		p := b.pred(e.Expression, sc)
		return func(f *frame) tri { return yes - p(f) }
	case *ast.BooleanBinaryExpression:
		p, q := b.pred(e.FirstExpression, sc), b.pred(e.SecondExpression, sc)
		if e.BinaryExpressionType == "And" {
			return func(f *frame) tri {
				if v := p(f); v != no {
					return min(v, q(f))
				}
				return no
			}
		}
		return func(f *frame) tri {
			if v := p(f); v != yes {
				return max(v, q(f))
			}
			return yes
		}
	case *ast.BooleanComparisonExpression:
		if b.looseNull(e) {
			return b.compareLoosely(e, sc)
		}
		return b.compare(e.ComparisonType, b.expr(e.FirstExpression, sc), b.expr(e.SecondExpression, sc))
	case *ast.BooleanIsNullExpression:
		v, not := b.expr(e.Expression, sc), e.IsNot
		return func(f *frame) tri { return truth(v.eval(f).IsNull() != not) }
	case *ast.BooleanTernaryExpression:
		v := b.expr(e.FirstExpression, sc)
		low := b.compare("GreaterThanOrEqualTo", v, b.expr(e.SecondExpression, sc))
		high := b.compare("LessThanOrEqualTo", v, b.expr(e.ThirdExpression, sc))
		not := e.TernaryExpressionType == "NotBetween"
		return func(f *frame) tri {
			t := min(low(f), high(f))
			if not {
				t = yes - t
			}
			return t
		}
	case *ast.BooleanInExpression:
		return b.in(e, sc)
	case *ast.ExistsPredicate:
		if q, ok := e.Subquery.(*ast.QuerySpecification); ok && len(q.SelectElements) == 1 {
			b.looked, _ = q.SelectElements[0].(*ast.SelectStarExpression)
		}
		p, pr := b.probed(e.Subquery, sc, nil)
		if pr.ok {
			return pr.test
		}
		return func(f *frame) tri {
			found := no
			b.each(p, f, func(sqltype.Row) bool {
				found = yes
				return false
			})
			return found
		}
	case *ast.BooleanLikeExpression:
		return b.like(e, sc)
	case *ast.DistinctPredicate:
		if b.sess.Release() < 2022 {
			failf(156, "Incorrect syntax near the keyword 'DISTINCT'.")
		}
		v, w, t := b.comparable("equal to", b.expr(e.FirstExpression, sc), b.expr(e.SecondExpression, sc))
		same := e.IsNot
		return func(f *frame) tri { return truth((sqltype.Compare(v.eval(f), w.eval(f), t) == 0) == same) }
	}
	unsupported("the predicate %s", nodeName(x))
	return nil
}

// comparison tells what results of a three-way comparison make an operator true.
type comparison struct{ less, equal, greater bool }

var comparisons = map[string]comparison{
	"Equals":                {equal: true},
	"NotEqualToBrackets":    {less: true, greater: true},
	"NotEqualToExclamation": {less: true, greater: true},
	"LessThan":              {less: true},
	"LessThanOrEqualTo":     {less: true, equal: true},
	"NotGreaterThan":        {less: true, equal: true},
	"GreaterThan":           {greater: true},
	"GreaterThanOrEqualTo":  {greater: true, equal: true},
	"NotLessThan":           {greater: true, equal: true},
}

// comparable brings two expressions to the type they are compared in.
func (b *binder) comparable(operation string, v, w expr) (expr, expr, sqltype.Type) {
	t := sqltype.Common(v.typ, w.typ)
	for _, e := range []expr{v, w} {
		switch e.typ.Kind {
		case sqltype.XML:
			if v.typ.Kind != sqltype.Null && w.typ.Kind != sqltype.Null {
				failf(305, "The xml data type cannot be compared or sorted, except when using the IS NULL operator.")
			}
		case sqltype.Text, sqltype.NText, sqltype.Image:
			failf(402, "The data types %s and %s are incompatible in the %s operator.", v.typ.Kind, w.typ.Kind, operation)
		}
	}
	if t.Class() == sqltype.ClassString {
		t.Collation = agreed(operation, v, w)
	}
	same := func(e expr) expr {
		if e.typ.Class() == t.Class() { // values of a class compare as they are
			switch t.Class() {
			case sqltype.ClassString, sqltype.ClassBinary, sqltype.ClassDecimal, sqltype.ClassInt, sqltype.ClassFloat:
				return e
			case sqltype.ClassTime:
				if t.Kind != sqltype.DateTimeOffset && t.Kind != sqltype.Time && e.typ.Kind != sqltype.Time {
					return e
				}
			}
		}
		return b.given(e, t)
	}
	return b.undoubted(same(v), t, false), b.undoubted(same(w), t, false), t
}

// operations name the comparisons as errors do.
var operations = map[string]string{"Equals": "equal to", "NotEqualToBrackets": "not equal to", "NotEqualToExclamation": "not equal to", "LessThan": "less than",
	"LessThanOrEqualTo": "less than or equal to", "GreaterThan": "greater than", "GreaterThanOrEqualTo": "greater than or equal to", "NotGreaterThan": "not greater than", "NotLessThan": "not less than"}

func (b *binder) compare(op string, v, w expr) pred {
	c, ok := comparisons[op]
	if !ok {
		unsupported("the comparison %s", kindWords(op))
	}
	x, y, t := b.comparable(operations[op], v, w)
	if c.less != c.greater { // < and its like
		x, y = b.undoubted(x, t, true), b.undoubted(y, t, true)
	}
	cmp := sqltype.Comparer(t)
	var p, q sqltype.Value // here, so that a row costs no memory
	return func(f *frame) tri {
		p, q = x.eval(f), y.eval(f)
		if p.IsNull() || q.IsNull() {
			return unknown
		}
		if t.Kind == sqltype.Variant {
			if err := sqltype.VariantDoubt(p, q); err != nil {
				b.fail(err)
				return unknown
			}
		}
		switch n := cmp(&p, &q); {
		case n < 0:
			return truth(c.less)
		case n > 0:
			return truth(c.greater)
		}
		return truth(c.equal)
	}
}

func (b *binder) in(e *ast.BooleanInExpression, sc *scope) pred {
	v, not := b.expr(e.Expression, sc), e.NotDefined
	var list []pred
	for _, y := range e.Values {
		if bareNull(y) && b.sess.Settings().Options&ansiNulls == 0 {
			unsupported("NULL and variables in the list of IN with SET ANSI_NULLS OFF")
		}
		list = append(list, b.compare("Equals", v, b.expr(y, sc)))
	}
	if e.Subquery != nil {
		list = append(list, b.inQuery(v, e.Subquery, sc))
	}
	return func(f *frame) tri {
		found := no
		for _, p := range list {
			if found = max(found, p(f)); found == yes {
				break
			}
		}
		if not {
			found = yes - found
		}
		return found
	}
}

func (b *binder) inQuery(v expr, q ast.QueryExpression, sc *scope) pred {
	p, pr := b.probed(q, sc, &v)
	if len(p.columns()) != 1 {
		failf(116, "Only one expression can be specified in the select list when the subquery is not introduced with EXISTS.")
	}
	if pr.ok {
		return pr.test
	}
	var cur sqltype.Value
	eq := b.compare("Equals", v, expr{typ: p.columns()[0].Type, null: true, eval: func(*frame) sqltype.Value { return cur }})
	return func(f *frame) tri {
		found := no
		b.each(p, f, func(row sqltype.Row) bool {
			cur = row[0]
			found = max(found, eq(f))
			return found != yes
		})
		return found
	}
}

func (b *binder) like(e *ast.BooleanLikeExpression, sc *scope) pred {
	v, w := b.expr(e.FirstExpression, sc), b.expr(e.SecondExpression, sc)
	escape := rune(0)
	if e.EscapeExpression != nil {
		s := []rune(b.value(e.EscapeExpression).Str())
		if len(s) != 1 {
			failf(506, "The invalid escape character \"%s\" was specified in a LIKE predicate.", string(s))
		}
		escape = s[0]
	}
	text := sqltype.Str(sqltype.VarChar, 8000)
	if v.typ.Class() != sqltype.ClassString {
		v = b.given(v, text)
	}
	if w.typ.Class() != sqltype.ClassString {
		w = b.given(w, text)
	}
	t := sqltype.Common(v.typ, w.typ)
	t.Collation = agreed("like", v, w)
	not := e.NotDefined
	patterns, doubt := patternCache{t: t, escape: escape}, t.PartDoubt()
	return func(f *frame) tri {
		x, y := v.eval(f), w.eval(f)
		if x.IsNull() || y.IsNull() {
			return unknown
		}
		if doubt != nil {
			if part := doubt(x.Str(), y.Str(), true); part != "" {
				b.fail(apart("LIKE", part, t))
				return unknown
			}
		}
		return truth(patterns.of(y.Str()).matches(x.Str()) != not)
	}
}
