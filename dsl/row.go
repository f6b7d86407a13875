package dsl

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
)

// rowUse knows which attributes of rows the expressions of a configuration
// use. A row of a for_each map has no declared type, so this is what its
// attributes are held against: a misspelt "exclude" must not let a personal
// column through.
type rowUse struct {
	decl *declarations
	// byMap holds the attributes used of each.value, by the map that the
	// blocks repeat over ("local.tables").
	byMap map[string]*use
	// all holds every attribute that any expression reads from anything.
	all *use
}

// use is a set of attributes; whole tells that something takes the row as it
// is, so that every attribute may be used.
type use struct {
	names map[string]bool
	whole bool
}

func newUse() *use { return &use{names: map[string]bool{}} }

func newRowUse(decl *declarations) *rowUse {
	r := &rowUse{decl: decl, byMap: map[string]*use{}, all: newUse()}
	for _, b := range decl.variables {
		r.collectTypes(b)
	}
	for _, a := range decl.locals {
		r.collect(a.Expr, nil)
	}
	for kind, blocks := range decl.blocks {
		for _, b := range blocks {
			own := r.usesOf(b)
			r.collectBody(b.Body, own)
			if defaults, ok := decl.defaults[kind]; ok {
				r.collectBody(defaults.Body, own)
			}
		}
	}
	return r
}

// usesOf is the set that the uses of each.value in a block belong to.
func (r *rowUse) usesOf(b block) *use {
	attr, ok := b.Body.Attributes["for_each"]
	if !ok {
		return nil
	}
	name, ok := r.mapName(attr.Expr)
	if !ok {
		return nil
	}
	if r.byMap[name] == nil {
		r.byMap[name] = newUse()
	}
	return r.byMap[name]
}

// mapName names what a block repeats over, when it is a plain local or
// variable, or a local that is nothing but another one.
func (r *rowUse) mapName(expr hclsyntax.Expression) (string, bool) {
	for range len(r.decl.locals) + 1 {
		t, ok := expr.(*hclsyntax.ScopeTraversalExpr)
		if !ok || len(t.Traversal) != 2 {
			return "", false
		}
		name := stepName(t.Traversal)
		root := t.Traversal.RootName()
		if local := r.decl.locals[name]; root == "local" && local != nil {
			if _, alias := local.Expr.(*hclsyntax.ScopeTraversalExpr); alias {
				expr = local.Expr
				continue
			}
		}
		return root + "." + name, root == "local" || root == "var"
	}
	return "", false
}

func (r *rowUse) collectBody(body *hclsyntax.Body, own *use) {
	for _, a := range body.Attributes {
		r.collect(a.Expr, own)
	}
	for _, b := range body.Blocks {
		r.collectBody(b.Body, own)
	}
}

// collect records what an expression reads. own is where uses of each.value go.
func (r *rowUse) collect(expr hclsyntax.Expression, own *use) {
	looked := map[hclsyntax.Node]bool{}
	_ = hclsyntax.VisitAll(expr, func(node hclsyntax.Node) hcl.Diagnostics {
		switch e := node.(type) {
		case *hclsyntax.FunctionCallExpr:
			// lookup(each.value, "name", default) reads one attribute.
			if e.Name == "lookup" && len(e.Args) >= 2 {
				if name, ok := literalKey(e.Args[1]).(string); ok {
					r.all.names[name] = true
					if isEachValue(e.Args[0]) {
						looked[e.Args[0]] = true
						own.add(name)
					}
				}
			}
		case *hclsyntax.IndexExpr:
			name, ok := literalKey(e.Key).(string)
			if ok {
				r.all.names[name] = true
			}
			if isEachValue(e.Collection) {
				looked[e.Collection] = true
				if ok {
					own.add(name)
				} else {
					own.takeWhole()
				}
			}
		case *hclsyntax.RelativeTraversalExpr:
			r.steps(e.Traversal)
		case *hclsyntax.ScopeTraversalExpr:
			r.steps(e.Traversal[1:])
			if e.Traversal.RootName() != "each" || looked[node] {
				break
			}
			if len(e.Traversal) > 2 && stepName(e.Traversal) == "value" {
				if name := stepName(e.Traversal[1:]); name != "" {
					own.add(name)
					break
				}
			}
			if stepName(e.Traversal) == "value" {
				own.takeWhole()
			}
		}
		return nil
	})
}

func isEachValue(expr hclsyntax.Expression) bool {
	t, ok := expr.(*hclsyntax.ScopeTraversalExpr)
	return ok && len(t.Traversal) == 2 && t.Traversal.RootName() == "each" && stepName(t.Traversal) == "value"
}

func (r *rowUse) steps(t hcl.Traversal) {
	for _, step := range t {
		switch step := step.(type) {
		case hcl.TraverseAttr:
			r.all.names[step.Name] = true
		case hcl.TraverseIndex:
			if step.Key.Type() == cty.String && step.Key.IsKnown() && !step.Key.IsNull() {
				r.all.names[step.Key.AsString()] = true
			}
		}
	}
}

