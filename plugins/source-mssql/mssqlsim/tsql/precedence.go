package tsql

import (
	"reflect"
	"strings"

	"github.com/sqlc-dev/teesql/ast"
)

// The parser (teesql v1.1.0) reads an item of a SELECT that begins with a variable from left to right, without precedence and
// without all operators; it takes parentheses with which a condition begins for those of a condition, whatever follows; and
// it gives operators of bits a level below that of + and -. The first two are rewritten before it sees them, the third is
// mended in what it has read.

// signs are the operators of two operands.
const signs = "+-*/%&|^"

// parenthesizeVariables puts a variable with which an item of a SELECT begins in parentheses where an operator follows.
func parenthesizeVariables(sql string) string {
	if !hasWord(sql, "select") || !strings.Contains(sql, "@") {
		return sql
	}
	toks := tokens(sql)
	next := func(i int) int {
		for i++; i < len(toks) && toks[i].blank; i++ {
		}
		return i
	}
	var b strings.Builder
	selects, item := false, false // in a SELECT; at the beginning of an item
	for i, t := range toks {
		if t.blank {
			b.WriteString(t.text)
			continue
		}
		w := lower(t.text)
		if item && w[0] == '@' && operates(toks, next(i)) {
			b.WriteString("(" + t.text + ")")
		} else {
			b.WriteString(t.text)
		}
		switch {
		case w == "select":
			selects, item = true, true
		case beginsStatement[w] && w != "as" && w != "else" && w != "with":
			selects, item = false, false
		default: // behind DISTINCT and TOP begins the item
			item = selects && (w == "," || w == ")" || w == "distinct" || w == "all" || w == "percent" || w == "ties" || w[0] >= '0' && w[0] <= '9')
		}
	}
	return b.String()
}

// operates tells whether an operator stands at a place: none that assigns as well.
func operates(toks []token, i int) bool {
	if i >= len(toks) {
		return false
	}
	if strings.EqualFold(toks[i].text, "at") { // TIME ZONE
		return true
	}
	return strings.Contains(signs, toks[i].text) && (i+1 == len(toks) || toks[i+1].text != "=")
}

// scalar is a call that stands around a value in parentheses until the parser has read it.
const (
	scalar      = "MSSQLSIM_SCALAR"
	beginScalar = scalar + "("
	endScalar   = "/*" + scalar + "*/)"
)

// beforeCondition are words behind which a condition may begin.
var beforeCondition = map[string]bool{"where": true, "and": true, "or": true, "not": true, "if": true, "while": true, "when": true, "on": true, "having": true, "(": true}

// callParentheses makes a call of parentheses with which a condition may begin where an operator follows them.
func callParentheses(sql string) string {
	if !strings.Contains(sql, ")") || !strings.ContainsAny(sql, signs) {
		return sql
	}
	toks := tokens(sql)
	var open []int // the parentheses that are open; -1 for one behind something else
	var called []int
	before, closed := "", -1
	for i, t := range toks {
		if t.blank {
			continue
		}
		if closed >= 0 && operates(toks, i) {
			called = append(called, open[len(open)-1], closed)
		}
		if closed >= 0 {
			open, closed = open[:len(open)-1], -1
		}
		switch t.text {
		case "(":
			if beforeCondition[before] {
				open = append(open, i)
			} else {
				open = append(open, -1)
			}
		case ")":
			if len(open) > 0 {
				if closed = i; open[len(open)-1] < 0 {
					open, closed = open[:len(open)-1], -1
				}
			}
		}
		before = lower(t.text)
	}
	for n, i := range called {
		if n%2 == 0 {
			toks[i].text = beginScalar + toks[i].text
		} else {
			toks[i].text += endScalar
		}
	}
	if len(called) == 0 {
		return sql
	}
	var b strings.Builder
	for _, t := range toks {
		b.WriteString(t.text)
	}
	return b.String()
}

// uncall takes calls of scalar out of the parser's tree.
func uncall(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		if c, ok := v.Interface().(*ast.FunctionCall); ok && c.FunctionName != nil && c.FunctionName.Value == scalar && len(c.Parameters) == 1 {
			v.Set(reflect.ValueOf(c.Parameters[0]))
		}
		uncall(v.Elem())
	case reflect.Pointer:
		if !v.IsNil() {
			uncall(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				uncall(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			uncall(v.Index(i))
		}
	}
}

// level is the precedence of an operator, of which the lower is first (Microsoft: Operator Precedence (Transact-SQL)).
func level(operator string) int {
	switch operator {
	case "Multiply", "Divide", "Modulo":
		return 2
	}
	return 3
}

// associate mends what the parser has read of operators, and of what was written otherwise for it.
func associate(script *ast.Script, sql string) {
	if strings.Contains(sql, scalar) {
		uncall(reflect.ValueOf(script))
	}
	if strings.Contains(sql, "["+variableName) {
		namedByVariables(script)
	}
	if !strings.ContainsAny(sql, "&|^") {
		return
	}
	walkTree(reflect.ValueOf(script), func(node any) bool {
		if e, ok := node.(*ast.BinaryExpression); ok {
			regroup(e)
		}
		return true
	})
}

// regroup makes a chain of operators anew, from left to right within a level. Operands in parentheses are no part of it.
func regroup(root *ast.BinaryExpression) {
	var operands []ast.ScalarExpression
	var chain []*ast.BinaryExpression
	misread := false
	var flatten func(x ast.ScalarExpression)
	flatten = func(x ast.ScalarExpression) {
		e, ok := x.(*ast.BinaryExpression)
		if !ok {
			operands = append(operands, x)
			return
		}
		right, ok := e.SecondExpression.(*ast.BinaryExpression)
		misread = misread || ok && level(right.BinaryExpressionType) >= level(e.BinaryExpressionType)
		flatten(e.FirstExpression)
		chain = append(chain, e)
		flatten(e.SecondExpression)
	}
	flatten(root)
	if !misread {
		return
	}
	n := 0
	var group func(lowest int) ast.ScalarExpression
	group = func(lowest int) ast.ScalarExpression {
		left := operands[n]
		for n < len(chain) && level(chain[n].BinaryExpressionType) <= lowest {
			e := *chain[n]
			e.Fragment = root.Fragment // a part of it would be at no place of the text
			n++
			e.FirstExpression, e.SecondExpression = left, group(level(e.BinaryExpressionType)-1)
			left = &e
		}
		return left
	}
	*root = *group(3).(*ast.BinaryExpression)
}
