package ndjson

import (
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// appendFunc appends the JSON text of one row's value to dst.
type appendFunc func(dst []byte, row int) ([]byte, error)

// checkType says whether values of the type have a form in the dump.
func checkType(t arrow.DataType) error {
	switch t := t.(type) {
	case *arrow.TimestampType:
		if t.Unit == arrow.Nanosecond {
			return fmt.Errorf("%s has more digits than the dump's microseconds; cast it to microseconds first", t)
		}
		return nil
	case *arrow.StructType:
		for _, f := range t.Fields() {
			if err := checkType(f.Type); err != nil {
				return fmt.Errorf("field %q: %w", f.Name, err)
			}
		}
		return nil
	case *arrow.MapType:
		if err := checkType(t.KeyType()); err != nil {
			return fmt.Errorf("map key: %w", err)
		}
		return checkType(t.ItemType())
	case arrow.ListLikeType:
		return checkType(t.Elem())
	}
	switch t.ID() {
	case arrow.NULL, arrow.BOOL, arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64,
		arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64, arrow.FLOAT32, arrow.FLOAT64,
		arrow.DECIMAL128, arrow.DECIMAL256, arrow.DATE32,
		arrow.STRING, arrow.LARGE_STRING, arrow.BINARY, arrow.LARGE_BINARY, arrow.FIXED_SIZE_BINARY:
		return nil
	}
	return fmt.Errorf("type %s has no form in a row dump", t)
}

// appender returns the function for arr's type, with the NULL check in front.
func appender(arr arrow.Array) (appendFunc, error) {
	value, err := valueAppender(arr)
	if err != nil {
		return nil, err
	}
	if arr.NullN() == 0 && arr.DataType().ID() != arrow.NULL {
		return value, nil
	}
	return func(dst []byte, i int) ([]byte, error) {
		if arr.IsNull(i) {
			return append(dst, "null"...), nil
		}
		return value(dst, i)
	}, nil
}

type integer interface {
	~int8 | ~int16 | ~int32 | ~int64
}

type unsigned interface {
	~uint8 | ~uint16 | ~uint32 | ~uint64
}

func intAppender[T integer](v []T) appendFunc {
	return func(dst []byte, i int) ([]byte, error) { return strconv.AppendInt(dst, int64(v[i]), 10), nil }
}

func uintAppender[T unsigned](v []T) appendFunc {
	return func(dst []byte, i int) ([]byte, error) { return strconv.AppendUint(dst, uint64(v[i]), 10), nil }
}

func hexAppender(value func(int) []byte) appendFunc {
	return func(dst []byte, i int) ([]byte, error) {
		return append(hex.AppendEncode(append(dst, '"'), value(i)), '"'), nil
	}
}

func valueAppender(arr arrow.Array) (appendFunc, error) {
	switch a := arr.(type) {
	case *array.Null:
		return func(dst []byte, _ int) ([]byte, error) { return append(dst, "null"...), nil }, nil
	case *array.Boolean:
		return func(dst []byte, i int) ([]byte, error) { return strconv.AppendBool(dst, a.Value(i)), nil }, nil
	case *array.Int8:
		return intAppender(a.Int8Values()), nil
	case *array.Int16:
		return intAppender(a.Int16Values()), nil
	case *array.Int32:
		return intAppender(a.Int32Values()), nil
	case *array.Int64:
		return intAppender(a.Int64Values()), nil
	case *array.Uint8:
		return uintAppender(a.Uint8Values()), nil
	case *array.Uint16:
		return uintAppender(a.Uint16Values()), nil
	case *array.Uint32:
		return uintAppender(a.Uint32Values()), nil
	case *array.Uint64:
		return uintAppender(a.Uint64Values()), nil
	case *array.Float32:
		return func(dst []byte, i int) ([]byte, error) { return appendFloat(dst, float64(a.Value(i)), 32), nil }, nil
	case *array.Float64:
		return func(dst []byte, i int) ([]byte, error) { return appendFloat(dst, a.Value(i), 64), nil }, nil
	case *array.Decimal128:
		scale := a.DataType().(*arrow.Decimal128Type).Scale
		return func(dst []byte, i int) ([]byte, error) {
			return append(append(append(dst, '"'), a.Value(i).ToString(scale)...), '"'), nil
		}, nil
	case *array.Decimal256:
		scale := a.DataType().(*arrow.Decimal256Type).Scale
		return func(dst []byte, i int) ([]byte, error) {
			return append(append(append(dst, '"'), a.Value(i).ToString(scale)...), '"'), nil
		}, nil
	case *array.Date32:
		return func(dst []byte, i int) ([]byte, error) {
			return append(appendDate(append(dst, '"'), int64(a.Value(i))), '"'), nil
		}, nil
	case *array.Timestamp:
		return timestampAppender(a)
	case *array.String:
		return func(dst []byte, i int) ([]byte, error) { return appendString(dst, a.Value(i)) }, nil
	case *array.LargeString:
		return func(dst []byte, i int) ([]byte, error) { return appendString(dst, a.Value(i)) }, nil
	case *array.Binary:
		return hexAppender(a.Value), nil
	case *array.LargeBinary:
		return hexAppender(a.Value), nil
	case *array.FixedSizeBinary:
		return hexAppender(a.Value), nil
	case *array.Struct:
		return structAppender(a)
	case *array.Map:
		return mapAppender(a)
	case array.ListLike:
		return listAppender(a)
	}
	return nil, fmt.Errorf("type %s has no form in a row dump", arr.DataType())
}

func structAppender(a *array.Struct) (appendFunc, error) {
	t := a.DataType().(*arrow.StructType)
	names := make([][]byte, a.NumField())
	cells := make([]appendFunc, a.NumField())
	for k := range cells {
		var err error
		if names[k], err = appendString(nil, t.Field(k).Name); err != nil {
			return nil, err
		}
		names[k] = append(names[k], ':')
		if cells[k], err = appender(a.Field(k)); err != nil {
			return nil, err
		}
	}
	return func(dst []byte, i int) ([]byte, error) {
		dst = append(dst, '{')
		var err error
		for k, cell := range cells {
			if k > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, names[k]...)
			if dst, err = cell(dst, i); err != nil {
				return dst, err
			}
		}
		return append(dst, '}'), nil
	}, nil
}

