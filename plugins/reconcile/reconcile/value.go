package reconcile

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/pipectl/pipectl/core/diag"
)

// The canonical form of a value: a marker, then for values that are there
//
//	integers, dates, timestamps  8 bytes, big endian, sign flipped; timestamps in microseconds
//	decimals                     16 bytes likewise, at the scale of the source's schema
//	floats                       8 bytes; one NaN, one zero; a float32 as the double equal to it
//	booleans                     1 byte
//	texts and byte strings       length as uvarint, then the bytes
//
// Two values are equal exactly when their forms are. Forms tell where they
// end, so a row is the forms of its columns one after the other. Integers,
// dates and times sort by their forms.
const (
	markNull = 0
	markSet  = 1
	// markMisfit stands before a value that the source's type cannot hold; it
	// equals no value of the source.
	markMisfit = 2
)

// form is which of the canonical forms a column has.
type form byte

const (
	formInt form = iota
	formDecimal
	formFloat
	formBool
	formBytes
)

// kind is a column as the source's schema has it: its values are compared in
// that type, whatever type another table keeps them in.
type kind struct {
	name string
	typ  arrow.DataType
	form form
}

func kindOf(f arrow.Field) (kind, error) {
	k := kind{name: f.Name, typ: f.Type}
	switch f.Type.ID() {
	case arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.UINT8, arrow.DATE32, arrow.TIMESTAMP:
		k.form = formInt
	case arrow.DECIMAL128:
		k.form = formDecimal
	case arrow.FLOAT32, arrow.FLOAT64:
		k.form = formFloat
	case arrow.BOOL:
		k.form = formBool
	case arrow.STRING, arrow.LARGE_STRING, arrow.BINARY, arrow.LARGE_BINARY:
		k.form = formBytes
	default:
		return k, diag.Errorf(diag.KindUnsupported, "reconcile.type", "Leave the column out of the table, or read it as another type.",
			"Column %q of type %s cannot be compared", f.Name, f.Type).Err()
	}
	return k, nil
}

// column appends the canonical form of one value of one batch.
type column interface {
	appendTo(dst []byte, row int) []byte
}

// bind reads an array as a column of the kind; nil is a column that is absent
// and counts as NULL. An array of a type whose values cannot be of the kind is
// an error.
func (k kind) bind(a arrow.Array) (column, error) {
	switch a := a.(type) {
	case nil:
		return absent{}, nil
	case *array.Int8:
		return bindInts(k, a, a.Int8Values())
	case *array.Int16:
		return bindInts(k, a, a.Int16Values())
	case *array.Int32:
		return bindInts(k, a, a.Int32Values())
	case *array.Int64:
		return bindInts(k, a, a.Int64Values())
	case *array.Uint8:
		return bindInts(k, a, a.Uint8Values())
	case *array.Date32:
		if k.typ.ID() == arrow.DATE32 {
			return ints[arrow.Date32]{a.Date32Values(), nullsOf(a)}, nil
		}
	case *array.Timestamp:
		if k.typ.ID() == arrow.TIMESTAMP {
			return stamps{a.TimestampValues(), nullsOf(a), a.DataType().(*arrow.TimestampType).Unit}, nil
		}
	case *array.Decimal128:
		if k.form == formDecimal {
			return decimals{a.Values(), nullsOf(a), a.DataType().(*arrow.Decimal128Type).Scale, k.typ.(*arrow.Decimal128Type)}, nil
		}
	case *array.Float32:
		if k.form == formFloat {
			return floats[float32]{a.Float32Values(), nullsOf(a), k.typ.ID() == arrow.FLOAT32}, nil
		}
	case *array.Float64:
		if k.form == formFloat {
			return floats[float64]{a.Float64Values(), nullsOf(a), k.typ.ID() == arrow.FLOAT32}, nil
		}
	case *array.Boolean:
		if k.form == formBool {
			return booleans{a, nullsOf(a)}, nil
		}
	case *array.String:
		return k.bindTexts(a, a.Value)
	case *array.LargeString:
		return k.bindTexts(a, a.Value)
	case *array.Binary:
		return k.bindTexts(a, a.ValueString)
	case *array.LargeBinary:
		return k.bindTexts(a, a.ValueString)
	}
	return nil, k.mismatch(a)
}

func (k kind) mismatch(a arrow.Array) error {
	return diag.Errorf(diag.KindSchemaChanged, "reconcile.type_changed",
		"Values of these types cannot be compared. Build the table anew under another name, or change the column's type.",
		"Column %q is %s at the source and %s in the table compared with it", k.name, k.typ, a.DataType()).Err()
}

