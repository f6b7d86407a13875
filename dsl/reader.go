package dsl

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// reader follows expressions down to what they are made of.
type reader struct {
	*demands
	// found hears of everything that is reached. What it returns false for is
	// not followed further.
	found func(root any, path []string, u use) bool
	// rows is the for_each of the block in hand, nil where each has no meaning.
	rows hclsyntax.Expression
	// tracing follows nothing but the value that is asked for.
	tracing bool
}

// block reads the arguments of a block, with those that it takes from defaults.
func (r *reader) block(b, defaults block) {
	own := *r
	if attr, ok := b.Body.Attributes["for_each"]; ok {
		r.read(attr.Expr, nil, use{how: looked}, nil)
		own.rows = attr.Expr
	}
	view := bodyView{own: b.Body}
	if defaults.Block != nil {
		view.defaults = defaults.Body
		for _, name := range attributeOrder(defaults.Body) {
			if _, filled := b.Body.Attributes[name]; !filled && name != "for_each" {
				own.read(defaults.Body.Attributes[name].Expr, nil, use{how: taken}, nil)
			}
		}
		for _, nested := range defaults.Body.Blocks {
			if len(blocksOf(b.Body, nested.Type)) == 0 {
				own.body(nested.Body, use{how: taken})
			}
		}
	}
	own.body(b.Body, use{how: taken})
}

func (r *reader) body(body *hclsyntax.Body, u use) {
	for _, name := range attributeOrder(body) {
		if a := body.Attributes[name]; r.rows == nil || a.Expr != r.rows {
			r.read(a.Expr, nil, u, nil)
		}
	}
	for _, nested := range body.Blocks {
		r.body(nested.Body, u)
	}
}

// iteration is a for expression, or a splat, around an expression.
type iteration struct {
	key, value string
	symbol     *hclsyntax.AnonSymbolExpr
	source     hclsyntax.Expression
	// element is the step that the value is below the source.
	element string
	outer   *iteration
}

// read follows the value at a path of what an expression results in.
func (r *reader) read(expr hclsyntax.Expression, path []string, u use, in *iteration) {
	// Locals in a circle, which is reported elsewhere, make paths without end.
	if r.left--; r.left < 0 || len(path) > longestPath || r.tracing && u.how != traced {
		return
	}
	switch e := expr.(type) {
	case *hclsyntax.ParenthesesExpr:
		r.read(e.Expression, path, u, in)
	case *hclsyntax.TemplateWrapExpr:
		r.read(e.Wrapped, path, u, in)
	case *hclsyntax.ScopeTraversalExpr:
		r.traversal(e.Traversal, path, u.by(e), in)
	case *hclsyntax.RelativeTraversalExpr:
		r.read(e.Source, joined(stepsOf(e.Traversal), path), u, in)
	case *hclsyntax.IndexExpr:
		r.read(e.Key, nil, hidden(e), in)
		r.read(e.Collection, joined([]string{stepOf(e.Key)}, path), u.by(e), in)
	case *hclsyntax.AnonSymbolExpr:
		for ; in != nil; in = in.outer {
			if in.symbol == e {
				r.read(in.source, joined([]string{in.element}, path), u, in.outer)
				return
			}
		}
	case *hclsyntax.SplatExpr:
		inner := &iteration{symbol: e.Item, source: e.Source, element: everyStep, outer: in}
		r.read(e.Each, rest(path), u.below(path), inner)
	case *hclsyntax.ForExpr:
		r.iterate(e, path, u, in)
	case *hclsyntax.ConditionalExpr:
		r.read(e.Condition, nil, hidden(e.Condition), in)
		r.read(e.TrueResult, path, u, in)
		r.read(e.FalseResult, path, u, in)
	case *hclsyntax.ObjectConsExpr:
		r.object(e, path, u, in)
	case *hclsyntax.ObjectConsKeyExpr:
		if e.ForceNonLiteral || hcl.ExprAsKeyword(e.Wrapped) == "" {
			r.read(e.Wrapped, path, u, in)
		}
	case *hclsyntax.TupleConsExpr:
		for _, entry := range e.Exprs {
			r.read(entry, rest(path), u.below(path), in)
		}
	case *hclsyntax.FunctionCallExpr:
		r.call(e, path, u, in)
	case *hclsyntax.TemplateExpr:
		for _, part := range e.Parts {
			r.read(part, nil, hidden(e), in)
		}
	case *hclsyntax.TemplateJoinExpr:
		r.read(e.Tuple, nil, hidden(e), in)
	case *hclsyntax.BinaryOpExpr:
		// x == null looks at nothing in x.
		left, right := hidden(e), hidden(e)
		if isNull(e.RHS) {
			left = use{how: looked}
		}
		if isNull(e.LHS) {
			right = use{how: looked}
		}
		r.read(e.LHS, nil, left, in)
		r.read(e.RHS, nil, right, in)
	case *hclsyntax.UnaryOpExpr:
		r.read(e.Val, nil, hidden(e), in)
	}
}

