package tsql

import (
	"strings"

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
	coll   coercibility
	clash  *clash // of conflicting
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
		hasPage(to)
	}
	if from.Kind == sqltype.Null {
		e.typ, e.ref = to, nil
		return e
	}
	if err := sqltype.Explicit(from, to); err != nil {
		fail(err)
	}
	if from == to || from.Kind == to.Kind && style == 0 && sameForm(from, to) && sqltype.SamePage(from, to) {
		e.typ = to
		return e
	}
	inner, locale := e.eval, r.locale()
	out := expr{typ: to, null: e.null || r.sess.Settings().nullsArithmetic(), konst: e.konst}
	if from.Class() == sqltype.ClassString && to.Class() == sqltype.ClassString {
		out.coll, out.clash = e.coll, e.clash
	}
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
			return r.undefined(err)
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
	case *ast.IntegerLiteral, *ast.NumericLiteral, *ast.MoneyLiteral, *ast.RealLiteral, *ast.StringLiteral, *ast.BinaryLiteral, *ast.NullLiteral:
		return b.literal(x)
	case *ast.VariableReference:
		if strings.HasPrefix(e.Name, "@@") { // as an argument of EXECUTE the parser takes it for a variable
			return b.global(e.Name)
		}
		v := b.variable(e.Name)
		return expr{typ: v.typ, null: true, konst: !b.assigning, eval: func(*frame) sqltype.Value { return v.val }}
	case *ast.GlobalVariableExpression:
		return b.global(e.Name)
	case *ast.ColumnReferenceExpression:
		return b.column(e, sc)
	case *ast.UnaryExpression:
		return b.unary(e, sc)
	case *ast.BinaryExpression:
		return b.binary(e, sc)
	case *ast.CastCall:
		return b.collate(b.explicit(b.expr(e.Parameter, sc), b.converted(e.DataType), 0), e.Collation)
	case *ast.ConvertCall:
		return b.collate(b.convert(b.expr(e.Parameter, sc), b.converted(e.DataType), e.Style), e.Collation)
	case *ast.TryCastCall:
		return b.tryConvert(b.expr(e.Parameter, sc), b.converted(e.DataType), nil)
	case *ast.TryConvertCall:
		return b.tryConvert(b.expr(e.Parameter, sc), b.converted(e.DataType), e.Style)
	case *ast.ParseCall:
		return b.parse(e.StringValue, e.DataType, e.Culture, false, sc)
	case *ast.TryParseCall:
		return b.parse(e.StringValue, e.DataType, e.Culture, true, sc)
	case *ast.SearchedCaseExpression, *ast.SimpleCaseExpression, *ast.IIfCall, *ast.CoalesceExpression, *ast.NullIfExpression:
		return b.choice(x, sc)
	case *ast.ScalarSubquery:
		return b.scalarSubquery(e.QueryExpression, sc)
	case *ast.ParameterlessCall:
		if e.ParameterlessCallType == "CurrentTimestamp" {
			return b.system("GETDATE", nil)
		}
		if e.ParameterlessCallType == "CurrentDate" {
			return b.system("CURRENT_DATE", nil)
		}
		return b.system(strings.ToUpper(e.ParameterlessCallType), nil)
	case *ast.FunctionCall:
		return b.function(e, sc)
	case *ast.UserDefinedTypePropertyAccess:
		return b.property(e, sc)
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

func (b *binder) scalarSubquery(q ast.QueryExpression, sc *scope) expr {
	p := b.subquery(q, sc)
	if len(p.columns()) != 1 {
		failf(116, "Only one expression can be specified in the select list when the subquery is not introduced with EXISTS.")
	}
	col := p.columns()[0]
	out := expr{typ: col.Type, null: true}
	if col.label != nil {
		out = out.labelled(*col.label)
	}
	out.eval = func(f *frame) sqltype.Value {
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
	}
	return out
}
