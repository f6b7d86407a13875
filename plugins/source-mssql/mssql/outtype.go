package mssql

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// kind is what a column of the output is.
type kind uint8

const (
	kindInvalid kind = iota
	kindBool
	kindInt16
	kindInt32
	kindInt64
	kindFloat32
	kindFloat64
	kindDecimal
	kindDate
	kindTimestampNTZ
	kindTimestamp
	kindString
	kindBinary
)

// outType is the type of an output column. Precision and scale are those of
// decimals.
type outType struct {
	kind             kind
	precision, scale int32
}

func decimalOf(precision, scale int) outType {
	return outType{kind: kindDecimal, precision: int32(precision), scale: int32(scale)}
}

var kindNames = map[kind]string{
	kindBool: "boolean", kindInt16: "smallint", kindInt32: "int", kindInt64: "bigint", kindFloat32: "float", kindFloat64: "double",
	kindDate: "date", kindTimestampNTZ: "timestamp_ntz", kindTimestamp: "timestamp", kindString: "string", kindBinary: "binary",
}

// String is the name of the type, which parseOutType reads.
func (t outType) String() string {
	if t.kind == kindDecimal {
		return fmt.Sprintf("decimal(%d,%d)", t.precision, t.scale)
	}
	return kindNames[t.kind]
}

// outTypes are one of each kind, in the order in which people are told them.
var outTypes = []outType{{kind: kindString}, {kind: kindBool}, {kind: kindInt16}, {kind: kindInt32}, {kind: kindInt64}, {kind: kindFloat32}, {kind: kindFloat64},
	decimalOf(maxDigits, 0), {kind: kindDate}, {kind: kindTimestampNTZ}, {kind: kindTimestamp}, {kind: kindBinary}}

// word is the name of the type's kind as it is written in as.
func (t outType) word() string {
	if t.kind == kindDecimal {
		return "decimal(p,s)"
	}
	return t.String()
}

var outTypeWords = map[string]kind{
	"boolean": kindBool, "bool": kindBool, "smallint": kindInt16, "short": kindInt16, "int": kindInt32, "integer": kindInt32,
	"bigint": kindInt64, "long": kindInt64, "float": kindFloat32, "real": kindFloat32, "double": kindFloat64,
	"date": kindDate, "timestamp_ntz": kindTimestampNTZ, "timestamp": kindTimestamp, "string": kindString, "binary": kindBinary,
}

var decimalForm = regexp.MustCompile(`\Adecimal\(([0-9]{1,2}),([0-9]{1,2})\)\z`)

// parseOutType reads a type's name in any case, with or without spaces.
func parseOutType(text string) (outType, error) {
	name := strings.ToLower(strings.ReplaceAll(text, " ", ""))
	if k, ok := outTypeWords[name]; ok {
		return outType{kind: k}, nil
	}
	if m := decimalForm.FindStringSubmatch(name); m != nil {
		p, _ := strconv.Atoi(m[1])
		s, _ := strconv.Atoi(m[2])
		if p >= 1 && p <= 38 && s <= p {
			return decimalOf(p, s), nil
		}
	}
	return outType{}, fmt.Errorf("%q is no type", text)
}

// arrow is the type in Arrow.
func (t outType) arrow() arrow.DataType {
	switch t.kind {
	case kindBool:
		return arrow.FixedWidthTypes.Boolean
	case kindInt16:
		return arrow.PrimitiveTypes.Int16
	case kindInt32:
		return arrow.PrimitiveTypes.Int32
	case kindInt64:
		return arrow.PrimitiveTypes.Int64
	case kindFloat32:
		return arrow.PrimitiveTypes.Float32
	case kindFloat64:
		return arrow.PrimitiveTypes.Float64
	case kindDecimal:
		return &arrow.Decimal128Type{Precision: t.precision, Scale: t.scale}
	case kindDate:
		return arrow.FixedWidthTypes.Date32
	case kindTimestampNTZ:
		return &arrow.TimestampType{Unit: arrow.Microsecond}
	case kindTimestamp:
		return &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
	case kindBinary:
		return arrow.BinaryTypes.Binary
	}
	return arrow.BinaryTypes.String
}

// digits is how many digits the integers of a kind have, 0 for other kinds.
func (k kind) digits() int32 {
	switch k {
	case kindInt16:
		return 5
	case kindInt32:
		return 10
	case kindInt64:
		return 20
	}
	return 0
}

// fits reports whether a column of type b holds every value of type a
// unchanged.
func (a outType) fits(b outType) bool {
	if a == b {
		return true
	}
	digits := a.kind.digits()
	switch b.kind {
	case kindInt32, kindInt64:
		return digits > 0 && digits < b.kind.digits()
	case kindFloat64:
		return a.kind == kindFloat32 || a.kind == kindInt16 || a.kind == kindInt32
	case kindTimestampNTZ:
		return a.kind == kindDate
	case kindDecimal:
		if digits > 0 {
			return b.precision-b.scale >= digits
		}
		return a.kind == kindDecimal && b.scale >= a.scale && b.precision-b.scale >= a.precision-a.scale
	}
	return false
}

// casts reports whether values of type a can be read as type b by a strict
// cast, which fails for a value that does not fit.
func (a outType) casts(b outType) bool {
	if a.fits(b) {
		return true
	}
	switch {
	case a.kind == kindBinary || b.kind == kindBinary:
		return false
	case b.kind == kindString || a.kind == kindString:
		return true
	}
	number := func(k kind) bool { return k.digits() > 0 || k == kindDecimal }
	return number(a.kind) && number(b.kind)
}
