package tsql

import (
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// expr is a bound scalar expression. Errors of evaluation go to the run (see run.fail), so that eval stays a plain
// function of the frame.
type expr struct {
	typ   sqltype.Type
	null  bool // may be NULL
	eval  func(*frame) sqltype.Value
	konst bool // has one value for the whole statement
	ref   *tableRef
	ord   int // column of ref
	depth int // of ref: 0 is this query
	// digits is that of an integer literal: in decimal arithmetic it counts as a number of so many digits, not of ten
	// (SELECT 1.0/3 has six decimals on a server)
	digits uint8
}

// at moves an expression bound in a frame into queries nested deep times.
func (e expr) at(deep int) expr {
	if deep == 0 {
		return e
	}
	inner := e.eval
	e.ref, e.depth = nil, 0
	e.eval = func(f *frame) sqltype.Value {
		for range deep {
			f = f.outer
		}
		return inner(f)
	}
	return e
}

func constant(t sqltype.Type, v sqltype.Value) expr {
	return expr{typ: t, null: v.IsNull(), konst: true, eval: func(*frame) sqltype.Value { return v }}
}

// folded evaluates a constant expression once.
func folded(e expr) expr {
	if !e.konst {
		return e
	}
	inner, done := e.eval, false
	var v sqltype.Value
	e.eval = func(f *frame) sqltype.Value {
		if !done {
			v, done = inner(f), true
		}
		return v
	}
	return e
}

// cast converts an expression; conversions that change nothing cost nothing.
func (r *run) cast(e expr, to sqltype.Type, style int) expr {
	from := e.typ
	e.digits = 0
	if from.Class() == sqltype.ClassString && to.Class() == sqltype.ClassString && to.Collation == "" { // Microsoft: Collation precedence, CAST
		to.Collation = from.Collation
	}
	if from.Kind == sqltype.Null {
		e.typ, e.ref = to, nil
		return e
	}
	if from == to || from.Kind == to.Kind && style == 0 && sameForm(from, to) {
		e.typ = to
		return e
	}
	inner, locale := e.eval, r.locale()
	out := expr{typ: to, null: e.null, konst: e.konst}
	if from.Class() == sqltype.ClassBinary && to.Class() == sqltype.ClassString && style == 1 {
		out.eval = r.hexEval(inner, from, to)
		return folded(out)
	}
	out.eval = func(f *frame) sqltype.Value {
		v := inner(f)
		if v.IsNull() {
			return v
		}
		w, err := locale.Convert(v, from, to, style)
		if err != nil {
			r.fail(err)
		}
		return w
	}
	return folded(out)
}

// hexEval is CONVERT of binary to text. Rows of one commit follow each other, so the last text is kept.
func (r *run) hexEval(inner func(*frame) sqltype.Value, from, to sqltype.Type) func(*frame) sqltype.Value {
	var last string
	var text sqltype.Value
	return func(f *frame) sqltype.Value {
		v := inner(f)
		if v.IsNull() {
			return v
		}
		if s := v.Str(); s != last || text.IsNull() {
			w, err := sqltype.Convert(v, from, to, 1)
			if err != nil {
				r.fail(err)
				return w
			}
			last, text = s, w
		}
		return text
	}
}

// sameForm tells that a value of one type is also one of the other.
func sameForm(from, to sqltype.Type) bool {
	switch from.Class() {
	case sqltype.ClassString, sqltype.ClassBinary:
		if to.Len == sqltype.Max {
			return true
		}
		return from.Len != sqltype.Max && (from.Len == to.Len || from.Len < to.Len && to.Kind != sqltype.Char && to.Kind != sqltype.NChar && to.Kind != sqltype.Binary)
	case sqltype.ClassDecimal, sqltype.ClassTime:
		return from.Prec == to.Prec && from.Scale == to.Scale
	}
	return true
}

func (b *binder) expr(x ast.ScalarExpression, sc *scope) expr {
	if sc != nil && sc.group != nil {
		if e, ok := sc.group.key(b, x); ok {
			return e
		}
	}
	switch e := x.(type) {
	case *ast.ParenthesisExpression:
		return b.expr(e.Expression, sc)
	case *ast.IntegerLiteral:
		n, err := strconv.ParseInt(e.Value, 10, 64)
		if err != nil || n > 1<<31-1 {
			d, ok := sqltype.ParseDecimal(e.Value)
			if !ok || len(e.Value) > 38 {
				failf(1007, "The number '%s' is out of the range for numeric representation (maximum precision 38).", e.Value)
			}
			t := sqltype.Dec(uint8(len(e.Value)), 0)
			t.Kind = sqltype.Numeric
			return constant(t, d)
		}
		lit := constant(sqltype.Of(sqltype.Int), sqltype.FromInt(n))
		lit.digits = uint8(len(strconv.FormatInt(n, 10)))
		return lit
	case *ast.NumericLiteral:
		d, ok := sqltype.ParseDecimal(e.Value)
		if !ok {
			failf(102, "Incorrect syntax near '%s'.", e.Value)
		}
		digits := len(strings.TrimLeft(strings.Replace(e.Value, ".", "", 1), "0"))
		return constant(sqltype.Type{Kind: sqltype.Numeric, Prec: uint8(max(digits, int(d.Scale()), 1)), Scale: d.Scale()}, d)
	case *ast.MoneyLiteral:
		t := sqltype.Of(sqltype.Money)
		v, err := sqltype.Convert(sqltype.FromString(e.Value), sqltype.Str(sqltype.VarChar, 40), t, 0)
		if err != nil {
			fail(err)
		}
		return constant(t, v)
	case *ast.RealLiteral:
		f, err := strconv.ParseFloat(e.Value, 64)
		if err != nil {
			failf(168, "The floating point value '%s' is out of the range of computer representation (8 bytes).", e.Value)
		}
		return constant(sqltype.Of(sqltype.Float), sqltype.FromFloat(f))
	case *ast.StringLiteral:
		return b.stringLiteral(e.Value, e.IsNational)
	case *ast.BinaryLiteral:
		s := e.Value[2:]
		if len(s)%2 == 1 {
			s = "0" + s
		}
		d, err := hex.DecodeString(s)
		if err != nil {
			failf(102, "Incorrect syntax near '%s'.", e.Value)
		}
		return constant(sqltype.Bin(sqltype.VarBinary, max(1, len(d))), sqltype.FromBytes(string(d)))
	case *ast.NullLiteral:
		return constant(sqltype.Of(sqltype.Null), sqltype.Value{})
	case *ast.VariableReference:
		v := b.variable(e.Name)
		return expr{typ: v.typ, null: true, konst: true, eval: func(*frame) sqltype.Value { return v.val }}
	case *ast.GlobalVariableExpression:
		return b.global(e.Name)
	case *ast.ColumnReferenceExpression:
		return b.column(e, sc)
	case *ast.UnaryExpression:
		return b.unary(e, sc)
	case *ast.BinaryExpression:
		return b.binary(e, sc)
	case *ast.CastCall:
		return b.collate(b.cast(b.expr(e.Parameter, sc), b.dataType(e.DataType, 30), 0), e.Collation)
	case *ast.ConvertCall:
		return b.collate(b.convert(b.expr(e.Parameter, sc), b.dataType(e.DataType, 30), e.Style), e.Collation)
	case *ast.TryCastCall:
		return b.tryConvert(b.expr(e.Parameter, sc), b.dataType(e.DataType, 30), nil)
	case *ast.TryConvertCall:
		return b.tryConvert(b.expr(e.Parameter, sc), b.dataType(e.DataType, 30), e.Style)
	case *ast.SearchedCaseExpression:
		var ps []pred
		var vs []expr
		for _, w := range e.WhenClauses {
			ps = append(ps, b.pred(w.WhenExpression, sc))
			vs = append(vs, b.expr(w.ThenExpression, sc))
		}
		return b.caseOf(ps, vs, e.ElseExpression, sc)
	case *ast.SimpleCaseExpression:
		in := b.expr(e.InputExpression, sc)
		var ps []pred
		var vs []expr
		for _, w := range e.WhenClauses {
			ps = append(ps, b.compare("Equals", in, b.expr(w.WhenExpression, sc)))
			vs = append(vs, b.expr(w.ThenExpression, sc))
		}
		return b.caseOf(ps, vs, e.ElseExpression, sc)
	case *ast.IIfCall:
		return b.caseOf([]pred{b.pred(e.Predicate, sc)}, []expr{b.expr(e.ThenExpression, sc)}, e.ElseExpression, sc)
	case *ast.CoalesceExpression:
		return b.coalesce(e.Expressions, sc)
	case *ast.NullIfExpression:
		x, y := b.expr(e.FirstExpression, sc), b.expr(e.SecondExpression, sc)
		eq := b.compare("Equals", x, y)
		return expr{typ: x.typ, null: true, eval: func(f *frame) sqltype.Value {
			if eq(f) == yes {
				return sqltype.Value{}
			}
			return x.eval(f)
		}}
	case *ast.ScalarSubquery:
		return b.scalarSubquery(e.QueryExpression, sc)
	case *ast.ParameterlessCall:
		if e.ParameterlessCallType == "CurrentTimestamp" {
			return b.system("GETDATE", nil)
		}
		return b.system(strings.ToUpper(e.ParameterlessCallType), nil)
	case *ast.FunctionCall:
		return b.function(e, sc)
	case *ast.LeftFunctionCall:
		return b.builtin("LEFT", b.exprs(e.Parameters, sc))
	case *ast.RightFunctionCall:
		return b.builtin("RIGHT", b.exprs(e.Parameters, sc))
	case *ast.AtTimeZoneCall:
		return b.atTimeZone(b.expr(e.DateValue, sc), b.expr(e.TimeZone, sc))
	case *ast.OdbcLiteral:
		t, ok := map[string]sqltype.Type{"date": sqltype.Of(sqltype.Date), "d": sqltype.Of(sqltype.Date), "timestamp": sqltype.Of(sqltype.DateTime), "ts": sqltype.Of(sqltype.DateTime)}[strings.ToLower(e.OdbcLiteralType)]
		if ok {
			return b.cast(b.stringLiteral(e.Value, false), t, 0)
		}
	}
	unsupported("the expression %s", nodeName(x))
	return expr{}
}

func (b *binder) exprs(xs []ast.ScalarExpression, sc *scope) (out []expr) {
	for _, x := range xs {
		out = append(out, b.expr(x, sc))
	}
	return out
}

func (b *binder) stringLiteral(s string, national bool) expr {
	if national {
		n := len(utf16.Encode([]rune(s)))
		t := sqltype.Str(sqltype.NVarChar, max(1, n))
		if n > 4000 {
			t.Len = sqltype.Max
		}
		return constant(t, sqltype.FromString(s))
	}
	n := len([]rune(s))
	t := sqltype.Str(sqltype.VarChar, max(1, n))
	if n > 8000 {
		t.Len = sqltype.Max
	}
	return constant(t, sqltype.FromString(s))
}

func (b *binder) collate(e expr, c *ast.Identifier) expr {
	if c != nil {
		e.typ.Collation = c.Value
		if !knownCollation(c.Value) {
			failf(448, "Invalid collation '%s'.", c.Value)
		}
	}
	return e
}

// knownCollation tells whether a name has the form of a collation's.
func knownCollation(s string) bool {
	u := strings.ToUpper(s)
	return s == "DATABASE_DEFAULT" || strings.HasSuffix(u, "_BIN") || strings.HasSuffix(u, "_BIN2") || strings.Contains(u, "_CI_") || strings.Contains(u, "_CS_")
}

func (b *binder) convert(e expr, t sqltype.Type, style ast.ScalarExpression) expr {
	return b.cast(e, t, b.style(style))
}

func (b *binder) style(x ast.ScalarExpression) int {
	if x == nil {
		return 0
	}
	v := b.value(x)
	return int(v.Int())
}

func (b *binder) tryConvert(e expr, t sqltype.Type, style ast.ScalarExpression) expr {
	st, from, inner, locale := b.style(style), e.typ, e.eval, b.locale()
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

func (b *binder) unary(e *ast.UnaryExpression, sc *scope) expr {
	v := b.expr(e.Expression, sc)
	switch e.UnaryExpressionType {
	case "Positive":
		return v
	case "Negative":
		t := v.typ
		if lit, ok := e.Expression.(*ast.IntegerLiteral); ok && lit.Value == "2147483648" {
			return constant(t, sqltype.FromScaled(-1<<31, 0))
		}
		zero := sqltype.FromInt(0)
		if t.Class() == sqltype.ClassFloat {
			zero = sqltype.FromFloat(0)
		}
		return folded(expr{typ: t, null: v.null, konst: v.konst, eval: func(f *frame) sqltype.Value {
			w, err := sqltype.Arith(sqltype.Sub, zero, v.eval(f), t)
			if err != nil {
				b.fail(err)
			}
			return w
		}})
	}
	unsupported("the operator %s", e.UnaryExpressionType)
	return expr{}
}

var operators = map[string]sqltype.Op{"Add": sqltype.Add, "Subtract": sqltype.Sub, "Multiply": sqltype.Mul, "Divide": sqltype.Div, "Modulo": sqltype.Mod,
	"BitwiseAnd": sqltype.And, "BitwiseOr": sqltype.Or, "BitwiseXor": sqltype.Xor}

func (b *binder) binary(e *ast.BinaryExpression, sc *scope) expr {
	op, ok := operators[e.BinaryExpressionType]
	if !ok {
		unsupported("the operator %s", e.BinaryExpressionType)
	}
	return b.arith(op, b.expr(e.FirstExpression, sc), b.expr(e.SecondExpression, sc))
}

func (b *binder) arith(op sqltype.Op, x, y expr) expr {
	xt, yt := x.typ, y.typ
	if x.digits > 0 && yt.Class() == sqltype.ClassDecimal {
		xt = sqltype.Dec(x.digits, 0)
	}
	if y.digits > 0 && xt.Class() == sqltype.ClassDecimal {
		yt = sqltype.Dec(y.digits, 0)
	}
	t, err := sqltype.ArithType(op, xt, yt)
	if err != nil {
		fail(err)
	}
	operand := func(e expr) expr {
		switch t.Class() {
		case sqltype.ClassDecimal:
			if c := e.typ.Class(); c == sqltype.ClassDecimal || c == sqltype.ClassInt {
				return e // exact numbers of any scale
			}
			return b.cast(e, t, 0)
		case sqltype.ClassString, sqltype.ClassBinary:
			long := t
			if e.typ.Class() == t.Class() {
				return e
			}
			return b.cast(e, long, 0)
		}
		return b.cast(e, t, 0)
	}
	l, r := operand(x), operand(y)
	return folded(expr{typ: t, null: x.null || y.null, konst: x.konst && y.konst, eval: func(f *frame) sqltype.Value {
		v, err := sqltype.Arith(op, l.eval(f), r.eval(f), t)
		if err != nil {
			b.fail(err)
		}
		return v
	}})
}

func (b *binder) caseOf(ps []pred, vs []expr, els ast.ScalarExpression, sc *scope) expr {
	otherwise := constant(sqltype.Of(sqltype.Null), sqltype.Value{})
	if els != nil {
		otherwise = b.expr(els, sc)
	}
	t := otherwise.typ
	for _, v := range vs {
		t = sqltype.Common(t, v.typ)
	}
	if t.Kind == sqltype.Null {
		if els == nil || len(vs) > 0 {
			t = sqltype.Of(sqltype.Int)
		}
	}
	null := otherwise.null
	for i := range vs {
		null = null || vs[i].null
		vs[i] = b.cast(vs[i], t, 0)
	}
	otherwise = b.cast(otherwise, t, 0)
	return expr{typ: t, null: null, eval: func(f *frame) sqltype.Value {
		for i, p := range ps {
			if p(f) == yes {
				return vs[i].eval(f)
			}
		}
		return otherwise.eval(f)
	}}
}

func (b *binder) coalesce(xs []ast.ScalarExpression, sc *scope) expr {
	vs := b.exprs(xs, sc)
	t := sqltype.Of(sqltype.Null)
	null, konst := true, true
	for _, v := range vs {
		t = sqltype.Common(t, v.typ)
		null, konst = null && v.null, konst && v.konst
	}
	for i := range vs {
		vs[i] = b.cast(vs[i], t, 0)
	}
	return expr{typ: t, null: null, konst: konst, eval: func(f *frame) sqltype.Value {
		for _, v := range vs {
			if x := v.eval(f); !x.IsNull() {
				return x
			}
		}
		return sqltype.Value{}
	}}
}

func (b *binder) scalarSubquery(q ast.QueryExpression, sc *scope) expr {
	p := b.subquery(q, sc)
	if len(p.columns()) != 1 {
		failf(116, "Only one expression can be specified in the select list when the subquery is not introduced with EXISTS.")
	}
	col := p.columns()[0]
	return expr{typ: col.Type, null: true, eval: func(f *frame) sqltype.Value {
		var v sqltype.Value
		n := 0
		b.each(p, f, func(row sqltype.Row) bool {
			v = row[0]
			n++
			return n < 2
		})
		if n > 1 {
			b.fail(sqltype.Errorf(512, "Subquery returned more than 1 value. This is not permitted when the subquery follows =, !=, <, <= , >, >= or when the subquery is used as an expression."))
		}
		return v
	}}
}
