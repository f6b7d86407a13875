package deltatable

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// hashSeed makes the string hashes of one process agree with each other. Hashes
// never leave the process.
type hashSeed struct{ bytes maphash.Seed }

func newHashSeed() hashSeed { return hashSeed{maphash.MakeSeed()} }

const (
	hashMul  = 0x9E3779B97F4A7C15
	hashNull = 0xA0761D6478BD642F
)

// mix folds one more 64-bit value into a hash.
func mix(h, v uint64) uint64 {
	hi, lo := bits.Mul64(h^v^hashNull, hashMul)
	return hi ^ lo
}

// rows sets dst[i] to the hash of row i over all columns. Two rows that encode
// to the same key (see keyCodec) have the same hash. dst must be as long as the
// columns.
func (s hashSeed) rows(cols []arrow.Array, dst []uint64) error {
	for i := range dst {
		dst[i] = hashMul
	}
	for _, c := range cols {
		if err := s.column(c, dst); err != nil {
			return err
		}
	}
	return nil
}

// column folds one column into dst.
func (s hashSeed) column(arr arrow.Array, dst []uint64) error {
	switch a := arr.(type) {
	case *array.Boolean:
		for i := range dst {
			if a.IsNull(i) {
				dst[i] = mix(dst[i], hashNull)
			} else if a.Value(i) {
				dst[i] = mix(dst[i], 1)
			} else {
				dst[i] = mix(dst[i], 0)
			}
		}
	case *array.Int8:
		hashInts(arr, a.Int8Values(), dst)
	case *array.Int16:
		hashInts(arr, a.Int16Values(), dst)
	case *array.Int32:
		hashInts(arr, a.Int32Values(), dst)
	case *array.Int64:
		hashInts(arr, a.Int64Values(), dst)
	case *array.Date32:
		hashInts(arr, a.Date32Values(), dst)
	case *array.Timestamp:
		hashInts(arr, a.TimestampValues(), dst)
	case *array.Float32:
		for i, v := range a.Float32Values() {
			dst[i] = mix(dst[i], nullOr(arr, i, canonicalFloat(float64(v))))
		}
	case *array.Float64:
		for i, v := range a.Float64Values() {
			dst[i] = mix(dst[i], nullOr(arr, i, canonicalFloat(v)))
		}
	case *array.Decimal128:
		for i, v := range a.Values() {
			if a.IsNull(i) {
				dst[i] = mix(dst[i], hashNull)
			} else {
				dst[i] = mix(mix(dst[i], v.LowBits()), uint64(v.HighBits()))
			}
		}
	case *array.String:
		hashBytes(s, a, func(i int) []byte { return stringBytes(a.Value(i)) }, dst)
	case *array.LargeString:
		hashBytes(s, a, func(i int) []byte { return stringBytes(a.Value(i)) }, dst)
	case *array.Binary:
		hashBytes(s, a, a.Value, dst)
	case *array.LargeBinary:
		hashBytes(s, a, a.Value, dst)
	case *array.FixedSizeBinary:
		hashBytes(s, a, a.Value, dst)
	default:
		return fmt.Errorf("a column of type %s cannot be a key", arr.DataType())
	}
	return nil
}

func hashInts[T ~int8 | ~int16 | ~int32 | ~int64](arr arrow.Array, values []T, dst []uint64) {
	if arr.NullN() == 0 {
		for i, v := range values {
			dst[i] = mix(dst[i], uint64(int64(v)))
		}
		return
	}
	for i, v := range values {
		dst[i] = mix(dst[i], nullOr(arr, i, uint64(int64(v))))
	}
}

func hashBytes(s hashSeed, arr arrow.Array, value func(int) []byte, dst []uint64) {
	nulls := arr.NullN() > 0
	for i := range dst {
		if nulls && arr.IsNull(i) {
			dst[i] = mix(dst[i], hashNull)
			continue
		}
		dst[i] = mix(dst[i], maphash.Bytes(s.bytes, value(i)))
	}
}

func nullOr(arr arrow.Array, i int, v uint64) uint64 {
	if arr.IsNull(i) {
		return hashNull
	}
	return v
}

