package tsql

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// Expression is an expression that a table keeps: a DEFAULT, the condition of a CHECK, or a computed column.
type Expression struct {
	Text   string // as the catalog shows it, in parentheses; see definition
	scalar ast.ScalarExpression
	cond   ast.BooleanExpression
}

// Default is what INSERT puts into a column it does not name: a value, or an expression that each statement evaluates.
type Default struct {
	Value sqltype.Value
	Expr  *Expression
}

// kept gives an expression of a definition with its text. Numbers get a second pair of parentheses, as
// sys.default_constraints shows them.
func (x *executor) kept(scalar ast.ScalarExpression, cond ast.BooleanExpression) *Expression {
	x.strictShape("a DEFAULT, CHECK or computed column")
	var node any = scalar
	if scalar == nil {
		node = cond
	}
	text := x.sourceOf(node)
	for strings.HasPrefix(text, "(") && closes(text) {
		text = strings.TrimSpace(text[1 : len(text)-1])
	}
	switch scalar.(type) {
	case *ast.IntegerLiteral, *ast.NumericLiteral, *ast.UnaryExpression:
		text = "(" + text + ")"
	}
	e := &Expression{Text: "(" + text + ")", scalar: scalar, cond: cond}
	e.define(nil)
	return e
}

// define gives the expression the text that a server would show, where it is known; cols are the columns of its table.
func (e *Expression) define(cols []Column) {
	if text, ok := definition(e.scalar, e.cond, cols); ok && e.Text != "("+text+")" {
		e.Text = "(" + text + ")"
	}
}

// closes tells whether the parenthesis a text begins with is closed by its last character.
func closes(text string) bool {
	depth := 0
	toks := tokens(text)
	for i, t := range toks {
		switch t.text {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				return i == len(toks)-1
			}
		}
	}
	return false
}

// Release is the newest one: what a definition may hold was looked at when it was made.
func (alone) Release() Release { return Newest }

// Columns gives the names of the columns an expression reads.
func (e *Expression) Columns() (names []string) {
	if e == nil {
		return nil
	}
	names = columnNames(e.scalar)
	return append(names, columnNames(e.cond)...)
}

// columnNames gives the last parts of the column references below a node, each once.
func columnNames(node any) (names []string) {
	seen, parts := map[string]bool{}, map[any]bool{}
	walkTree(reflect.ValueOf(node), func(node any) bool {
		if call, ok := node.(*ast.FunctionCall); ok && len(call.Parameters) > 0 && slices.Contains(ofParts, lower(ident(call.FunctionName))) {
			parts[call.Parameters[0]] = true // a part of a date is no column
		}
		c, ok := node.(*ast.ColumnReferenceExpression)
		if parts[node] {
			return false
		}
		if !ok || c.MultiPartIdentifier == nil {
			return !ok
		}
		ids := c.MultiPartIdentifier.Identifiers
		if n := ids[len(ids)-1].Value; !seen[lower(n)] {
			seen[lower(n)] = true
			names = append(names, n)
		}
		return false
	})
	return names
}

// variableNames gives the variables that a part of the parser's tree uses.
func variableNames(node any) (names []string) {
	walkTree(reflect.ValueOf(node), func(node any) bool {
		if v, ok := node.(*ast.VariableReference); ok {
			names = append(names, v.Name)
		}
		return true
	})
	return names
}

// walkTree visits the nodes of a part of the parser's tree; fn tells whether to go into a node.
func walkTree(v reflect.Value, fn func(node any) bool) {
	switch v.Kind() {
	case reflect.Interface:
		walkTree(v.Elem(), fn)
	case reflect.Pointer:
		if !v.IsNil() && fn(v.Interface()) {
			walkTree(v.Elem(), fn)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				walkTree(v.Field(i), fn)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			walkTree(v.Index(i), fn)
		}
	}
}

// alone is the session of an expression that a table keeps: it knows no table and nothing of who asks, for its value
// must depend on the row only.
type alone struct{ Session }

func (alone) Relation(Name) (Relation, error) {
	return nil, sqltype.Errorf(1046, "Subqueries are not allowed in this context. Only scalar expressions are allowed.")
}

func (alone) Function(n Name) (*Function, error) {
	return nil, sqltype.Unsupported("the function %s in a computed column or CHECK", n)
}

func (alone) TableFunction(n Name) (*TableFunction, error) {
	return nil, sqltype.Unsupported("the function %s in a computed column or CHECK", n)
}

func (alone) System(name string, _ []sqltype.Value) (sqltype.Value, sqltype.Type, bool, error) {
	return sqltype.Value{}, sqltype.Type{}, false, sqltype.Unsupported("%s in a computed column or CHECK", name)
}

// Settings are those of a session that was told nothing: how a date is read does not depend on who asks.
func (alone) Settings() *Settings { return &Settings{Options: DefaultOptions} }

// Bind makes the expression a function of a table's row; for a condition the value is a bit, NULL when it is unknown.
// The function must not run twice at a time.
func (e *Expression) Bind(cols []Column) (t sqltype.Type, null bool, fn func(sqltype.Row) (sqltype.Value, error), err error) {
	defer catch(&err)
	r := &run{ctx: context.Background(), sess: alone{}, batch: &batch{}, memory: &memory{}}
	b := &binder{run: r, ctes: map[string]*ast.CommonTableExpression{}, working: map[string]*recursion{}}
	sc := &scope{}
	sc.add("", "", cols, false)
	f := &frame{seg: make([]sqltype.Row, 1)}
	if e.cond != nil {
		p := b.pred(e.cond, sc)
		e.define(cols)
		return sqltype.Of(sqltype.Bit), true, func(row sqltype.Row) (sqltype.Value, error) {
			f.seg[0] = row
			v := p(f)
			if v == unknown {
				return sqltype.Value{}, r.takeErr()
			}
			return sqltype.FromBool(v == yes), r.takeErr()
		}, nil
	}
	x := b.expr(e.scalar, sc)
	e.define(cols)
	return x.typ, x.null, func(row sqltype.Row) (sqltype.Value, error) {
		f.seg[0] = row
		v := x.eval(f)
		return v, r.takeErr()
	}, nil
}

// defaults binds the defaults of a table for one statement: each gives the value of a new row's column.
func (b *binder) defaults(w Writable) []func() sqltype.Value {
	cols := w.Columns()
	out := make([]func() sqltype.Value, len(cols))
	for i, d := range w.Defaults() {
		v := d.Value
		if d.Expr == nil {
			out[i] = func() sqltype.Value { return v }
			continue
		}
		x := b.cast(b.expr(d.Expr.scalar, nil), cols[i].Type, 0)
		out[i] = func() sqltype.Value { return x.eval(&frame{}) }
	}
	return out
}

// calls tells whether an expression calls functions, so that its value may differ from one statement to the next.
func calls(e ast.ScalarExpression) bool {
	found := false
	walkTree(reflect.ValueOf(e), func(node any) bool {
		switch node.(type) {
		case *ast.FunctionCall, *ast.ParameterlessCall, *ast.GlobalVariableExpression:
			found = true
		}
		return !found
	})
	return found
}

// sourceOf gives the text of a part of the batch.
func (x *executor) sourceOf(node any) string { return sourceText(x.batch.source, node) }
