package sqltype

import (
	"encoding/binary"
	"math"
	"math/big"
	"strings"
	"time"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/collation"
)

type repr uint8

const (
	isNull  repr = iota
	isInt        // n; bit is 0 or 1
	isFloat      // n holds the bits
	isDec        // n with scale, or s when it does not fit: a sign and the magnitude, high byte first
	isTime       // n: 100 ns since 0001-01-01; of the UTC instant when off is used
	isStr        // s: UTF-8
	isBytes      // s
	isGUID       // s: 16 bytes in the order a person reads them
)

// Value is one value, or NULL (its zero form). It does not carry its type: whoever holds it knows it.
//
// It has few fields and is four words long, since the compiler keeps only structs that small in registers (Go's
// cmd/compile: ssa.CanSSA). One field more, and every look at a value would copy it through memory.
type Value struct {
	form
	n int64
	s string
}

// form tells how n and s are to be read.
type form struct {
	repr  repr
	scale uint8
	base  Kind  // of a sql_variant
	off   int16 // minutes east of UTC, for datetimeoffset
}

// Row is one row; index 0 is the first column. Rows that were handed out are never changed.
type Row []Value

// Size is how many bytes a row takes in memory, those of its texts too.
func (r Row) Size() int {
	n := 24 + 32*len(r) // a slice, and four words for each value
	for i := range r {
		n += len(r[i].s)
	}
	return n
}

// IsNull tells whether the value is NULL.
func (v Value) IsNull() bool { return v.repr == isNull }

// FromInt gives a value of an integer type.
func FromInt(n int64) Value { return Value{form: form{repr: isInt}, n: n} }

// FromBool gives a bit.
func FromBool(b bool) Value {
	if b {
		return Value{form: form{repr: isInt}, n: 1}
	}
	return Value{form: form{repr: isInt}}
}

// FromFloat gives a real or float.
func FromFloat(f float64) Value {
	return Value{form: form{repr: isFloat}, n: int64(math.Float64bits(f))}
}

// FromString gives a character value.
func FromString(s string) Value { return Value{form: form{repr: isStr}, s: s} }

// FromBytes gives a binary value; the bytes are held as a string because they never change.
func FromBytes(s string) Value { return Value{form: form{repr: isBytes}, s: s} }

// FromGUID gives a uniqueidentifier from 16 bytes in the order a person reads them.
func FromGUID(g [16]byte) Value { return Value{form: form{repr: isGUID}, s: string(g[:])} }

// FromScaled gives the decimal n / 10^scale.
func FromScaled(n int64, scale uint8) Value {
	return Value{form: form{repr: isDec, scale: scale}, n: n}
}

// FromBig gives the decimal n / 10^scale of any size.
func FromBig(n *big.Int, scale uint8) Value {
	if n.IsInt64() {
		return Value{form: form{repr: isDec, scale: scale}, n: n.Int64()}
	}
	sign := byte('+')
	if n.Sign() < 0 {
		sign = '-'
	}
	return Value{form: form{repr: isDec, scale: scale}, s: string(append([]byte{sign}, n.Bytes()...))}
}

// FromTicks gives a date or time from 100 ns units since 0001-01-01 00:00, on the clock the type means.
func FromTicks(n int64) Value { return Value{form: form{repr: isTime}, n: n} }

// FromTicksOffset gives a datetimeoffset from its UTC ticks and its offset in minutes.
func FromTicksOffset(utc int64, minutes int) Value {
	return Value{form: form{repr: isTime, off: int16(minutes)}, n: utc}
}

// FromTime gives a date or time as the clock of t reads, without its zone.
func FromTime(t time.Time) Value {
	_, off := t.Zone()
	return FromTicks(TicksOf(t) + int64(off)*TicksPerSecond)
}

// FromTimeOffset gives a datetimeoffset.
func FromTimeOffset(t time.Time) Value {
	_, off := t.Zone()
	return FromTicksOffset(TicksOf(t), off/60)
}

// Int gives an integer or bit.
func (v Value) Int() int64 { return v.n }

// Bool gives a bit.
func (v Value) Bool() bool { return v.n != 0 }

// Float gives a real or float.
func (v Value) Float() float64 { return math.Float64frombits(uint64(v.n)) }

// Str gives the text of a character value, or the bytes of a binary or GUID.
func (v Value) Str() string { return v.s }

// Ticks gives a date or time in 100 ns units since 0001-01-01; the UTC instant of a datetimeoffset.
func (v Value) Ticks() int64 { return v.n }

// Offset gives the minutes east of UTC of a datetimeoffset.
func (v Value) Offset() int { return int(v.off) }

// Time gives a date or time as a Go time: UTC for types without an offset.
func (v Value) Time() time.Time {
	t := TimeOf(v.n)
	if v.off != 0 {
		return t.In(time.FixedZone("", int(v.off)*60))
	}
	return t
}

// Scale gives the scale a decimal is held with.
func (v Value) Scale() uint8 { return v.scale }

// Small gives the unscaled digits of a decimal, when they fit 64 bits.
func (v Value) Small() (int64, bool) { return v.n, v.s == "" }

