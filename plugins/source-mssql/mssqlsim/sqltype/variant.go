package sqltype

import (
	"cmp"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/collation"
)

// family is the data type family of what is in a sql_variant: a value of a greater one is the greater value (Microsoft: sql_variant
// (Transact-SQL), Comparing sql_variant Values).
func (t Type) family() int {
	switch t.Class() {
	case ClassTime:
		return 6
	case ClassFloat:
		return 5
	case ClassDecimal, ClassInt, ClassBit:
		return 4
	case ClassString:
		return 3
	case ClassBinary:
		return 2
	case ClassGUID:
		return 1
	}
	return 0
}

// compareVariants orders what is in two sql_variants: by their families, within one by what the values are once they have one type
// (Microsoft: sql_variant (Transact-SQL), Comparing sql_variant Values). This is one order of all values, so that keys, groups and
// sorted rows agree: dates are compared as instants, and all text as Unicode, where a server might convert a pair otherwise. See
// VariantDoubt.
func compareVariants(a, b Value) int {
	s, t := a.Base(), b.Base()
	if c := cmp.Compare(s.family(), t.family()); c != 0 {
		return c
	}
	switch s.Class() {
	case ClassTime:
		return cmp.Compare(a.n, b.n)
	case ClassFloat:
		return cmp.Compare(a.Float(), b.Float())
	case ClassString:
		x, y := a.ordering(), b.ordering()
		if c := compareCollations(x, y); c != 0 {
			return c
		}
		return CompareText(a.s, b.s, x)
	case ClassBinary:
		return compareBinary(a.s, b.s)
	case ClassGUID:
		return compareGUID(a.s, b.s)
	}
	return compareDec(exact(a), exact(b))
}

// variantKey is AppendKey of what is in a sql_variant.
func (v Value) variantKey(b []byte) []byte {
	t := v.Base()
	b = append(b, byte(t.family()))
	switch t.Class() {
	case ClassTime:
		return FromTicks(v.n).AppendKey(b, t)
	case ClassInt, ClassBit:
		return FromScaled(v.n, 0).AppendKey(b, Dec(38, 0))
	case ClassString:
		t = v.ordering()
		if c, ok := collation.Find(t.Collation); ok {
			five := c.Bytes()
			b = append(b, five[:]...)
		}
	}
	return v.unvaried().AppendKey(b, t)
}

// ordering is the type that the text in a sql_variant is compared by.
func (v Value) ordering() Type {
	t := Str(NVarChar, 4000)
	if t.Collation = v.Base().Collation; t.Collation == "" {
		t.Collation = DefaultCollation
	}
	return t
}

// compareCollations orders the collations of two texts: by locale, version, what they ignore and sort order, as integers (Microsoft:
// sql_variant (Transact-SQL), Comparing sql_variant Values).
func compareCollations(x, y Type) int {
	if x.Collation == y.Collation {
		return 0
	}
	c, known := collation.Find(x.Collation)
	d, also := collation.Find(y.Collation)
	if !known || !also {
		return strings.Compare(x.Collation, y.Collation)
	}
	return cmp.Or(cmp.Compare(c.LCID, d.LCID), cmp.Compare(c.Version, d.Version), cmp.Compare(c.Style(), d.Style()), cmp.Compare(c.Flags, d.Flags), cmp.Compare(c.SortID, d.SortID))
}

// VariantDoubt is the error of comparing two values of sql_variant where a server might have another answer than the one order of all
// values that there is here: it converts one of two dates to the type of the other, which may lose its offset or round it, and compares
// text that is not Unicode by the rules of its code page.
func VariantDoubt(a, b Value) error {
	if a.IsNull() || b.IsNull() {
		return nil
	}
	s, t := a.Base(), b.Base()
	switch {
	case s.Class() == ClassTime && t.Class() == ClassTime && s.Kind != t.Kind:
		for _, p := range [2]struct {
			v        Value
			from, to Type
		}{{a, s, t}, {b, t, s}} {
			lost := p.from.Kind == DateTimeOffset && p.v.Offset() != 0
			if p.to.Kind == DateTime || p.to.Kind == SmallDateTime {
				w, err := Convert(p.v.unvaried(), p.from, p.to, 0)
				lost = lost || p.from.Kind != DateTime2 && (err != nil || w.n != p.v.n)
			}
			if lost {
				return Unsupported("sql_variant values of %s and %s compared, where a conversion changes one of them", s.Kind, t.Kind)
			}
		}
	case s.Class() == ClassString && t.Class() == ClassString && !s.Unicode() && !t.Unicode() && s.Collation == t.Collation:
		if CompareText(a.s, b.s, s) != CompareText(a.s, b.s, a.ordering()) {
			return Unsupported("sql_variant values of %s and %s compared, whose order as Unicode is another", s.Kind, t.Kind)
		}
	}
	return nil
}
