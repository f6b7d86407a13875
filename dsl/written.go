package dsl

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/pipectl/pipectl/core/diag"
)

// trail follows what is nothing but a name of something to where that is
// written: a local, a variable's default or its line in a variable file, and
// with each.value the row of the map that the block repeats over.
type trail struct {
	scope *scope
	// left bounds the steps: locals may refer to each other in a circle, which
	// is reported elsewhere.
	left int
}

// trail starts one at the expressions of a scope.
func (s *scope) trail() *trail { return &trail{scope: s, left: 200} }

// valueAt is the expression of what a path leads to inside of expr, where it is
// written; what was made another way is an expression as it stands. False when
// the path leads nowhere that can be told from the text.
func (t *trail) valueAt(expr hclsyntax.Expression, path diag.Path) (hclsyntax.Expression, bool) {
	for {
		next, rest, ok := t.step(expr, path)
		if !ok {
			break
		}
		expr, path = next, rest
	}
	if len(path) == 0 {
		return expr, true
	}
	call, ok := expr.(*hclsyntax.FunctionCallExpr)
	if !ok {
		return nil, false
	}
	// The last argument of merge wins.
	for _, arg := range slices.Backward(call.Args) {
		if value, ok := t.valueAt(arg, path); ok {
			return value, true
		}
	}
	return nil, false
}

// step goes one step along a name or into what an expression holds; false when
// there is none.
func (t *trail) step(expr hclsyntax.Expression, path diag.Path) (hclsyntax.Expression, diag.Path, bool) {
	if t.left--; t.left < 0 {
		return nil, nil, false
	}
	switch e := expr.(type) {
	case *hclsyntax.ParenthesesExpr:
		return e.Expression, path, true
	case *hclsyntax.ScopeTraversalExpr:
		return t.named(e.Traversal, path)
	case *hclsyntax.RelativeTraversalExpr:
		if steps, ok := namesIn(e.Traversal); ok {
			return e.Source, append(steps, path...), true
		}
	case *hclsyntax.IndexExpr:
		if name, ok := literalKey(e.Key).(string); ok {
			return e.Collection, append(diag.Path{name}, path...), true
		}
	case *hclsyntax.FunctionCallExpr:
		if e.Name != "lookup" || len(e.Args) != 3 {
			break
		}
		if name, ok := literalKey(e.Args[1]).(string); ok {
			if value, there := t.valueAt(e.Args[0], diag.Path{name}); there {
				return value, path, true
			}
			return e.Args[2], path, true
		}
	case *hclsyntax.ObjectConsExpr:
		for _, item := range e.Items {
			if len(path) > 0 && literalKey(item.KeyExpr) == path[0] {
				return item.ValueExpr, path[1:], true
			}
		}
	}
	return nil, nil, false
}

// named is where the name that a traversal begins with is written.
func (t *trail) named(traversal hcl.Traversal, path diag.Path) (hclsyntax.Expression, diag.Path, bool) {
	if len(traversal) < 2 {
		return nil, nil, false
	}
	steps, ok := namesIn(traversal[2:])
	if !ok {
		return nil, nil, false
	}
	s, path, name := t.scope, append(steps, path...), stepName(traversal)
	switch traversal.RootName() {
	case "each":
		if name == "value" && s.each != nil && s.each.rows != nil {
			return s.each.rows, append(diag.Path{s.each.key}, path...), true
		}
	case "local":
		if local := s.ev.files.decl.locals[name]; local != nil {
			return local.Expr, path, true
		}
	case "var":
		if given := s.ev.variables[name].given; given != nil {
			return given, path, true
		}
	}
	return nil, nil, false
}

// namesIn turns steps of a traversal into a path; false when one is no name.
func namesIn(traversal hcl.Traversal) (diag.Path, bool) {
	path := diag.Path{}
	for _, step := range traversal {
		name := nameOf(step)
		if name == "" {
			return nil, false
		}
		path = append(path, name)
	}
	return path, true
}

// keyRange is the place of the key that a path leads to.
func (t *trail) keyRange(expr hclsyntax.Expression, path diag.Path) (hcl.Range, bool) {
	last := len(path) - 1
	holder, ok := t.valueAt(expr, path[:last])
	if !ok {
		return hcl.Range{}, false
	}
	return literalRange(holder, path[last:])
}

// entryRange is the place at which a list names a text: in the list itself, or
// in one of those that it is put together of.
func (t *trail) entryRange(list hclsyntax.Expression, text string) (hcl.Range, bool) {
	list, ok := t.valueAt(list, nil)
	if !ok || t.left < 0 {
		return hcl.Range{}, false
	}
	var parts []hclsyntax.Expression
	switch e := list.(type) {
	case *hclsyntax.TupleConsExpr:
		for _, entry := range e.Exprs {
			if literalKey(entry) == text {
				return entry.Range(), true
			}
		}
	case *hclsyntax.FunctionCallExpr: // concat, toset, distinct
		parts = e.Args
	case *hclsyntax.ConditionalExpr:
		parts = []hclsyntax.Expression{e.TrueResult, e.FalseResult}
	}
	for _, part := range parts {
		if rng, ok := t.entryRange(part, text); ok {
			return rng, true
		}
	}
	return hcl.Range{}, false
}