// traversal follows a name with what is read below it.
func (r *reader) traversal(t hcl.Traversal, path []string, u use, in *iteration) {
	path = joined(stepsOf(t[1:]), path)
	root := t.RootName()
	for ; in != nil; in = in.outer {
		switch root {
		case in.value:
			r.read(in.source, joined([]string{in.element}, path), u, in.outer)
			return
		case in.key:
			r.read(in.source, nil, u.names(u.at), in.outer)
			return
		}
	}
	if len(path) == 0 || wild(path[0]) {
		return
	}
	switch root {
	case "each":
		if path[0] != "value" || r.rows == nil {
			return
		}
		path = joined([]string{everyStep}, path[1:])
		if r.found(r.rows, path, u) {
			outside := *r
			outside.rows = nil
			outside.read(r.rows, path, u, nil)
		}
	case "local":
		if local := r.decl.locals[path[0]]; local != nil && r.found("local."+path[0], path[1:], u) {
			outside := *r
			outside.rows = nil
			outside.read(local.Expr, path[1:], u, nil)
		}
	case "var":
		r.found("var."+path[0], path[1:], u)
	}
}

// object follows an object constructor. Of constant keys only that of the path
// is, but what the others read by name is read.
func (r *reader) object(e *hclsyntax.ObjectConsExpr, path []string, u use, in *iteration) {
	o, known := r.objects[e]
	if !known {
		o = object{members: map[string][]hclsyntax.Expression{}}
		for _, item := range e.Items {
			key, constant := literalKey(item.KeyExpr).(string)
			switch {
			case !constant:
				o.computed = append(o.computed, item)
			case len(item.ValueExpr.Variables()) > 0: // a constant reads nothing
				o.members[key] = append(o.members[key], item.ValueExpr)
			}
		}
		r.objects[e] = o
	}
	below, only := u.below(path), len(path) > 0 && !wild(path[0])
	for _, item := range o.computed {
		r.read(item.KeyExpr, nil, hidden(item.KeyExpr), in)
		r.read(item.ValueExpr, rest(path), below, in)
	}
	if only {
		for _, value := range o.members[path[0]] {
			r.read(value, rest(path), below, in)
		}
	}
	if only && r.tracing {
		return
	}
	for _, key := range sortedKeys(o.members) {
		for _, value := range o.members[key] {
			switch {
			case !only:
				r.read(value, rest(path), below, in)
			case key != path[0]:
				r.read(value, nil, use{how: looked}, in)
			}
		}
	}
}

// object is an object constructor by its keys, without what reads nothing.
type object struct {
	members  map[string][]hclsyntax.Expression
	computed []hclsyntax.ObjectConsItem
}

// iterate follows a for expression.
func (r *reader) iterate(e *hclsyntax.ForExpr, path []string, u use, in *iteration) {
	inner := &iteration{key: e.KeyVar, value: e.ValVar, source: e.CollExpr, element: everyStep, outer: in}
	r.read(e.CollExpr, nil, use{how: looked}, in)
	below := u.below(path)
	if e.CondExpr != nil {
		r.read(e.CondExpr, nil, hidden(e.CondExpr), inner)
		for _, t := range e.CondExpr.Variables() {
			if (below.how == taken || below.how == listed) && e.KeyVar != "" && t.RootName() == e.KeyVar {
				below = hidden(e) // it chooses by name
			}
		}
	}
	if e.KeyExpr != nil {
		if t, ok := e.KeyExpr.(*hclsyntax.ScopeTraversalExpr); ok && len(t.Traversal) == 1 && t.Traversal.RootName() == e.KeyVar {
			if len(path) > 0 { // names stay as they are
				inner.element = path[0]
			}
		} else {
			r.read(e.KeyExpr, nil, hidden(e.KeyExpr), inner)
		}
	}
	path = rest(path)
	if e.Group {
		path = rest(path)
	}
	r.read(e.ValExpr, path, below, inner)
}

