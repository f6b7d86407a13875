package dsl

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/nearest"
)

// surplus is an attribute of a value that the type it is converted to does not
// name. go-cty drops it without a word, and a misspelt name must not be lost.
type surplus struct {
	path  diag.Path
	name  string
	known []string
}

// surplusOf lists the surplus attributes of v against t, in a stable order.
func surplusOf(v cty.Value, t cty.Type) []surplus { return appendSurplus(nil, nil, v, t) }

func appendSurplus(out []surplus, path diag.Path, v cty.Value, t cty.Type) []surplus {
	v, _ = v.Unmark()
	if v.IsNull() || !v.IsKnown() || t == cty.DynamicPseudoType {
		return out
	}
	step := func(s any) diag.Path { return append(path[:len(path):len(path)], s) }
	vt := v.Type()
	named := vt.IsObjectType() || vt.IsMapType()
	switch {
	case t.IsObjectType() && named:
		parts := v.AsValueMap()
		for _, name := range sortedKeys(parts) {
			if !t.HasAttribute(name) {
				out = append(out, surplus{step(name), name, sortedKeys(t.AttributeTypes())})
				continue
			}
			out = appendSurplus(out, step(name), parts[name], t.AttributeType(name))
		}
	case t.IsMapType() && named:
		parts := v.AsValueMap()
		for _, name := range sortedKeys(parts) {
			out = appendSurplus(out, step(name), parts[name], t.ElementType())
		}
	case (t.IsListType() || t.IsSetType()) && (vt.IsTupleType() || vt.IsListType() || vt.IsSetType()):
		for i, part := range v.AsValueSlice() {
			out = appendSurplus(out, step(i), part, t.ElementType())
		}
	case t.IsTupleType() && vt.IsTupleType() && vt.Length() == t.Length():
		for i, part := range v.AsValueSlice() {
			out = appendSurplus(out, step(i), part, t.TupleElementType(i))
		}
	}
	return out
}

// surplusText is the message about a surplus attribute of what the words
// name: "variable "tables"".
func (s surplus) text(words string) (summary, detail string) {
	where := words
	if len(s.path) > 1 {
		where = s.path[:len(s.path)-1].String() + " of " + words
	}
	return fmt.Sprintf("No attribute named %q in %s", s.name, where),
		sentences("It has: "+diag.Listed(s.known)+".", nearest.DidYouMean(s.name, "", s.known))
}

// literalRange finds the place of the key that a path leads to inside an
// expression of nested object constructors; it follows parentheses and the
// arguments of calls such as merge and tomap. It returns false when the value
// was made another way.
func literalRange(expr hclsyntax.Expression, path diag.Path) (hcl.Range, bool) {
	switch e := expr.(type) {
	case *hclsyntax.ParenthesesExpr:
		return literalRange(e.Expression, path)
	case *hclsyntax.FunctionCallExpr:
		// The last argument of merge wins.
		for _, arg := range slices.Backward(e.Args) {
			if rng, ok := literalRange(arg, path); ok {
				return rng, true
			}
		}
	case *hclsyntax.TupleConsExpr:
		if i, ok := path[0].(int); ok && i < len(e.Exprs) {
			if len(path) == 1 {
				return e.Exprs[i].Range(), true
			}
			return literalRange(e.Exprs[i], path[1:])
		}
	case *hclsyntax.ObjectConsExpr:
		for _, item := range e.Items {
			if literalKey(item.KeyExpr) != path[0] {
				continue
			}
			if len(path) == 1 {
				return item.KeyExpr.Range(), true
			}
			return literalRange(item.ValueExpr, path[1:])
		}
	}
	return hcl.Range{}, false
}

// literalKey is the text of a constant key of an object constructor.
func literalKey(expr hclsyntax.Expression) any {
	if key, ok := expr.(*hclsyntax.ObjectConsKeyExpr); ok && !key.ForceNonLiteral {
		if word := hcl.ExprAsKeyword(key.Wrapped); word != "" {
			return word
		}
	}
	v, diags := expr.Value(nil)
	if diags.HasErrors() || v.IsNull() || !v.IsKnown() || v.Type() != cty.String {
		return nil
	}
	return v.AsString()
}
