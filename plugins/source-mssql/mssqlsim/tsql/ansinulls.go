package tsql

import (
	"github.com/sqlc-dev/teesql/ast"
)

// bareNull tells whether an expression is the literal NULL or a variable, which ANSI_NULLS is about.
func bareNull(x ast.ScalarExpression) bool {
	switch e := x.(type) {
	case *ast.ParenthesisExpression:
		return bareNull(e.Expression)
	case *ast.NullLiteral, *ast.VariableReference:
		return true
	}
	return false
}

// looseNull tells whether a comparison may be one with NULL that is not unknown: = or <> while ANSI_NULLS is off, of which
// a side is NULL itself or a variable (Microsoft: SET ANSI_NULLS (Transact-SQL)).
func (b *binder) looseNull(e *ast.BooleanComparisonExpression) bool {
	if b.sess.Settings().Options&ansiNulls != 0 {
		return false
	}
	c := comparisons[e.ComparisonType]
	return c.less == c.greater && (bareNull(e.FirstExpression) || bareNull(e.SecondExpression))
}

// compareLoosely binds such a comparison. It is as ever when neither the literal nor the variable is NULL.
func (b *binder) compareLoosely(e *ast.BooleanComparisonExpression, sc *scope) pred {
	v, w := b.expr(e.FirstExpression, sc), b.expr(e.SecondExpression, sc)
	strict := b.compare(e.ComparisonType, v, w)
	equal, left, right := comparisons[e.ComparisonType].equal, bareNull(e.FirstExpression), bareNull(e.SecondExpression)
	return func(f *frame) tri {
		p, q := v.eval(f).IsNull(), w.eval(f).IsNull()
		if left && p || right && q {
			return truth((p == q) == equal)
		}
		return strict(f)
	}
}

// nullByDefault tells whether a new column of which nothing is said allows NULL. Where neither ANSI_NULL_DFLT_ON nor
// ANSI_NULL_DFLT_OFF is set the database says it, in which ANSI_NULL_DEFAULT is off (Microsoft: SET ANSI_NULL_DFLT_ON
// (Transact-SQL), sys.databases (Transact-SQL)).
func (x *executor) nullByDefault() bool { return x.sess.Settings().Options&ansiNullDfltOn != 0 }

// strictShape refuses to make what keeps the settings under which it was made, while they are not those of a driver
// (Microsoft: SET Statements (Transact-SQL), sys.sql_modules (Transact-SQL)).
func (x *executor) strictShape(what string) {
	if x.sess.Settings().Options&ansiNulls == 0 {
		unsupported("%s while ANSI_NULLS is OFF", what)
	}
}
