package tsql

import (
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// unary binds a sign or ~ ("Microsoft: Unary Operators (Transact-SQL)").
func (b *binder) unary(e *ast.UnaryExpression, sc *scope) expr {
	v := b.expr(e.Expression, sc)
	t := v.typ
	switch e.UnaryExpressionType {
	case "Positive":
		return v
	case "Negative":
		if lit, ok := e.Expression.(*ast.IntegerLiteral); ok && lit.Value == "2147483648" {
			return constant(t, sqltype.FromScaled(-1<<31, 0))
		}
		switch t.Class() {
		case sqltype.ClassNull, sqltype.ClassInt, sqltype.ClassDecimal, sqltype.ClassFloat:
		default:
			failf(8117, "Operand data type %s is invalid for minus operator.", t.Kind)
		}
		if t.Kind == sqltype.TinyInt { // which has no negative numbers
			t = sqltype.Of(sqltype.SmallInt)
		}
		zero := sqltype.FromInt(0)
		if t.Class() == sqltype.ClassFloat {
			zero = sqltype.FromFloat(0)
		}
		return folded(expr{typ: t, null: b.mayOverflow(v.konst, v), konst: v.konst, digits: v.digits, eval: func(f *frame) sqltype.Value {
			w, err := sqltype.Arith(sqltype.Sub, zero, v.eval(f), t)
			if err != nil {
				return b.undefined(err)
			}
			return w
		}})
	case "BitwiseNot":
		if c := t.Class(); c != sqltype.ClassInt && c != sqltype.ClassBit {
			failf(8117, "Operand data type %s is invalid for '~' operator.", t.Kind)
		}
		return folded(expr{typ: t, null: v.null, konst: v.konst, eval: func(f *frame) sqltype.Value {
			w := v.eval(f)
			switch {
			case w.IsNull():
				return w
			case t.Class() == sqltype.ClassBit:
				return sqltype.FromBool(!w.Bool())
			case t.Kind == sqltype.TinyInt:
				return sqltype.FromInt(255 - w.Int())
			}
			return sqltype.FromInt(^w.Int())
		}})
	}
	unsupported("the operator %s", kindWords(e.UnaryExpressionType))
	return expr{}
}

// mayOverflow tells whether what is computed counts as nullable: everything that is not computed once for all rows, also of operands
// that are never NULL, because an overflow may give NULL (Microsoft: ALTER TABLE computed_column_definition (Transact-SQL)).
func (b *binder) mayOverflow(konst bool, operands ...expr) bool {
	null := !konst || b.sess.Settings().nullsArithmetic()
	for _, e := range operands {
		null = null || e.null
	}
	return null
}

var operators = map[string]sqltype.Op{"Add": sqltype.Add, "Subtract": sqltype.Sub, "Multiply": sqltype.Mul, "Divide": sqltype.Div, "Modulo": sqltype.Mod,
	"BitwiseAnd": sqltype.And, "BitwiseOr": sqltype.Or, "BitwiseXor": sqltype.Xor}

// compounds are the operators of assignments such as += ("Microsoft: Compound Operators (Transact-SQL)").
var compounds = map[string]sqltype.Op{"AddEquals": sqltype.Add, "SubtractEquals": sqltype.Sub, "MultiplyEquals": sqltype.Mul, "DivideEquals": sqltype.Div, "ModEquals": sqltype.Mod,
	"BitwiseAndEquals": sqltype.And, "BitwiseOrEquals": sqltype.Or, "BitwiseXorEquals": sqltype.Xor}

// compound gives what an assignment puts into its target: v, or what the operator makes of the target's value and v.
func (b *binder) compound(kind string, target func() expr, v expr) expr {
	if kind == "" || kind == "Equals" {
		return v
	}
	op, ok := compounds[kind]
	if !ok {
		unsupported("the assignment %s", kindWords(kind))
	}
	return b.arith(op, target(), v)
}

func (b *binder) binary(e *ast.BinaryExpression, sc *scope) expr {
	op, ok := operators[e.BinaryExpressionType]
	if !ok {
		unsupported("the operator %s", kindWords(e.BinaryExpressionType))
	}
	return b.arith(op, b.expr(e.FirstExpression, sc), b.expr(e.SecondExpression, sc))
}

func (b *binder) arith(op sqltype.Op, x, y expr) expr {
	xt, yt := x.typ, y.typ
	exact := func(t sqltype.Type) bool { return t.Kind == sqltype.Decimal || t.Kind == sqltype.Numeric }
	if x.digits > 0 && exact(yt) {
		xt = sqltype.Dec(x.digits, 0)
	}
	if y.digits > 0 && exact(xt) {
		yt = sqltype.Dec(y.digits, 0)
	}
	// Text becomes what the exact number beside it is, before the two are computed.
	if exact(xt) && y.typ.Class() == sqltype.ClassString {
		y, yt = b.given(y, xt), xt
	} else if exact(yt) && x.typ.Class() == sqltype.ClassString {
		x, xt = b.given(x, yt), yt
	}
	t, err := sqltype.ArithType(op, xt, yt)
	if err != nil {
		fail(err)
	}
	out := expr{typ: t, null: b.mayOverflow(x.konst && y.konst, x, y), konst: x.konst && y.konst}
	if t.Class() == sqltype.ClassString {
		out.null = x.null || y.null
		out = out.labelled(agree("add", x, y).settled(t, x, y))
		t = out.typ
	}
	operand := func(e expr) expr {
		switch t.Class() {
		case sqltype.ClassDecimal:
			if c := e.typ.Class(); c == sqltype.ClassDecimal || c == sqltype.ClassInt {
				return e // exact numbers of any scale
			}
		case sqltype.ClassString, sqltype.ClassBinary:
			if e.typ.Class() == t.Class() {
				return e
			}
		}
		return b.given(e, t)
	}
	l, r := operand(x), operand(y)
	out.eval = func(f *frame) sqltype.Value {
		v, err := sqltype.Arith(op, l.eval(f), r.eval(f), t)
		if err != nil {
			return b.undefined(err)
		}
		return v
	}
	return folded(out)
}

// given converts an expression without being asked: for an assignment, a comparison, a branch of CASE, an argument.
func (b *binder) given(e expr, to sqltype.Type) expr {
	if err := sqltype.Implicit(e.typ, to); err != nil {
		fail(err)
	}
	e.label().converted(e.typ, to)
	return b.cast(e, to, 0)
}

// givenOf evaluates an expression and converts it as an assignment does.
func (b *binder) givenOf(x ast.ScalarExpression, t sqltype.Type) sqltype.Value {
	e := b.given(b.expr(x, nil), t)
	if b.compiling {
		return sqltype.Value{}
	}
	v := e.eval(&frame{})
	if b.err != nil {
		fail(b.takeErr())
	}
	return v
}

// explicit is CAST and CONVERT.
func (b *binder) explicit(e expr, t sqltype.Type, style int) expr {
	if t.Class() == sqltype.ClassString && e.typ.Class() != sqltype.ClassString { // Microsoft: Collation precedence
		e.coll, e.clash = coercible, nil
	}
	if t.Class() == sqltype.ClassString && !t.Unicode() && e.coll == conflicting { // Microsoft: Collation precedence, Functions and Collation
		failf(446, "Cannot resolve collation conflict for CONVERT operation.")
	}
	return b.cast(e, t, style)
}

func (b *binder) convert(e expr, t sqltype.Type, style ast.ScalarExpression) expr {
	if style == nil {
		return b.explicit(e, t, 0)
	}
	n, null := b.style(style)
	if null {
		return constant(t, sqltype.Value{})
	}
	if n == 0 && e.typ.Class() == sqltype.ClassTime && t.Class() == sqltype.ClassString {
		n = 100 // the types that came later have another style when none is written
	}
	return b.explicit(e, t, n)
}

func (b *binder) style(x ast.ScalarExpression) (style int, null bool) {
	if x == nil {
		return 0, false
	}
	v := b.valueOf(x, sqltype.Of(sqltype.Int))
	return int(v.Int()), v.IsNull() && !b.compiling
}

// tryConvert is TRY_CAST and TRY_CONVERT: a value that cannot be converted is NULL, types that cannot be are an error.
func (b *binder) tryConvert(e expr, t sqltype.Type, style ast.ScalarExpression) expr {
	st, null := b.style(style)
	if null {
		return constant(t, sqltype.Value{})
	}
	if err := sqltype.Explicit(e.typ, t); err != nil {
		fail(err)
	}
	from, inner, locale := e.typ, e.eval, b.locale()
	return expr{typ: t, null: true, konst: e.konst, eval: func(f *frame) sqltype.Value {
		w, err := locale.Convert(inner(f), from, t, st)
		if e := asError(err); e != nil && e.Number == sqltype.NumberUnsupported { // a server might know it
			b.fail(err)
		}
		if err != nil {
			return sqltype.Value{}
		}
		return w
	}}
}

// parse is PARSE and TRY_PARSE of integers, where no culture can make a difference.
func (b *binder) parse(text ast.ScalarExpression, d ast.DataTypeReference, culture ast.ScalarExpression, try bool, sc *scope) expr {
	t := b.converted(d)
	if culture != nil || t.Class() != sqltype.ClassInt {
		unsupported("PARSE of a %s, which depends on the culture", t)
	}
	e := b.given(b.expr(text, sc), sqltype.Str(sqltype.NVarChar, 4000))
	return expr{typ: t, null: true, konst: e.konst, eval: func(f *frame) sqltype.Value {
		v := e.eval(f)
		w, err := sqltype.Convert(v, e.typ, t, 0)
		if err != nil || !v.IsNull() && len(v.Str()) == 0 {
			if !try {
				b.fail(sqltype.Errorf(9819, "Error converting string value '%s' into data type %s using culture ''.", v.Str(), t.Kind))
			}
			return sqltype.Value{}
		}
		return w
	}}
}