// collectTypes counts the attributes that a variable's type names as used:
// the type is what they are held against.
func (r *rowUse) collectTypes(b block) {
	if a, ok := b.Body.Attributes["type"]; ok {
		_ = hclsyntax.VisitAll(a.Expr, func(node hclsyntax.Node) hcl.Diagnostics {
			if object, ok := node.(*hclsyntax.ObjectConsExpr); ok {
				for _, item := range object.Items {
					if name, ok := literalKey(item.KeyExpr).(string); ok {
						r.all.names[name] = true
					}
				}
			}
			return nil
		})
	}
}

func (u *use) add(name string) {
	if u != nil {
		u.names[name] = true
	}
}

func (u *use) takeWhole() {
	if u != nil {
		u.whole = true
	}
}

// usedOf chooses the set for a for_each. A map that only blocks repeat over
// has its own; one that other expressions read too, or that is made on the
// spot, is held against everything that is read anywhere.
func (r *rowUse) usedOf(expr hclsyntax.Expression) (*use, bool) {
	name, plainMap := r.mapName(expr)
	if !plainMap {
		return r.all, true
	}
	own := r.byMap[name]
	if own == nil || own.whole {
		return nil, false
	}
	if r.readElsewhere(name) {
		return r.all, true
	}
	return own, true
}

// readElsewhere reports whether an expression other than a plain for_each
// reads the map.
func (r *rowUse) readElsewhere(name string) bool {
	found := false
	look := func(expr hclsyntax.Expression) {
		for _, t := range expr.Variables() {
			if t.RootName()+"."+stepName(t) == name {
				found = true
			}
		}
	}
	for _, a := range r.decl.locals {
		if _, alias := r.mapName(a.Expr); !alias {
			look(a.Expr)
		}
	}
	var walk func(body *hclsyntax.Body)
	walk = func(body *hclsyntax.Body) {
		for attr, a := range body.Attributes {
			if _, plainMap := r.mapName(a.Expr); attr == "for_each" && plainMap {
				continue
			}
			look(a.Expr)
		}
		for _, b := range body.Blocks {
			walk(b.Body)
		}
	}
	for _, blocks := range r.decl.blocks {
		for _, b := range blocks {
			walk(b.Body)
		}
	}
	return found
}

// checkRows reports the attributes of rows that nothing uses.
func (ev *evaluator) checkRows(b block, attr *hclsyntax.Attribute, v cty.Value) {
	if ev.typedRows(attr.Expr) {
		return
	}
	used, ok := ev.rows.usedOf(attr.Expr)
	if !ok {
		return
	}
	if used == ev.rows.all && b.usesWholeRow(ev.files.decl.defaults[addr.Kind(b.Type)]) {
		return
	}
	known := sortedKeys(used.names)
	for it := v.ElementIterator(); it.Next(); {
		k, row := it.Element()
		row, _ = row.Unmark()
		if row.IsNull() || !row.IsKnown() || !(row.Type().IsObjectType()) {
			continue
		}
		for _, name := range sortedKeys(row.Type().AttributeTypes()) {
			if used.names[name] {
				continue
			}
			key := k.AsString()
			at := b.in(attr.SrcRange)
			if rng, ok := ev.scopeOf(addr.Kind(b.Type), b, nil).trail().keyRange(attr.Expr, diag.Path{key, name}); ok {
				at.rng = rng
			}
			detail := "Nothing reads it; use each.value." + name + " or remove it."
			if best := diag.Nearest(name, known); best != "" {
				detail = fmt.Sprintf("Did you mean %s?", best)
			}
			ev.report.error(at, codeRowAttribute, fmt.Sprintf("The row %q has an attribute %q that nothing uses", key, name), detail)
		}
	}
}

// usesWholeRow reports whether the block takes each.value as it is.
func (b block) usesWholeRow(defaults block) bool {
	u := newUse()
	r := &rowUse{all: newUse()}
	r.collectBody(b.Body, u)
	if defaults.Block != nil {
		r.collectBody(defaults.Body, u)
	}
	return u.whole
}

// typedRows reports whether the rows come from a variable with a type, which
// has checked them.
func (ev *evaluator) typedRows(expr hclsyntax.Expression) bool {
	t, ok := expr.(*hclsyntax.ScopeTraversalExpr)
	for range len(ev.files.decl.locals) {
		if !ok || t.Traversal.RootName() != "local" || ev.files.decl.locals[stepName(t.Traversal)] == nil {
			break
		}
		t, ok = ev.files.decl.locals[stepName(t.Traversal)].Expr.(*hclsyntax.ScopeTraversalExpr)
	}
	return ok && t.Traversal.RootName() == "var" && ev.variables[stepName(t.Traversal)].typed
}