// bindTexts lets texts be compared with texts, byte strings with byte strings.
func (k kind) bindTexts(a arrow.Array, value func(int) string) (column, error) {
	text := func(id arrow.Type) bool { return id == arrow.STRING || id == arrow.LARGE_STRING }
	if k.form != formBytes || text(k.typ.ID()) != text(a.DataType().ID()) {
		return nil, k.mismatch(a)
	}
	return texts{value, nullsOf(a)}, nil
}

func bindInts[T int8 | int16 | int32 | int64 | uint8](k kind, a arrow.Array, values []T) (column, error) {
	if k.form != formInt || !arrow.IsInteger(k.typ.ID()) {
		return nil, k.mismatch(a)
	}
	return ints[T]{values, nullsOf(a)}, nil
}

// nulls is nil when an array has no NULL.
type nulls struct{ arrow.Array }

func nullsOf(a arrow.Array) *nulls {
	if a.NullN() == 0 {
		return nil
	}
	return &nulls{a}
}

func (n *nulls) at(row int) bool { return n != nil && n.IsNull(row) }

type absent struct{}

func (absent) appendTo(dst []byte, _ int) []byte { return append(dst, markNull) }

type ints[T int8 | int16 | int32 | int64 | uint8 | arrow.Date32] struct {
	values []T
	nulls  *nulls
}

func (c ints[T]) appendTo(dst []byte, row int) []byte {
	if c.nulls.at(row) {
		return append(dst, markNull)
	}
	return appendInt(dst, int64(c.values[row]))
}

const signBit = 1 << 63

func appendInt(dst []byte, v int64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, markSet), uint64(v)^signBit)
}

type stamps struct {
	values []arrow.Timestamp
	nulls  *nulls
	unit   arrow.TimeUnit
}

func (c stamps) appendTo(dst []byte, row int) []byte {
	if c.nulls.at(row) {
		return append(dst, markNull)
	}
	v := int64(c.values[row])
	switch c.unit {
	case arrow.Second:
		v *= 1_000_000
	case arrow.Millisecond:
		v *= 1_000
	case arrow.Nanosecond:
		v = floorDiv(v, 1_000)
	}
	return appendInt(dst, v)
}

type decimals struct {
	values []decimal128.Num
	nulls  *nulls
	scale  int32
	want   *arrow.Decimal128Type
}

func (c decimals) appendTo(dst []byte, row int) []byte {
	if c.nulls.at(row) {
		return append(dst, markNull)
	}
	v, mark := c.values[row], byte(markSet)
	if c.scale != c.want.Scale {
		scaled, err := v.Rescale(c.scale, c.want.Scale)
		if err != nil || !scaled.FitsInPrecision(c.want.Precision) {
			mark = markMisfit
		} else {
			v = scaled
		}
	}
	dst = binary.BigEndian.AppendUint64(append(dst, mark), uint64(v.HighBits())^signBit)
	return binary.BigEndian.AppendUint64(dst, v.LowBits())
}

type floats[T float32 | float64] struct {
	values []T
	nulls  *nulls
	// single compares in float32, the source's type.
	single bool
}

func (c floats[T]) appendTo(dst []byte, row int) []byte {
	if c.nulls.at(row) {
		return append(dst, markNull)
	}
	v := float64(c.values[row])
	if c.single {
		v = float64(float32(v))
	}
	switch {
	case v != v:
		v = math.NaN()
	case v == 0:
		v = 0 // of either sign
	}
	return binary.BigEndian.AppendUint64(append(dst, markSet), math.Float64bits(v))
}

type booleans struct {
	values *array.Boolean
	nulls  *nulls
}

func (c booleans) appendTo(dst []byte, row int) []byte {
	switch {
	case c.nulls.at(row):
		return append(dst, markNull)
	case c.values.Value(row):
		return append(dst, markSet, 1)
	}
	return append(dst, markSet, 0)
}

type texts struct {
	value func(int) string
	nulls *nulls
}

func (c texts) appendTo(dst []byte, row int) []byte {
	if c.nulls.at(row) {
		return append(dst, markNull)
	}
	v := c.value(row)
	return append(binary.AppendUvarint(append(dst, markSet), uint64(len(v))), v...)
}

// next splits the form of one value off a row.
func (k kind) next(row []byte) (value, rest []byte, err error) {
	n := 1
	if len(row) > 0 && row[0] != markNull {
		switch k.form {
		case formInt, formFloat:
			n += 8
		case formDecimal:
			n += 16
		case formBool:
			n++
		case formBytes:
			size, used := binary.Uvarint(row[1:])
			if used <= 0 || size > uint64(len(row)) {
				return nil, nil, fmt.Errorf("a value of column %q is cut off", k.name)
			}
			n += used + int(size)
		}
	}
	if n > len(row) {
		return nil, nil, fmt.Errorf("a value of column %q is cut off", k.name)
	}
	return row[:n], row[n:], nil
}

// floorDiv divides rounding down, for negative numbers too; b is positive.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