// canonicalFloat gives equal bits to floats that are equal as keys: 0.0 and
// -0.0, and all NaNs, as Spark compares them in joins.
func canonicalFloat(v float64) uint64 {
	switch {
	case v == 0:
		return 0
	case math.IsNaN(v):
		return 0x7FF8000000000001
	}
	return math.Float64bits(v)
}

// keyCodec turns the key columns of a row into bytes: equal bytes if and only
// if the keys are equal, NULL being equal to NULL. Each column is a marker (0
// for NULL, 1 for a value) and, for a value, either its fixed-width bytes or a
// length and the bytes, so that no two different keys run together.
type keyCodec struct {
	cols []func(dst []byte, i int) []byte
}

// bind makes the codec read from these columns.
func (k *keyCodec) bind(cols []arrow.Array) error {
	k.cols = k.cols[:0]
	for _, c := range cols {
		f, err := keyAppender(c)
		if err != nil {
			return err
		}
		k.cols = append(k.cols, f)
	}
	return nil
}

// appendKey appends the key of row i.
func (k *keyCodec) appendKey(dst []byte, i int) []byte {
	for _, f := range k.cols {
		dst = f(dst, i)
	}
	return dst
}

func keyAppender(arr arrow.Array) (func([]byte, int) []byte, error) {
	var value func(dst []byte, i int) []byte
	switch a := arr.(type) {
	case *array.Boolean:
		value = appendBoolean(a)
	case *array.Int8:
		value = appendFixed(a.Int8Values())
	case *array.Int16:
		value = appendFixed(a.Int16Values())
	case *array.Int32:
		value = appendFixed(a.Int32Values())
	case *array.Int64:
		value = appendFixed(a.Int64Values())
	case *array.Date32:
		value = appendFixed(a.Date32Values())
	case *array.Timestamp:
		value = appendFixed(a.TimestampValues())
	case *array.Float32:
		value = func(dst []byte, i int) []byte {
			return binary.LittleEndian.AppendUint64(dst, canonicalFloat(float64(a.Value(i))))
		}
	case *array.Float64:
		value = func(dst []byte, i int) []byte {
			return binary.LittleEndian.AppendUint64(dst, canonicalFloat(a.Value(i)))
		}
	case *array.Decimal128:
		value = func(dst []byte, i int) []byte {
			v := a.Value(i)
			return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(dst, v.LowBits()), uint64(v.HighBits()))
		}
	case *array.String:
		value = appendSized(func(i int) []byte { return stringBytes(a.Value(i)) })
	case *array.LargeString:
		value = appendSized(func(i int) []byte { return stringBytes(a.Value(i)) })
	case *array.Binary:
		value = appendSized(a.Value)
	case *array.LargeBinary:
		value = appendSized(a.Value)
	case *array.FixedSizeBinary:
		value = appendSized(a.Value)
	default:
		return nil, fmt.Errorf("a column of type %s cannot be a key", arr.DataType())
	}
	return marked(arr, value), nil
}

// marked puts 0 before what is NULL, which is all of it, and 1 before a value.
func marked(arr arrow.Array, value func([]byte, int) []byte) func([]byte, int) []byte {
	return func(dst []byte, i int) []byte {
		if arr.IsNull(i) {
			return append(dst, 0)
		}
		return value(append(dst, 1), i)
	}
}

func appendBoolean(a *array.Boolean) func([]byte, int) []byte {
	return func(dst []byte, i int) []byte {
		if a.Value(i) {
			return append(dst, 1)
		}
		return append(dst, 0)
	}
}

func appendFixed[T ~int8 | ~int16 | ~int32 | ~int64](values []T) func([]byte, int) []byte {
	return func(dst []byte, i int) []byte {
		return binary.LittleEndian.AppendUint64(dst, uint64(int64(values[i])))
	}
}

func appendSized(value func(int) []byte) func([]byte, int) []byte {
	return func(dst []byte, i int) []byte {
		v := value(i)
		return append(binary.AppendUvarint(dst, uint64(len(v))), v...)
	}
}
