package tsql

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// A server does not keep the text of a DEFAULT, a CHECK or a computed column but what it means, and writes that down anew for its
// catalog (Microsoft: sys.check_constraints (Transact-SQL), definition: "no syntactic guarantees"). The form is what scripts that
// servers have generated show, such as those of AdventureWorks; where they show none the text stays as it was written.

// definition writes an expression as a server does; cols are the columns it may name, which then have their own names. ok is false
// when the form of something in it is not known.
func definition(scalar ast.ScalarExpression, cond ast.BooleanExpression, cols []Column) (text string, ok bool) {
	d := &definer{cols: cols, known: true}
	if scalar != nil {
		text = d.scalar(scalar)
	} else {
		text, _ = d.condition(cond)
	}
	return text, d.known
}

type definer struct {
	cols  []Column
	known bool
}

// unknown notes that the form of something is not known.
func (d *definer) unknown() string {
	d.known = false
	return ""
}

// definedOperators are those between scalars, with how close they bind.
var definedOperators = map[string]struct {
	sign  string
	close int
}{"Multiply": {"*", 2}, "Divide": {"/", 2}, "Modulo": {"%", 2}, "Add": {"+", 1}, "Subtract": {"-", 1}, "BitwiseAnd": {"&", 1}, "BitwiseOr": {"|", 1}, "BitwiseXor": {"^", 1}}

// unwrapped takes the parentheses off an expression.
func unwrapped(e ast.ScalarExpression) ast.ScalarExpression {
	for {
		p, ok := e.(*ast.ParenthesisExpression)
		if !ok {
			return e
		}
		e = p.Expression
	}
}

func (d *definer) scalar(e ast.ScalarExpression) string {
	switch e := unwrapped(e).(type) {
	case *ast.IntegerLiteral, *ast.NumericLiteral:
		return "(" + d.number(e) + ")"
	case *ast.StringLiteral:
		text := "'" + strings.ReplaceAll(e.Value, "'", "''") + "'"
		if e.IsNational {
			text = "N" + text
		}
		return text
	case *ast.NullLiteral:
		return "NULL"
	case *ast.ColumnReferenceExpression:
		return d.column(e)
	case *ast.UnaryExpression:
		switch n := unwrapped(e.Expression).(type) {
		case *ast.IntegerLiteral, *ast.NumericLiteral:
			switch e.UnaryExpressionType {
			case "Negative":
				return "(-" + d.number(n) + ")"
			case "BitwiseNot":
				return "~(" + d.number(n) + ")"
			}
		}
	case *ast.BinaryExpression:
		op, ok := definedOperators[e.BinaryExpressionType]
		if !ok {
			return d.unknown()
		}
		side := func(s ast.ScalarExpression) string {
			text := d.scalar(s)
			if b, ok := unwrapped(s).(*ast.BinaryExpression); ok && definedOperators[b.BinaryExpressionType].close <= op.close {
				return "(" + text + ")"
			}
			return text
		}
		return side(e.FirstExpression) + op.sign + side(e.SecondExpression)
	case *ast.FunctionCall:
		return d.call(e)
	case *ast.LeftFunctionCall:
		return "left(" + d.list(e.Parameters) + ")"
	case *ast.RightFunctionCall:
		return "right(" + d.list(e.Parameters) + ")"
	case *ast.ParameterlessCall:
		if e.ParameterlessCallType == "CurrentTimestamp" {
			return "getdate()"
		}
	case *ast.CastCall:
		if e.Collation == nil {
			return "CONVERT(" + d.dataType(e.DataType) + "," + d.scalar(e.Parameter) + ")"
		}
	case *ast.ConvertCall:
		if e.Collation == nil {
			args := []ast.ScalarExpression{e.Parameter}
			if e.Style != nil {
				args = append(args, e.Style)
			}
			return "CONVERT(" + d.dataType(e.DataType) + "," + d.list(args) + ")"
		}
	case *ast.SearchedCaseExpression:
		return d.searched(e)
	}
	return d.unknown()
}

// number gives the digits of a constant that a server writes as they are.
func (d *definer) number(e ast.ScalarExpression) string {
	switch e := e.(type) {
	case *ast.IntegerLiteral:
		if n, err := strconv.ParseInt(e.Value, 10, 32); err == nil && strconv.FormatInt(n, 10) == e.Value {
			return e.Value
		}
	case *ast.NumericLiteral:
		whole, fraction, ok := strings.Cut(e.Value, ".")
		if n, err := strconv.ParseInt(whole, 10, 32); ok && err == nil && fraction != "" && strconv.FormatInt(n, 10) == whole {
			return e.Value
		}
	}
	return d.unknown()
}

func (d *definer) column(e *ast.ColumnReferenceExpression) string {
	if e.MultiPartIdentifier == nil || len(e.MultiPartIdentifier.Identifiers) != 1 {
		return d.unknown()
	}
	name := e.MultiPartIdentifier.Identifiers[0].Value
	for _, c := range d.cols {
		if sqltype.EqualName(c.Name, name) {
			name = c.Name
		}
	}
	return "[" + strings.ReplaceAll(name, "]", "]]") + "]"
}

func (d *definer) list(args []ast.ScalarExpression) string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = d.scalar(a)
	}
	return strings.Join(out, ",")
}

// ofParts are the functions whose first argument is a part of a date.
var ofParts = []string{"dateadd", "datediff", "datediff_big", "datename", "datepart", "datetrunc", "date_bucket"}

// wholeParts are the parts of a date by their own names.
var wholeParts = []string{"year", "quarter", "month", "dayofyear", "day", "week", "weekday", "hour", "minute", "second", "millisecond", "microsecond", "nanosecond", "iso_week"}

