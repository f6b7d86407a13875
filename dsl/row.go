package dsl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/nearest"
)

// verdict tells whether something reads an attribute of a row.
type verdict int

const (
	unread verdict = iota
	// hiddenUse: something takes the row as a whole, and may read it.
	hiddenUse
	read
)

// on tells what a demand means for the attribute at a path.
func (d demand) on(path []string) verdict {
	if !compatible(d.path, path) {
		return unread
	}
	missing := len(path) - len(d.path)
	last := ""
	if missing <= 0 {
		last = d.path[len(path)-1]
	}
	switch {
	case missing <= 0 && !wild(last), missing < 0 && last == everyStep:
		return read
	case d.use.how == looked:
		return unread
	case d.use.how == opaque, last == someStep, missing == 1 && d.use.how == named:
		return hiddenUse
	case d.use.how == taken, last == everyStep, missing == 1 && d.use.how == listed:
		return read
	}
	return unread
}

// origin is where a value of a row comes from.
type origin struct {
	root any
	path []string
}

// originsOf are what the value at a path of a for_each can come from: the
// for_each itself, and whatever it is made of.
func (ev *evaluator) originsOf(rows hclsyntax.Expression, path []string) []origin {
	out := []origin{{rows, path}}
	r := &reader{demands: &demands{decl: ev.files.decl, objects: ev.demands.objects, left: mostSteps / 100}, tracing: true}
	r.found = func(root any, path []string, u use) bool {
		if u.how != traced || slices.ContainsFunc(out, func(o origin) bool { return o.root == root && slices.Equal(o.path, path) }) {
			return false
		}
		out = append(out, origin{root, slices.Clone(path)})
		return true
	}
	r.read(rows, path, use{how: traced}, nil)
	return out
}

// used tells whether anything reads the attribute at a path of a for_each, and
// where what may read it is.
func (ev *evaluator) used(rows hclsyntax.Expression, path []string) (verdict, hcl.Range) {
	best, at := unread, hcl.Range{}
	if ev.demands.left < 0 {
		best, at = hiddenUse, rows.Range()
	}
	for _, o := range ev.originsOf(rows, path) {
		if len(o.path) == 0 || wild(o.path[len(o.path)-1]) {
			continue // it has another name there
		}
		if ev.held(o) {
			return read, hcl.Range{}
		}
		for _, d := range ev.demands.of[o.root] {
			if v := d.on(o.path); v > best {
				best, at = v, d.use.at
			}
		}
	}
	return best, at
}

// held reports whether the type of a variable names the attribute: that is then
// what its rows are held against.
func (ev *evaluator) held(o origin) bool {
	name, _ := o.root.(string)
	name, ok := strings.CutPrefix(name, "var.")
	if !ok {
		return false
	}
	t := ev.variables[name].typ
	for _, step := range o.path {
		switch {
		case t == cty.NilType || t == cty.DynamicPseudoType:
			return false
		case t.IsMapType() || t.IsListType() || t.IsSetType():
			t = t.ElementType()
		case t.IsObjectType() && t.HasAttribute(step):
			t = t.AttributeType(step)
			ok = true
		default:
			return false
		}
	}
	return ok
}

// namesAt are the names that something reads at a path of a for_each.
func (ev *evaluator) namesAt(rows hclsyntax.Expression, path []string) []string {
	names := map[string]bool{}
	for _, o := range ev.originsOf(rows, path) {
		for _, d := range ev.demands.of[o.root] {
			if n := len(o.path); len(d.path) > n && !wild(d.path[n]) && compatible(d.path, o.path) {
				names[d.path[n]] = true
			}
		}
	}
	return sortedKeys(names)
}

// compatible reports whether two paths can be one, as far as both go.
func compatible(a, b []string) bool {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] && !wild(a[i]) && !wild(b[i]) {
			return false
		}
	}
	return true
}

// checkRows reports the attributes of rows that nothing reads: a misspelt
// "exclude" must not let a personal column through.
func (ev *evaluator) checkRows(b block, attr *hclsyntax.Attribute, v cty.Value) {
	for it := v.ElementIterator(); it.Next(); {
		k, row := it.Element()
		ev.checkRow(b, attr, []string{k.AsString()}, row)
	}
}

// checkRow holds a row, or an object in one, against what is read of it.
func (ev *evaluator) checkRow(b block, attr *hclsyntax.Attribute, path []string, row cty.Value) {
	row, _ = row.Unmark()
	if row.IsNull() || !row.IsKnown() || !row.Type().IsObjectType() {
		return
	}
	for _, name := range sortedKeys(row.Type().AttributeTypes()) {
		inner := joined(path, []string{name})
		found, hiding := ev.used(attr.Expr, inner)
		if found == read {
			ev.checkRow(b, attr, inner, row.GetAttr(name))
			continue
		}
		whole := strings.Join(inner[1:], ".")
		at := b.in(attr.SrcRange)
		if rng, ok := ev.scopeOf(addr.Kind(b.Type), b, nil).trail().keyRange(attr.Expr, pathOf(inner)); ok {
			at.rng = rng
		}
		detail := "Nothing reads it; use each.value." + whole + " or remove it."
		best := nearest.Name(name, ev.namesAt(attr.Expr, path))
		if best != "" {
			detail = fmt.Sprintf("Did you mean %s?", best)
		}
		if found == unread {
			ev.report.error(at, codeRowAttribute, fmt.Sprintf("The row %q has an attribute %q that nothing uses", path[0], whole), detail)
			continue
		}
		if best == "" {
			detail = ""
		}
		ev.report.warn(at, codeRowHidden, fmt.Sprintf("Whether anything uses the attribute %q of the row %q cannot be told", whole, path[0]),
			sentences(detail, fmt.Sprintf("In %s the row is used whole (%s), so a misspelt name in it is not found. Read attributes by their names, or make the map a variable with a type.",
				whereIs(hiding), ev.files.text(hiding))))
	}
}

func pathOf(steps []string) diag.Path {
	path := make(diag.Path, len(steps))
	for i, s := range steps {
		path[i] = s
	}
	return path
}
