package deltalog

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/big"
	"strings"
)

// ValueKind is the kind of a Value.
type ValueKind uint8

// The kinds of values. Timestamps of both Delta types are KindTimestamp.
const (
	KindNull ValueKind = iota
	KindBool
	KindInt     // all integer types
	KindFloat   // float and double
	KindDecimal // an integer times a power of ten
	KindString
	KindBinary
	KindDate      // days since 1970
	KindTimestamp // microseconds since 1970
)

// Value is one typed value of a column: a literal of a predicate, a bound of
// statistics, a partition value. The zero Value is NULL. Values do not change.
type Value struct {
	kind  ValueKind
	scale int32
	num   int64 // bool, int, date, timestamp, small decimals
	float float64
	text  string   // string, binary
	big   *big.Int // unscaled decimals that do not fit num
}

// NullValue is NULL.
func NullValue() Value { return Value{} }

// BoolValue is a boolean.
func BoolValue(b bool) Value {
	v := Value{kind: KindBool}
	if b {
		v.num = 1
	}
	return v
}

// IntValue is a value of any integer type.
func IntValue(i int64) Value { return Value{kind: KindInt, num: i} }

// FloatValue is a value of a float or double.
func FloatValue(f float64) Value { return Value{kind: KindFloat, float: f} }

// DecimalValue is unscaled times ten to the power of -scale. unscaled is kept,
// not copied.
func DecimalValue(unscaled *big.Int, scale int32) Value {
	if unscaled.IsInt64() {
		return Value{kind: KindDecimal, num: unscaled.Int64(), scale: scale}
	}
	return Value{kind: KindDecimal, big: unscaled, scale: scale}
}

// StringValue is a text.
func StringValue(s string) Value { return Value{kind: KindString, text: s} }

// BinaryValue is a sequence of bytes.
func BinaryValue(b []byte) Value { return Value{kind: KindBinary, text: string(b)} }

// DateValue is a day, counted from 1970-01-01.
func DateValue(days int32) Value { return Value{kind: KindDate, num: int64(days)} }

// TimestampValue is a timestamp or timestamp_ntz in microseconds since 1970.
func TimestampValue(micros int64) Value { return Value{kind: KindTimestamp, num: micros} }

// Kind is the kind of the value.
func (v Value) Kind() ValueKind { return v.kind }

// IsNull reports whether the value is NULL.
func (v Value) IsNull() bool { return v.kind == KindNull }

// Bool, Int, Float, Text and Bytes give the content of a value of that kind,
// and a zero value for other kinds. Int is also the days of a date and the
// microseconds of a timestamp.
func (v Value) Bool() bool { return v.kind == KindBool && v.num != 0 }

// Int is described with Bool.
func (v Value) Int() int64 {
	if v.kind == KindDecimal {
		return 0
	}
	return v.num
}

// Float is described with Bool.
func (v Value) Float() float64 { return v.float }

// Text is described with Bool.
func (v Value) Text() string { return v.text }

// Bytes is described with Bool.
func (v Value) Bytes() []byte { return []byte(v.text) }

// Decimal gives a decimal's unscaled number and scale; of an integer the scale
// is 0. The number is the caller's own.
func (v Value) Decimal() (unscaled *big.Int, scale int32) {
	if v.big != nil {
		return new(big.Int).Set(v.big), v.scale
	}
	return big.NewInt(v.num), v.scale
}

// Compare orders two values as Delta does: -1, 0 or 1. ok is false when they
// cannot be compared: one is NULL, or their kinds do not go together. Numbers
// of all kinds do, and NaN is above every number.
func Compare(a, b Value) (order int, ok bool) {
	switch {
	case a.kind == KindNull || b.kind == KindNull:
		return 0, false
	case a.kind == b.kind:
		switch a.kind {
		case KindString, KindBinary:
			return strings.Compare(a.text, b.text), true
		case KindFloat:
			return compareFloat(a.float, b.float), true
		case KindDecimal:
			if a.scale == b.scale && a.big == nil && b.big == nil {
				return cmp.Compare(a.num, b.num), true
			}
			return compareExact(a, b), true
		default:
			return cmp.Compare(a.num, b.num), true
		}
	case a.numeric() && b.numeric():
		if a.kind == KindFloat || b.kind == KindFloat {
			return compareMixed(a, b), true
		}
		return compareExact(a, b), true
	}
	return 0, false
}

func (v Value) numeric() bool {
	return v.kind == KindInt || v.kind == KindFloat || v.kind == KindDecimal
}

func compareFloat(a, b float64) int {
	switch an, bn := math.IsNaN(a), math.IsNaN(b); {
	case an && bn:
		return 0
	case an:
		return 1
	case bn:
		return -1
	}
	return cmp.Compare(a, b)
}

// compareMixed compares a float with an exact number without losing digits.
func compareMixed(a, b Value) int {
	if a.kind != KindFloat {
		return -compareMixed(b, a)
	}
	switch {
	case math.IsNaN(a.float) || math.IsInf(a.float, 1):
		return 1
	case math.IsInf(a.float, -1):
		return -1
	}
	return new(big.Rat).SetFloat64(a.float).Cmp(b.rat())
}

func (v Value) rat() *big.Rat {
	n, scale := v.Decimal()
	r := new(big.Rat).SetInt(n)
	p := new(big.Rat).SetInt(pow10(abs32(scale)))
	if scale < 0 {
		return r.Mul(r, p)
	}
	return r.Quo(r, p)
}

func compareExact(a, b Value) int {
	x, xs := a.Decimal()
	y, ys := b.Decimal()
	if xs < ys {
		x.Mul(x, pow10(ys-xs))
	} else if ys < xs {
		y.Mul(y, pow10(xs-ys))
	}
	return x.Cmp(y)
}

func abs32(n int32) int32 {
	if n < 0 {
		return -n
	}
	return n
}

func pow10(n int32) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// String is a readable form for messages.
func (v Value) String() string {
	switch v.kind {
	case KindNull:
		return "NULL"
	case KindBool:
		return fmt.Sprint(v.num != 0)
	case KindInt:
		return fmt.Sprint(v.num)
	case KindFloat:
		return formatFloat(v.float, 64)
	case KindDecimal:
		return formatDecimal(v)
	case KindString:
		return fmt.Sprintf("%q", v.text)
	case KindBinary:
		return fmt.Sprintf("0x%x", v.text)
	case KindDate:
		return formatDate(v.num)
	default:
		return formatTimestamp(v.num)
	}
}

// Equal reports whether two values are the same, NULL being equal to NULL.
func (v Value) Equal(o Value) bool {
	if v.kind == KindNull || o.kind == KindNull {
		return v.kind == o.kind
	}
	if v.kind == KindBinary && o.kind == KindBinary {
		return bytes.Equal([]byte(v.text), []byte(o.text))
	}
	order, ok := Compare(v, o)
	return ok && order == 0
}
