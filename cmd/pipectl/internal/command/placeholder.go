package command

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/schema"
)

// A body may hold placeholders while no environment is needed: what env() would
// give. A plugin is never asked about one, but about the rest of the body, with
// the placeholders left out where that is allowed, and with something in their
// place. What it says both times of an argument that is known does not depend
// on them.

// settled are the faults of a body with placeholders that stay whatever they
// are.
func settled(s schema.Body, body cty.Value, ask func(cty.Value) diag.List) diag.List {
	without, filled := ask(replace(s, body, true)), ask(replace(s, body, false))
	var out diag.List
	for _, d := range without {
		same := func(e diag.Diagnostic) bool {
			return e.Code == d.Code && e.Summary == d.Summary && e.Path.String() == d.Path.String()
		}
		if given(body, d.Path) && slices.ContainsFunc(filled, same) {
			out = append(out, d)
		}
	}
	return out
}

// replace puts something in place of every value that is not known, as the
// schema allows it: its default, nothing where without is true, or any value.
func replace(s schema.Body, body cty.Value, without bool) cty.Value {
	if body.IsNull() || !body.IsKnown() {
		return cty.NullVal(s.ImpliedType())
	}
	values := map[string]cty.Value{}
	for _, a := range s.Attributes {
		v := body.GetAttr(a.Name)
		switch {
		case v.IsWhollyKnown():
		case !v.IsKnown() && a.Default != cty.NilVal:
			v = a.Default
		case !v.IsKnown() && !a.Required && without:
			v = cty.NullVal(a.Type)
		case !v.IsKnown() && len(a.Values) > 0:
			v = cty.StringVal(a.Values[0])
		default:
			// The callback never fails, so neither does the walk.
			v, _ = cty.Transform(v, func(_ cty.Path, part cty.Value) (cty.Value, error) {
				if part.IsKnown() {
					return part, nil
				}
				return filler(part.Type()), nil
			})
		}
		values[a.Name] = v
	}
	for _, nested := range s.Blocks {
		v := body.GetAttr(nested.Name)
		switch {
		case v.IsNull() || !v.IsKnown() || (nested.Labeled || nested.Repeated) && v.LengthInt() == 0:
		case nested.Labeled:
			parts := v.AsValueMap()
			for label, part := range parts {
				parts[label] = replace(nested.Body, part, without)
			}
			v = cty.MapVal(parts)
		case nested.Repeated:
			parts := v.AsValueSlice()
			for i, part := range parts {
				parts[i] = replace(nested.Body, part, without)
			}
			v = cty.ListVal(parts)
		default:
			v = replace(nested.Body, v, without)
		}
		values[nested.Name] = v
	}
	return cty.ObjectVal(values)
}

// filler is any value of a type.
func filler(t cty.Type) cty.Value {
	switch {
	case t == cty.String:
		return cty.StringVal("placeholder")
	case t == cty.Number:
		return cty.NumberIntVal(1)
	case t == cty.Bool:
		return cty.True
	case t.IsListType():
		return cty.ListValEmpty(t.ElementType())
	case t.IsSetType():
		return cty.SetValEmpty(t.ElementType())
	case t.IsMapType():
		return cty.MapValEmpty(t.ElementType())
	}
	return cty.NullVal(t)
}

// given reports whether the path leads to a value that was written and is
// known.
func given(body cty.Value, path diag.Path) bool {
	if len(path) == 0 {
		return false
	}
	v := body
	for _, step := range path {
		if v == cty.NilVal || !v.IsKnown() || v.IsNull() {
			return false
		}
		t := v.Type()
		switch step := step.(type) {
		case string:
			switch {
			case t.IsObjectType() && t.HasAttribute(step):
				v = v.GetAttr(step)
			case t.IsMapType() && v.HasIndex(cty.StringVal(step)).True():
				v = v.Index(cty.StringVal(step))
			default:
				return false
			}
		case int:
			if !(t.IsListType() || t.IsTupleType()) || !v.HasIndex(cty.NumberIntVal(int64(step))).True() {
				return false
			}
			v = v.Index(cty.NumberIntVal(int64(step)))
		default:
			return false
		}
	}
	return v.IsWhollyKnown() && !v.IsNull()
}
