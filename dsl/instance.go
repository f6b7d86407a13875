package dsl

import (
	"fmt"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/addr"
)

// instance is one element of a for_each.
type instance struct {
	key   string
	value cty.Value
	// rows is the block's for_each.
	rows hclsyntax.Expression
}

// keyed reports whether a block has for_each, which is known from its text.
func (ev *evaluator) keyed(b block) bool {
	_, ok := b.Body.Attributes["for_each"]
	return ok && isForEach(addr.Kind(b.Type))
}

func isForEach(kind addr.Kind) bool {
	_, ok := kindArguments(kind).argument("for_each")
	return ok
}

// instances evaluates for_each, sorted by key.
func (ev *evaluator) instances(kind addr.Kind, b block) ([]instance, bool) {
	attr := b.Body.Attributes["for_each"]
	at := b.in(attr.SrcRange)
	sc := ev.scopeOf(kind, b, nil)
	v, ok := sc.evaluate(attr.Expr)
	if !ok {
		return nil, false
	}
	// Marks of the collection itself lie on its keys; those deeper lie on
	// values and stay there.
	v, marks := v.Unmark()
	if _, secret := marks[sensitive]; secret {
		ev.report.error(at, codeForEachSensitive, "for_each is sensitive", "Its keys become parts of addresses, which are shown. Take the keys from a value that is not sensitive.")
		return nil, false
	}
	t := v.Type()
	switch {
	case !v.IsKnown():
		// Something that it depends on has been reported.
		return nil, false
	case v.IsNull():
		ev.report.error(at, codeForEach, "for_each is null", "Give it a map, a set of texts, or a block with for_each. An empty map, {}, makes no instance.")
		return nil, false
	case isCapsule(t):
		ev.report.error(at, codeForEach, fmt.Sprintf("%s has no for_each, so there is nothing to repeat", ev.files.text(attr.Expr.Range())),
			"Remove this for_each, or give that block one.")
		return nil, false
	case t.IsListType() || t.IsTupleType():
		ev.report.error(at, codeForEach, "for_each is a list", "A list has no keys to make addresses of. Write: for_each = toset([...]).")
		return nil, false
	case !t.IsMapType() && !t.IsObjectType() && !t.IsSetType():
		ev.report.error(at, codeForEach, fmt.Sprintf("for_each is %s", typeName(t)), "Give it a map, a set of texts, or a block with for_each.")
		return nil, false
	}
	var fileMarks cty.ValueMarks = marks
	out := []instance{}
	for it := v.ElementIterator(); it.Next(); {
		k, value := it.Element()
		if t.IsSetType() {
			if value.IsNull() || !value.IsKnown() || value.Type() != cty.String {
				ev.report.error(at, codeForEach, "for_each is a set of something else than texts", "The elements become parts of addresses. Write: for_each = toset([\"a\", \"b\"]).")
				return nil, false
			}
			k = value
		}
		key := k.AsString()
		if key == "" {
			ev.report.error(at, codeForEach, "for_each has an empty key", "Every key becomes part of an address; give it a text.")
			return nil, false
		}
		out = append(out, instance{key: key, value: value.WithMarks(fileMarks), rows: attr.Expr})
	}
	// ElementIterator goes through maps and sets of texts in the order of
	// their keys, objects likewise.
	ev.checkRows(b, attr, v)
	return out, true
}

// scopeOf is the scope of the expressions of one instance of a block.
func (ev *evaluator) scopeOf(kind addr.Kind, b block, in *instance) *scope {
	sc := &scope{ev: ev, rank: rankOf(kind), subject: "A " + string(kind), header: b.header(), address: b.address(), each: in}
	if in != nil {
		sc.address = addr.Instance(kind, b.name, in.key)
	}
	return sc
}

// rankOf is the number of kinds that a block of the kind may refer to. Source
// and sink stand side by side.
func rankOf(kind addr.Kind) int {
	for i, k := range addr.Kinds() {
		if k == kind && kind != addr.Sink {
			return i
		}
	}
	return 0
}

// constantScope is the scope of expressions that must not refer to anything.
func (ev *evaluator) constantScope(b block, subject string) *scope {
	return &scope{ev: ev, rank: -1, subject: subject, header: b.header()}
}