// Big gives the unscaled digits of a decimal.
func (v Value) Big() *big.Int {
	if v.s == "" {
		return big.NewInt(v.n)
	}
	n := new(big.Int).SetBytes([]byte(v.s[1:]))
	if v.s[0] == '-' {
		n.Neg(n)
	}
	return n
}

// Base gives the type of the value inside a sql_variant.
func (v Value) Base() Type {
	t := Type{Kind: v.base}
	switch t.Class() {
	case ClassDecimal:
		t.Prec, t.Scale = uint8(v.off), v.scale
	case ClassString:
		t.Len = int(v.off)
		if v.n > 0 {
			t.Collation = collation.At(int(v.n - 1)).Name
		}
	case ClassBinary:
		t.Len = int(v.off)
	case ClassTime:
		t.Scale = v.scale
	}
	return t
}

// varied makes a value one of a sql_variant. What its base type says of length, precision, scale and collation is kept in the
// fields that values of the type have no use for.
func (v Value) varied(from Type) Value {
	v.base = from.Kind
	switch from.Class() {
	case ClassDecimal:
		v.off = int16(from.AsDecimal().Prec)
	case ClassString:
		v.off = int16(from.Len)
		if i, ok := collation.Index(from.Collation); ok && from.Collation != DefaultCollation {
			v.n = int64(i) + 1
		}
	case ClassBinary:
		v.off = int16(from.Len)
	case ClassTime:
		v.scale = from.Scale
	}
	return v
}

// unvaried takes the value out of its sql_variant.
func (v Value) unvaried() Value {
	switch (Type{Kind: v.base}).Class() {
	case ClassString:
		v.off, v.n = 0, 0
	case ClassDecimal, ClassBinary:
		v.off = 0
	case ClassTime:
		v.scale = 0
	}
	v.base = Null
	return v
}

// Same tells whether two values are the same to the last bit, as capture compares images: text by its characters and
// without any collation, decimals by their number.
func (v Value) Same(w Value) bool {
	if v == w {
		return true
	}
	return v.repr == isDec && w.repr == isDec && compareDec(v, w) == 0
}

// AppendKey appends bytes that are equal for values that compare equal, for hashing.
func (v Value) AppendKey(b []byte, t Type) []byte {
	if t.Kind == Variant && v.repr != isNull {
		return v.variantKey(b)
	}
	switch v.repr {
	case isNull:
		return append(b, 0)
	case isStr:
		b = append(b, 5)
		s := strings.TrimRight(v.s, " ")
		if r, ok := t.windows(); ok {
			return weightKey(b, s, r)
		}
		if t.accentInsensitive() {
			s = withoutAccents(s)
		}
		if !t.caseSensitive() {
			s = fold(s)
		}
		return append(binary.AppendUvarint(b, uint64(len(s))), s...) // what is in it cannot be taken for the next key
	case isBytes:
		s := strings.TrimRight(v.s, "\x00")
		return append(binary.AppendUvarint(append(b, 6), uint64(len(s))), s...)
	case isDec:
		return append(append(append(b, 3), strings.TrimRight(FormatDecimal(rescaleExact(v, 38)), "0")...), 0)
	case isGUID:
		return append(append(b, 7), v.s...)
	}
	b = append(b, byte(v.repr))
	if v.repr == isFloat && v.Float() == 0 {
		v.n = 0 // of two zeros that are equal
	}
	for i := 0; i < 64; i += 8 {
		b = append(b, byte(v.n>>i))
	}
	return b
}

// Ticks of 100 ns.
const (
	TicksPerSecond = 10_000_000
	TicksPerMinute = 60 * TicksPerSecond
	TicksPerDay    = 86_400 * TicksPerSecond
)

const unixSeconds = 62_135_596_800 // seconds from 0001-01-01 to 1970-01-01

// TicksOf gives the ticks of an instant, in UTC.
func TicksOf(t time.Time) int64 {
	return (t.Unix()+unixSeconds)*TicksPerSecond + int64(t.Nanosecond())/100
}

// TimeOf gives the instant of UTC ticks.
func TimeOf(n int64) time.Time {
	s, f := n/TicksPerSecond, n%TicksPerSecond
	if f < 0 {
		s, f = s-1, f+TicksPerSecond
	}
	return time.Unix(s-unixSeconds, f*100).UTC()
}

// DateTimeTicks rounds ticks to the 1/300 s of datetime, as 100 ns units.
func DateTimeTicks(n int64) int64 {
	day, rest := n/TicksPerDay, n%TicksPerDay
	k := (rest*3 + 50_000) / 100_000
	return day*TicksPerDay + (k*100_000+1)/3
}

// SmallDateTimeTicks gives the minute that smalldatetime makes of a moment: seconds of 29.999 or more are rounded up (Microsoft:
// smalldatetime (Transact-SQL)).
func SmallDateTimeTicks(n int64) int64 {
	return (n + 30*TicksPerSecond + TicksPerSecond/1000) / TicksPerMinute * TicksPerMinute
}