// call writes a function of the server in small letters. year, month and day become another function.
func (d *definer) call(e *ast.FunctionCall) string {
	name, args := lower(ident(e.FunctionName)), e.Parameters
	if e.CallTarget != nil || e.OverClause != nil || e.WithinGroupClause != nil || e.Collation != nil || e.UniqueRowFilter != "" && e.UniqueRowFilter != "NotSpecified" || slices.Contains([]string{"year", "month", "day"}, name) {
		return d.unknown()
	}
	if !slices.Contains(ofParts, name) || len(args) == 0 {
		return name + "(" + d.list(args) + ")"
	}
	part := ""
	if c, ok := args[0].(*ast.ColumnReferenceExpression); ok && c.MultiPartIdentifier != nil && len(c.MultiPartIdentifier.Identifiers) == 1 {
		part = lower(c.MultiPartIdentifier.Identifiers[0].Value)
	}
	if !slices.Contains(wholeParts, part) {
		return d.unknown()
	}
	return name + "(" + part + "," + d.list(args[1:]) + ")"
}

// dataType writes the type of a conversion. Types with a precision that is left out may be written with it.
func (d *definer) dataType(ref ast.DataTypeReference) string {
	t, ok := ref.(*ast.SqlDataTypeReference)
	if !ok {
		return d.unknown()
	}
	name := lower(t.SqlDataTypeOption)
	if len(t.Parameters) == 0 {
		if slices.Contains([]string{"datetime2", "time", "datetimeoffset", "decimal", "numeric"}, name) {
			return d.unknown()
		}
		return "[" + name + "]"
	}
	var params []string
	for _, p := range t.Parameters {
		switch p := p.(type) {
		case *ast.IntegerLiteral:
			params = append(params, p.Value)
		case *ast.MaxLiteral:
			params = append(params, "max")
		default:
			return d.unknown()
		}
	}
	return "[" + name + "](" + strings.Join(params, ",") + ")"
}

func (d *definer) searched(e *ast.SearchedCaseExpression) string {
	if e.Collation != nil {
		return d.unknown()
	}
	out := "case"
	for _, w := range e.WhenClauses {
		when, _ := d.condition(w.WhenExpression)
		out += " when " + when + " then " + d.scalar(w.ThenExpression)
	}
	if e.ElseExpression == nil {
		return out + "  end"
	}
	return out + " else " + d.scalar(e.ElseExpression) + " end"
}

// joint is how a condition is put together: how close its operator binds.
type joint int

const (
	either joint = iota // OR
	both                // AND
	single
)

// definedComparisons are the comparisons by the parser's names.
var definedComparisons = map[string]string{"Equals": "=", "NotEqualToBrackets": "<>", "NotEqualToExclamation": "<>", "GreaterThan": ">", "LessThan": "<", "GreaterThanOrEqualTo": ">=", "LessThanOrEqualTo": "<="}

// condition writes a condition: IN as OR from its last value on, BETWEEN as AND.
func (d *definer) condition(e ast.BooleanExpression) (string, joint) {
	switch e := e.(type) {
	case *ast.BooleanParenthesisExpression:
		return d.condition(e.Expression)
	case *ast.BooleanBinaryExpression:
		left, l := d.condition(e.FirstExpression)
		right, r := d.condition(e.SecondExpression)
		if e.BinaryExpressionType == "Or" {
			if r == either {
				right = "(" + right + ")"
			}
			return left + " OR " + right, either
		}
		if l == either {
			left = "(" + left + ")"
		}
		if r != single {
			right = "(" + right + ")"
		}
		return left + " AND " + right, both
	case *ast.BooleanComparisonExpression:
		if sign := definedComparisons[e.ComparisonType]; sign != "" {
			return d.compared(e.FirstExpression) + sign + d.compared(e.SecondExpression), single
		}
	case *ast.BooleanIsNullExpression:
		if e.IsNot {
			return d.compared(e.Expression) + " IS NOT NULL", single
		}
		return d.compared(e.Expression) + " IS NULL", single
	case *ast.BooleanTernaryExpression:
		if e.TernaryExpressionType == "Between" {
			v := d.compared(e.FirstExpression)
			return v + ">=" + d.compared(e.SecondExpression) + " AND " + v + "<=" + d.compared(e.ThirdExpression), both
		}
	case *ast.BooleanInExpression:
		if !e.NotDefined && e.Subquery == nil {
			return d.oneOf(e)
		}
	case *ast.BooleanLikeExpression:
		if e.EscapeExpression == nil {
			text := d.compared(e.FirstExpression) + " like " + d.compared(e.SecondExpression)
			if e.NotDefined {
				text = "NOT " + text
			}
			return text, single
		}
	case *ast.BooleanNotExpression:
		text, j := d.condition(e.Expression)
		if j != single {
			return "NOT (" + text + ")", single
		}
		if like, ok := e.Expression.(*ast.BooleanLikeExpression); ok && !like.NotDefined {
			return "NOT " + text, single
		}
	}
	return d.unknown(), single
}

func (d *definer) oneOf(e *ast.BooleanInExpression) (string, joint) {
	var out []string
	for _, v := range slices.Backward(e.Values) {
		out = append(out, d.compared(e.Expression)+"="+d.compared(v))
	}
	if len(out) == 1 {
		return out[0], single
	}
	return strings.Join(out, " OR "), either
}

// compared writes a side of a comparison. A sum has parentheses; for other operators that is not known.
func (d *definer) compared(e ast.ScalarExpression) string {
	text := d.scalar(e)
	b, ok := unwrapped(e).(*ast.BinaryExpression)
	switch {
	case !ok:
		return text
	case b.BinaryExpressionType == "Add" || b.BinaryExpressionType == "Subtract":
		return "(" + text + ")"
	}
	return d.unknown()
}
