package mssql

import (
	"math/big"

	"github.com/zclconf/go-cty/cty"
)

// body reads arguments of a decoded block body.
type body struct{ value cty.Value }

// get returns the argument, a null when the body lacks it.
func (b body) get(name string) cty.Value {
	if b.value == cty.NilVal || b.value.IsNull() || !b.value.IsKnown() || !b.value.Type().IsObjectType() || !b.value.Type().HasAttribute(name) {
		return cty.NullVal(cty.DynamicPseudoType)
	}
	v, _ := b.value.GetAttr(name).Unmark()
	return v
}

// given reports whether the argument was written; an unknown value counts.
func (b body) given(name string) bool { return !b.get(name).IsNull() }

// unknown reports whether any argument is not known yet.
func (b body) unknown() bool {
	return b.value != cty.NilVal && !b.value.IsWhollyKnown()
}

// text is a string, number or bool argument as text, "" when it is absent.
func (b body) text(name string) string {
	v := b.get(name)
	if v.IsNull() || !v.IsKnown() {
		return ""
	}
	switch v.Type() {
	case cty.String:
		return v.AsString()
	case cty.Number:
		return v.AsBigFloat().Text('f', -1)
	case cty.Bool:
		if v.True() {
			return "true"
		}
		return "false"
	}
	return ""
}

// integer is a number argument; ok is false when it is absent, unknown or no
// integer of 63 bits.
func (b body) integer(name string) (n int64, ok bool) {
	v := b.get(name)
	if v.IsNull() || !v.IsKnown() || v.Type() != cty.Number {
		return 0, false
	}
	n, acc := v.AsBigFloat().Int64()
	return n, acc == big.Exact
}

// boolean is a bool argument, def when it is absent.
func (b body) boolean(name string, def bool) bool {
	v := b.get(name)
	if v.IsNull() || !v.IsKnown() || v.Type() != cty.Bool {
		return def
	}
	return v.True()
}

// texts is a list, set or tuple of strings.
func (b body) texts(name string) []string {
	v := b.get(name)
	if v.IsNull() || !v.IsWhollyKnown() || !v.CanIterateElements() {
		return nil
	}
	var out []string
	for it := v.ElementIterator(); it.Next(); {
		_, e := it.Element()
		if !e.IsNull() && e.Type() == cty.String {
			out = append(out, e.AsString())
		}
	}
	return out
}
