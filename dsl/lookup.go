package dsl

import (
	"errors"
	"fmt"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
)

// lookupFunction is lookup(MAP, KEY, DEFAULT). The one of go-cty takes no null
// as default, which is how a row says "as if it were left out".
var lookupFunction = function.New(&function.Spec{
	Params: []function.Parameter{
		{Name: "map", Type: cty.DynamicPseudoType, AllowMarked: true},
		{Name: "key", Type: cty.String, AllowMarked: true},
		{Name: "default", Type: cty.DynamicPseudoType, AllowNull: true, AllowMarked: true, AllowUnknown: true, AllowDynamicType: true},
	},
	Type: func(args []cty.Value) (cty.Type, error) {
		v, err := lookup(args[0], args[1], args[2])
		if err != nil {
			return cty.NilType, err
		}
		return v.Type(), nil
	},
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		return lookup(args[0], args[1], args[2])
	},
})

func lookup(collection, key, fallback cty.Value) (cty.Value, error) {
	collection, collectionMarks := collection.Unmark()
	key, keyMarks := key.Unmark()
	t := collection.Type()
	if !t.IsObjectType() && !t.IsMapType() && t != cty.DynamicPseudoType {
		return cty.NilVal, function.NewArgErrorf(0, "a map is needed, not %s", typeName(t))
	}
	if !collection.IsKnown() || !key.IsKnown() {
		return cty.DynamicVal.WithMarks(collectionMarks, keyMarks), nil
	}
	if collection.IsNull() || key.IsNull() {
		return cty.NilVal, errors.New("map and key must not be null")
	}
	name := key.AsString()
	var found cty.Value
	switch {
	case t.IsObjectType() && t.HasAttribute(name):
		found = collection.GetAttr(name)
	case t.IsMapType() && collection.HasIndex(key).True():
		found = collection.Index(key)
	default:
		found = fallback
		if t.IsMapType() {
			converted, err := convert.Convert(fallback, t.ElementType())
			if err != nil {
				return cty.NilVal, function.NewArgError(2, fmt.Errorf("the elements of the map are %s: %w", t.ElementType().FriendlyName(), err))
			}
			found = converted
		}
	}
	return found.WithMarks(collectionMarks, keyMarks), nil
}
