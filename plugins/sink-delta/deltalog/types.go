package deltalog

import (
	"fmt"
	"strconv"
	"strings"
)

// Type is the type of a column, a field, an element, a key or a value: a
// Primitive, a Decimal, a *Struct, an *Array or a *Map. There are no others.
// String gives the Delta name of simple types and a readable form of the rest.
type Type interface {
	fmt.Stringer
	isType()
}

// Primitive is a type without parameters (Delta protocol: Primitive Types).
type Primitive string

// The primitive types.
const (
	String  Primitive = "string"
	Long    Primitive = "long"    // 64 bits
	Integer Primitive = "integer" // 32 bits
	Short   Primitive = "short"   // 16 bits
	Byte    Primitive = "byte"    // 8 bits, signed
	Float   Primitive = "float"   // 32 bits
	Double  Primitive = "double"  // 64 bits
	Boolean Primitive = "boolean"
	Binary  Primitive = "binary"
	Date    Primitive = "date" // days
	// Timestamp is an instant in microseconds since 1970 UTC.
	Timestamp Primitive = "timestamp"
	// TimestampNTZ is a wall clock reading in microseconds since 1970, without
	// a zone. It needs the feature timestampNtz.
	TimestampNTZ Primitive = "timestamp_ntz"
	// Void holds nothing but nulls and stands in no data file.
	Void Primitive = "void"
	// Variant needs the feature variantType.
	Variant Primitive = "variant"
)

func (p Primitive) isType()        {}
func (p Primitive) String() string { return string(p) }

// Decimal is an exact number of Precision digits (1 to 38), Scale of them
// behind the point (0 to Precision).
type Decimal struct {
	Precision, Scale int
}

func (d Decimal) isType() {}
func (d Decimal) String() string {
	return "decimal(" + strconv.Itoa(d.Precision) + "," + strconv.Itoa(d.Scale) + ")"
}

// Struct is a list of named fields; also the schema of a table.
type Struct struct {
	Fields []Field
}

func (s *Struct) isType() {}
func (s *Struct) String() string {
	var b strings.Builder
	b.WriteString("struct<")
	for i, f := range s.Fields {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(f.Name + ":" + f.Type.String())
	}
	b.WriteByte('>')
	return b.String()
}

// Array is a list of elements of one type.
type Array struct {
	Element      Type
	ContainsNull bool
}

func (a *Array) isType()        {}
func (a *Array) String() string { return "array<" + a.Element.String() + ">" }

// Map is a set of pairs. Keys are never null.
type Map struct {
	Key, Value        Type
	ValueContainsNull bool
}

func (m *Map) isType()        {}
func (m *Map) String() string { return "map<" + m.Key.String() + "," + m.Value.String() + ">" }

// Field is a column of a table or a field of a struct.
type Field struct {
	// Name is the display name.
	Name     string
	Type     Type
	Nullable bool
	// Metadata is kept as it is, unknown keys too; nil is none. It is shared:
	// use the With methods to change it.
	Metadata FieldMetadata
}

// Field returns the field of that name, ignoring case, as Delta compares
// names, and its position; -1 and a zero Field when there is none.
func (s *Struct) Field(name string) (Field, int) {
	for i, f := range s.Fields {
		if f.Name == name {
			return f, i
		}
	}
	for i, f := range s.Fields {
		if strings.EqualFold(f.Name, name) {
			return f, i
		}
	}
	return Field{}, -1
}

// Equal reports whether two types are the same, nullability and metadata of
// fields included.
func Equal(a, b Type) bool { return sameType(a, b, true) }

// EqualData reports whether two types hold the same values: names, types and
// order are compared, nullability and metadata are not.
func EqualData(a, b Type) bool { return sameType(a, b, false) }

func sameType(a, b Type, exact bool) bool {
	switch a := a.(type) {
	case *Struct:
		b, ok := b.(*Struct)
		if !ok || len(a.Fields) != len(b.Fields) {
			return false
		}
		for i, f := range a.Fields {
			g := b.Fields[i]
			if f.Name != g.Name || !sameType(f.Type, g.Type, exact) {
				return false
			}
			if exact && (f.Nullable != g.Nullable || !f.Metadata.equal(g.Metadata)) {
				return false
			}
		}
		return true
	case *Array:
		b, ok := b.(*Array)
		return ok && sameType(a.Element, b.Element, exact) && (!exact || a.ContainsNull == b.ContainsNull)
	case *Map:
		b, ok := b.(*Map)
		return ok && sameType(a.Key, b.Key, exact) && sameType(a.Value, b.Value, exact) &&
			(!exact || a.ValueContainsNull == b.ValueContainsNull)
	default:
		return a == b
	}
}

// walkFields calls visit for every field at every depth with the display names
// on the way to it, until visit returns false.
func walkFields(t Type, path []string, visit func(path []string, f *Field) bool) bool {
	switch t := t.(type) {
	case *Struct:
		for i := range t.Fields {
			f := &t.Fields[i]
			p := append(path[:len(path):len(path)], f.Name)
			if !visit(p, f) || !walkFields(f.Type, p, visit) {
				return false
			}
		}
	case *Array:
		return walkFields(t.Element, append(path[:len(path):len(path)], "element"), visit)
	case *Map:
		return walkFields(t.Key, append(path[:len(path):len(path)], "key"), visit) &&
			walkFields(t.Value, append(path[:len(path):len(path)], "value"), visit)
	}
	return true
}

// clone returns a deep copy of t; metadata maps are shared, since they are
// never changed in place.
func clone(t Type) Type {
	switch t := t.(type) {
	case *Struct:
		c := &Struct{Fields: make([]Field, len(t.Fields))}
		for i, f := range t.Fields {
			f.Type = clone(f.Type)
			c.Fields[i] = f
		}
		return c
	case *Array:
		return &Array{Element: clone(t.Element), ContainsNull: t.ContainsNull}
	case *Map:
		return &Map{Key: clone(t.Key), Value: clone(t.Value), ValueContainsNull: t.ValueContainsNull}
	default:
		return t
	}
}

// Clone returns a deep copy.
func (s *Struct) Clone() *Struct { return clone(s).(*Struct) }
