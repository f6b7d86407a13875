package command

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
)

// A body may hold placeholders while no environment is needed: what env() would
// give. A plugin is never asked about one, but about the rest of the body, with
// the placeholders left out and with something in their place. What it says
// both times of an argument that is known does not depend on them.

// settled are the faults of a body with placeholders that stay whatever they
// are.
func settled(body cty.Value, ask func(cty.Value) diag.List) diag.List {
	without, filled := ask(replace(body, cty.NullVal)), ask(replace(body, filler))
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

// replace puts something in place of every value that is not known.
func replace(body cty.Value, by func(cty.Type) cty.Value) cty.Value {
	// The callback never fails, so neither does the walk.
	out, _ := cty.Transform(body, func(_ cty.Path, v cty.Value) (cty.Value, error) {
		if !v.IsKnown() {
			return by(v.Type()), nil
		}
		return v, nil
	})
	return out
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