func listAppender(a array.ListLike) (appendFunc, error) {
	elem, err := appender(a.ListValues())
	if err != nil {
		return nil, err
	}
	return func(dst []byte, i int) ([]byte, error) {
		start, end := a.ValueOffsets(i)
		dst = append(dst, '[')
		var err error
		for j := start; j < end; j++ {
			if j > start {
				dst = append(dst, ',')
			}
			if dst, err = elem(dst, int(j)); err != nil {
				return dst, err
			}
		}
		return append(dst, ']'), nil
	}, nil
}

// mapAppender sorts the entries by the JSON text of the key: a map has no order of its own, and two
// writers need not agree on one.
func mapAppender(a *array.Map) (appendFunc, error) {
	key, err := appender(a.Keys())
	if err != nil {
		return nil, err
	}
	item, err := appender(a.Items())
	if err != nil {
		return nil, err
	}
	type entry struct {
		key  []byte
		item int
	}
	return func(dst []byte, i int) ([]byte, error) {
		start, end := a.ValueOffsets(i)
		entries := make([]entry, 0, end-start)
		for j := start; j < end; j++ {
			text, err := key(nil, int(j))
			if err != nil {
				return dst, err
			}
			entries = append(entries, entry{text, int(j)})
		}
		slices.SortStableFunc(entries, func(x, y entry) int { return slices.Compare(x.key, y.key) })
		dst = append(dst, '[')
		var err error
		for k, e := range entries {
			if k > 0 {
				dst = append(dst, ',')
			}
			dst = append(append(append(dst, '['), e.key...), ',')
			if dst, err = item(dst, e.item); err != nil {
				return dst, err
			}
			dst = append(dst, ']')
		}
		return append(dst, ']'), nil
	}, nil
}

// appendFloat writes the shortest text that reads back to the same float of the given width, with a
// fraction or an exponent so that it is seen to be a float.
func appendFloat(dst []byte, v float64, bits int) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, `"NaN"`...)
	case math.IsInf(v, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(v, -1):
		return append(dst, `"-Infinity"`...)
	}
	form := byte('f')
	if abs := math.Abs(v); abs != 0 && (abs < 1e-4 || abs >= 1e16) {
		form = 'e'
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, v, form, -1, bits)
	if form == 'f' && !slices.Contains(dst[start:], '.') {
		dst = append(dst, '.', '0')
	}
	return dst
}

const hexDigits = "0123456789abcdef"

// appendString writes s as a JSON string that escapes only what JSON requires (RFC 8259 section 7).
func appendString(dst []byte, s string) ([]byte, error) {
	if !utf8.ValidString(s) {
		return dst, fmt.Errorf("the string %q is not valid UTF-8, which JSON requires", s)
	}
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(append(dst, s[from:]...), '"'), nil
}
