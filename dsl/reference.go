package dsl

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
)

// referenceTypes are the types of references, one per kind of block, so that
// "a silver where a table belongs" is a plain difference of types. A capsule
// type is equal only to itself, hence one value for the whole package.
var referenceTypes = func() map[addr.Kind]cty.Type {
	types := map[addr.Kind]cty.Type{}
	for _, k := range addr.Kinds() {
		types[k] = cty.Capsule(string(k), reflect.TypeFor[addr.Address]())
	}
	return types
}()

func referenceValue(a addr.Address) cty.Value {
	return cty.CapsuleVal(referenceTypes[a.Kind], &a)
}

// isCapsule reports whether t is the type of a reference.
func isCapsule(t cty.Type) bool {
	return t.IsCapsuleType() && t.EncapsulatedType() == reflect.TypeFor[addr.Address]()
}

// kindOf is the kind that a reference of type t leads to.
func kindOf(t cty.Type) addr.Kind {
	for k, rt := range referenceTypes {
		if rt.Equals(t) {
			return k
		}
	}
	return ""
}

// refersToInstances reports whether v is what a reference to a block with
// for_each evaluates to: a map of references.
func refersToInstances(v cty.Value) bool {
	if v.Type().IsMapType() {
		return isCapsule(v.Type().ElementType())
	}
	if !v.Type().IsObjectType() || v.IsNull() || !v.IsKnown() {
		return false
	}
	for _, t := range v.Type().AttributeTypes() {
		if isCapsule(t) {
			return true
		}
	}
	return false
}

// hasReference reports whether a reference is anywhere in the type.
func hasReference(t cty.Type) bool {
	switch {
	case t.IsCapsuleType():
		return true
	case t.IsCollectionType():
		return hasReference(t.ElementType())
	case t.IsTupleType():
		return slices.ContainsFunc(t.TupleElementTypes(), hasReference)
	case t.IsObjectType():
		for _, at := range t.AttributeTypes() {
			if hasReference(at) {
				return true
			}
		}
	}
	return false
}

// address reads a reference to a block of the kind out of v, which has no
// marks. It returns what is wrong as code, summary and detail.
func (ev *evaluator) addressOf(v cty.Value, kind addr.Kind, written string) (a addr.Address, code, summary, detail string) {
	t := v.Type()
	article := "a " + string(kind)
	switch {
	case isCapsule(t) && kindOf(t) == kind:
		return *v.EncapsulatedValue().(*addr.Address), "", "", ""
	case isCapsule(t):
		return a, codeRefKind, fmt.Sprintf("A reference to %s belongs here, and %s is a %s", article, written, kindOf(t)),
			sentences(fmt.Sprintf("Write %s.NAME.", kind), ev.declaredOf(kind))
	case refersToInstances(v):
		return a, codeRefInstance, fmt.Sprintf("%s has for_each; one of its instances belongs here", written), fmt.Sprintf("Write %s[each.key].", written)
	case t == cty.String:
		if ref, err := addr.Parse(v.AsString()); err == nil {
			return a, codeRefQuoted, "A reference is written without quotes", "Write " + ref.String() + "."
		}
		return a, codeRefKind, fmt.Sprintf("A reference to %s belongs here, not a text", article), sentences(fmt.Sprintf("Write %s.NAME, without quotes.", kind), ev.declaredOf(kind))
	}
	return a, codeRefKind, fmt.Sprintf("A reference to %s belongs here, not %s", article, typeName(t)), sentences(fmt.Sprintf("Write %s.NAME.", kind), ev.declaredOf(kind))
}

func (ev *evaluator) declaredOf(kind addr.Kind) string {
	names := ev.files.decl.names(kind)
	if len(names) == 0 {
		return fmt.Sprintf("This configuration declares no %s.", kind)
	}
	return "This configuration declares: " + diag.Listed(names) + "."
}

// typeName names a type in a sentence, with its article.
func typeName(t cty.Type) string {
	switch {
	case t == cty.String:
		return "a text"
	case t == cty.Number:
		return "a number"
	case t == cty.Bool:
		return "a bool"
	case isCapsule(t):
		return "a reference to a " + string(kindOf(t))
	case t.IsListType(), t.IsTupleType():
		return "a list"
	case t.IsSetType():
		return "a set"
	case t.IsMapType(), t.IsObjectType():
		return "a map"
	case t == cty.DynamicPseudoType:
		return "null"
	}
	return "a " + t.FriendlyName()
}
