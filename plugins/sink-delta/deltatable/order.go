package deltatable

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// orderAppender returns the function that appends a row's value as bytes whose
// order (bytes.Compare) is the order of the values: NULL first, numbers by size
// (NaN above all, as in Spark), strings and binaries by their bytes. It is how
// guard columns are compared, whatever their type.
func orderAppender(arr arrow.Array) (func(dst []byte, i int) []byte, error) {
	var value func(dst []byte, i int) []byte
	switch a := arr.(type) {
	case *array.Boolean:
		value = appendBoolean(a)
	case *array.Int8:
		value = appendOrdered(a.Int8Values())
	case *array.Int16:
		value = appendOrdered(a.Int16Values())
	case *array.Int32:
		value = appendOrdered(a.Int32Values())
	case *array.Int64:
		value = appendOrdered(a.Int64Values())
	case *array.Date32:
		value = appendOrdered(a.Date32Values())
	case *array.Timestamp:
		value = appendOrdered(a.TimestampValues())
	case *array.Float32:
		value = func(dst []byte, i int) []byte { return appendOrderedFloat(dst, float64(a.Value(i))) }
	case *array.Float64:
		value = func(dst []byte, i int) []byte { return appendOrderedFloat(dst, a.Value(i)) }
	case *array.Decimal128:
		value = func(dst []byte, i int) []byte { return appendOrderedDecimal(dst, a.Value(i)) }
	case *array.String:
		value = func(dst []byte, i int) []byte { return append(dst, a.Value(i)...) }
	case *array.Binary:
		value = func(dst []byte, i int) []byte { return append(dst, a.Value(i)...) }
	default:
		return nil, fmt.Errorf("values of type %s have no order", arr.DataType())
	}
	return marked(arr, value), nil
}

func appendOrdered[T ~int8 | ~int16 | ~int32 | ~int64](values []T) func([]byte, int) []byte {
	return func(dst []byte, i int) []byte { return appendOrderedInt(dst, int64(values[i])) }
}

func appendOrderedInt(dst []byte, v int64) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(v)^1<<63)
}

func appendOrderedFloat(dst []byte, v float64) []byte {
	bits := canonicalFloat(v)
	if bits>>63 == 1 {
		bits = ^bits
	} else {
		bits |= 1 << 63
	}
	return binary.BigEndian.AppendUint64(dst, bits)
}

func appendOrderedDecimal(dst []byte, v decimal128.Num) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, uint64(v.HighBits())^1<<63), v.LowBits())
}

// stringBytes views a string as bytes that must not be written to.
func stringBytes(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
