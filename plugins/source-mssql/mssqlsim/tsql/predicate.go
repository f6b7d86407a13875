package tsql

import (
	"slices"
	"strings"

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
		p := b.subquery(e.Subquery, sc)
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
		v, w := b.expr(e.FirstExpression, sc), b.expr(e.SecondExpression, sc)
		t := sqltype.Common(v.typ, w.typ)
		v, w = b.cast(v, t, 0), b.cast(w, t, 0)
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
func (b *binder) comparable(v, w expr) (expr, expr, sqltype.Type) {
	t := sqltype.Common(v.typ, w.typ)
	for _, e := range []expr{v, w} {
		switch e.typ.Kind {
		case sqltype.Text, sqltype.NText, sqltype.Image, sqltype.XML:
			failf(402, "The data types %s and %s are incompatible in the equal to operator.", v.typ.Kind, w.typ.Kind)
		}
	}
	if v.typ.Collation != "" && w.typ.Collation == "" {
		t.Collation = v.typ.Collation
	}
	if w.typ.Collation != "" && v.typ.Collation == "" {
		t.Collation = w.typ.Collation
	}
	same := func(e expr) expr {
		if e.typ.Class() == t.Class() { // values of a class compare as they are
			switch t.Class() {
			case sqltype.ClassString, sqltype.ClassBinary, sqltype.ClassDecimal, sqltype.ClassInt, sqltype.ClassFloat:
				return e
			case sqltype.ClassTime:
				if t.Kind != sqltype.DateTimeOffset && t.Kind != sqltype.Time {
					return e
				}
			}
		}
		return b.cast(e, t, 0)
	}
	return same(v), same(w), t
}

func (b *binder) compare(op string, v, w expr) pred {
	c, ok := comparisons[op]
	if !ok {
		unsupported("the comparison %s", op)
	}
	x, y, t := b.comparable(v, w)
	cmp := sqltype.Comparer(t)
	var p, q sqltype.Value // here, so that a row costs no memory
	return func(f *frame) tri {
		p, q = x.eval(f), y.eval(f)
		if p.IsNull() || q.IsNull() {
			return unknown
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
		list = append(list, b.compare("Equals", v, b.expr(y, sc)))
	}
	if e.Subquery != nil {
		p := b.subquery(e.Subquery, sc)
		if len(p.columns()) != 1 {
			failf(116, "Only one expression can be specified in the select list when the subquery is not introduced with EXISTS.")
		}
		var cur sqltype.Value
		eq := b.compare("Equals", v, expr{typ: p.columns()[0].Type, null: true, eval: func(*frame) sqltype.Value { return cur }})
		list = append(list, func(f *frame) tri {
			found := no
			b.each(p, f, func(row sqltype.Row) bool {
				cur = row[0]
				found = max(found, eq(f))
				return found != yes
			})
			return found
		})
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
	text := sqltype.Str(sqltype.NVarChar, sqltype.Max)
	if v.typ.Class() != sqltype.ClassString {
		v = b.cast(v, text, 0)
	}
	if w.typ.Class() != sqltype.ClassString {
		w = b.cast(w, text, 0)
	}
	not := e.NotDefined
	return func(f *frame) tri {
		x, y := v.eval(f), w.eval(f)
		if x.IsNull() || y.IsNull() {
			return unknown
		}
		return truth(like([]rune(strings.ToLower(x.Str())), []rune(strings.ToLower(y.Str())), escape) != not)
	}
}

// like matches text against a pattern of %, _, [set] and [^set] ("Microsoft: LIKE (Transact-SQL)"). Of several % only the
// last one is tried again: what the ones before took is as good as anything.
func like(s, p []rune, escape rune) bool {
	again, from := -1, 0 // the pattern behind the last %, and where in the text it was tried
	i, j := 0, 0
	for {
		switch {
		case j == len(p) && (j == again || blank(s[i:])):
			return true
		case j < len(p) && p[j] == '%' && p[j] != escape:
			j++
			again, from = j, i
			continue
		case j < len(p) && i < len(s):
			if n := likeOne(s[i], p[j:], escape); n > 0 {
				i, j = i+1, j+n
				continue
			}
		}
		if again < 0 || from >= len(s) {
			return false
		}
		from++
		i, j = from, again
	}
}

func blank(s []rune) bool {
	return !slices.ContainsFunc(s, func(r rune) bool { return r != ' ' })
}

// likeOne matches one character against the beginning of a pattern, and gives how much of the pattern that was; 0 is none.
func likeOne(c rune, p []rune, escape rune) int {
	switch {
	case escape != 0 && p[0] == escape && len(p) > 1:
		if c == p[1] {
			return 2
		}
		return 0
	case p[0] == '_':
		return 1
	case p[0] == '[':
		end := slices.Index(p, ']')
		if end < 0 || !inSet(c, p[1:end]) {
			return 0
		}
		return end + 1
	case p[0] == c:
		return 1
	}
	return 0
}

func inSet(c rune, set []rune) bool {
	not := len(set) > 0 && set[0] == '^'
	if not {
		set = set[1:]
	}
	hit := false
	for i := 0; i < len(set); i++ {
		if i+2 < len(set) && set[i+1] == '-' {
			hit = hit || set[i] <= c && c <= set[i+2]
			i += 2
			continue
		}
		hit = hit || set[i] == c
	}
	return hit != not
}