// Functions whose result has the names of their arguments, and functions that
// put all that they are given into their result.
var (
	passing = []string{"merge", "try", "coalesce", "coalescelist", "concat", "tomap", "toset", "tolist", "distinct", "reverse", "compact",
		"sort", "setunion", "setintersection", "setsubtract", "sensitive", "flatten", "slice"}
	embedding = []string{"jsonencode", "join", "format", "formatlist", "upper", "lower", "title", "trimspace", "tostring"}
)

// call follows a function.
func (r *reader) call(e *hclsyntax.FunctionCallExpr, path []string, u use, in *iteration) {
	arg := func(i int, path []string, u use) {
		if i == len(e.Args)-1 && e.ExpandFinal {
			path = joined([]string{everyStep}, path)
		}
		r.read(e.Args[i], path, u, in)
	}
	n := len(e.Args)
	switch {
	case slices.Contains(passing, e.Name):
		for i := range e.Args {
			arg(i, path, u)
			if e.Name == "flatten" {
				arg(i, joined([]string{everyStep}, path), u)
			}
		}
	case e.Name == "can" && n == 1:
		arg(0, nil, use{how: looked})
	case e.Name == "lookup" && n >= 2:
		arg(1, nil, hidden(e))
		arg(0, joined([]string{stepOf(e.Args[1])}, path), u.by(e))
		for i := 2; i < n; i++ {
			arg(i, path, u)
		}
	case e.Name == "element" && n == 2:
		arg(1, nil, hidden(e))
		arg(0, joined([]string{someStep}, path), u.by(e))
	case e.Name == "values" && n == 1 && len(path) > 0:
		arg(0, joined([]string{everyStep}, path[1:]), u)
	case e.Name == "values" && n == 1:
		arg(0, nil, u)
	case e.Name == "zipmap" && n == 2:
		arg(0, nil, hidden(e))
		arg(1, path, u)
	case (e.Name == "keys" || e.Name == "length") && n == 1:
		arg(0, nil, u.names(e.Range()))
	case e.Name == "contains" && n == 2 && keysOf(e.Args[0]) != nil && !wild(stepOf(e.Args[1])):
		r.read(keysOf(e.Args[0]), []string{stepOf(e.Args[1])}, use{how: looked}, in)
	default:
		r.found(e, path, u)
		if len(path) > 0 || u.how > looked && !slices.Contains(embedding, e.Name) {
			u = hidden(e)
		}
		for i := range e.Args {
			arg(i, nil, u)
		}
	}
}

// keysOf is x of keys(x), nil for all else.
func keysOf(expr hclsyntax.Expression) hclsyntax.Expression {
	if call, ok := expr.(*hclsyntax.FunctionCallExpr); ok && call.Name == "keys" && len(call.Args) == 1 && !call.ExpandFinal {
		return call.Args[0]
	}
	return nil
}

func wild(step string) bool { return step == someStep || step == everyStep }

func isNull(expr hclsyntax.Expression) bool {
	literal, ok := expr.(*hclsyntax.LiteralValueExpr)
	return ok && literal.Val.IsNull()
}

// joined is a new path of two.
func joined(a, b []string) []string { return append(slices.Clip(slices.Clone(a)), b...) }

func rest(path []string) []string {
	if len(path) == 0 {
		return nil
	}
	return path[1:]
}

// stepOf is the step that an index or a name given to a function takes.
func stepOf(key hclsyntax.Expression) string {
	if name, ok := literalKey(key).(string); ok && !strings.HasPrefix(name, "\x00") {
		return name
	}
	return someStep
}

func stepsOf(t hcl.Traversal) []string {
	var path []string
	for _, step := range t {
		switch step := step.(type) {
		case hcl.TraverseAttr:
			path = append(path, step.Name)
		case hcl.TraverseIndex:
			if step.Key.Type() == cty.String && step.Key.IsKnown() && !step.Key.IsNull() {
				path = append(path, step.Key.AsString())
			} else {
				path = append(path, someStep)
			}
		default:
			path = append(path, everyStep)
		}
	}
	return path
}
