package memory

import (
	"cmp"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// A cell is one value of a row: nil (NULL), bool, int64 (integers of any
// width, dates, times and timestamps in the unit of their type), float64,
// string, binary or decimal128.Num. Values of other types are kept as
// Arrow's own text form.
type cell = any

// binary is a byte string that can be compared and used in a key.
type binary string

// text is the text form of a value of a type without a cell of its own.
type text string

// cellAt copies one value out of an array.
func cellAt(a arrow.Array, i int) cell {
	if a.IsNull(i) {
		return nil
	}
	switch a := a.(type) {
	case *array.Boolean:
		return a.Value(i)
	case *array.Int8:
		return int64(a.Value(i))
	case *array.Int16:
		return int64(a.Value(i))
	case *array.Int32:
		return int64(a.Value(i))
	case *array.Int64:
		return a.Value(i)
	case *array.Uint8:
		return int64(a.Value(i))
	case *array.Date32:
		return int64(a.Value(i))
	case *array.Timestamp:
		return int64(a.Value(i))
	case *array.Time64:
		return int64(a.Value(i))
	case *array.Float32:
		return float64(a.Value(i))
	case *array.Float64:
		return a.Value(i)
	case *array.String:
		return strings.Clone(a.Value(i))
	case *array.Binary:
		return binary(a.Value(i))
	case *array.FixedSizeBinary:
		return binary(a.Value(i))
	case *array.Decimal128:
		return a.Value(i)
	}
	return text(a.ValueStr(i))
}

// appendCell appends a cell to a builder of the type it was taken from.
func appendCell(b array.Builder, c cell) error {
	if c == nil {
		b.AppendNull()
		return nil
	}
	ok := true
	switch b := b.(type) {
	case *array.BooleanBuilder:
		ok = put(b.Append, c)
	case *array.Int8Builder:
		ok = putInt(b.Append, c)
	case *array.Int16Builder:
		ok = putInt(b.Append, c)
	case *array.Int32Builder:
		ok = putInt(b.Append, c)
	case *array.Int64Builder:
		ok = putInt(b.Append, c)
	case *array.Uint8Builder:
		ok = putInt(b.Append, c)
	case *array.Date32Builder:
		ok = putInt(b.Append, c)
	case *array.TimestampBuilder:
		ok = putInt(b.Append, c)
	case *array.Time64Builder:
		ok = putInt(b.Append, c)
	case *array.Float32Builder:
		var f float64
		if f, ok = c.(float64); ok {
			b.Append(float32(f))
		}
	case *array.Float64Builder:
		ok = put(b.Append, c)
	case *array.StringBuilder:
		ok = put(b.Append, c)
	case *array.BinaryBuilder:
		var s binary
		if s, ok = c.(binary); ok {
			b.Append([]byte(s))
		}
	case *array.FixedSizeBinaryBuilder:
		var s binary
		if s, ok = c.(binary); ok {
			b.Append([]byte(s))
		}
	case *array.Decimal128Builder:
		ok = put(b.Append, c)
	default:
		var s text
		if s, ok = c.(text); ok {
			return b.AppendValueFromString(string(s))
		}
	}
	if !ok {
		return fmt.Errorf("a value of Go type %T cannot be stored as %s", c, b.Type())
	}
	return nil
}

func put[T any](appendTo func(T), c cell) bool {
	v, ok := c.(T)
	if ok {
		appendTo(v)
	}
	return ok
}

func putInt[T ~int8 | ~int16 | ~int32 | ~int64 | ~uint8](appendTo func(T), c cell) bool {
	v, ok := c.(int64)
	if ok {
		appendTo(T(v))
	}
	return ok
}

// compareCells orders two cells of one type, NULL lowest. ok is false when
// they have no common order.
func compareCells(a, b cell) (order int, ok bool) {
	switch {
	case a == nil && b == nil:
		return 0, true
	case a == nil:
		return -1, true
	case b == nil:
		return 1, true
	}
	switch x := a.(type) {
	case bool:
		y, ok := b.(bool)
		return cmp.Compare(rank(x), rank(y)), ok
	case int64:
		y, ok := b.(int64)
		return cmp.Compare(x, y), ok
	case float64:
		y, ok := b.(float64)
		return cmp.Compare(x, y), ok
	case string:
		y, ok := b.(string)
		return cmp.Compare(x, y), ok
	case binary:
		y, ok := b.(binary)
		return cmp.Compare(x, y), ok
	case decimal128.Num:
		y, ok := b.(decimal128.Num)
		return x.Cmp(y), ok
	}
	return 0, false
}

func rank(b bool) int {
	if b {
		return 1
	}
	return 0
}

// cellOf turns a value of a test script into a cell of the type: Go booleans,
// integers, floats, strings, []byte, time.Time for dates and timestamps, text
// for decimals; nil is NULL.
func cellOf(t arrow.DataType, v any) (cell, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case int:
		return intCell(t, int64(v))
	case int32:
		return intCell(t, int64(v))
	case int64:
		return intCell(t, v)
	case []byte:
		return binary(v), nil
	case bool, float64, decimal128.Num:
		return v, nil
	case time.Time:
		return timeCell(t, v)
	case string:
		if d, ok := t.(*arrow.Decimal128Type); ok {
			return decimalCell(v, d)
		}
		return v, nil
	}
	return nil, fmt.Errorf("a value of Go type %T cannot stand for %s", v, t)
}

func intCell(t arrow.DataType, v int64) (cell, error) {
	switch t := t.(type) {
	case *arrow.Float64Type, *arrow.Float32Type:
		return float64(v), nil
	case *arrow.Decimal128Type:
		return decimalCell(fmt.Sprint(v), t)
	}
	return v, nil
}

func timeCell(t arrow.DataType, v time.Time) (cell, error) {
	switch t := t.(type) {
	case *arrow.Date32Type:
		return int64(arrow.Date32FromTime(v)), nil
	case *arrow.TimestampType:
		ts, err := arrow.TimestampFromTime(v.UTC(), t.Unit)
		return int64(ts), err
	}
	return nil, fmt.Errorf("a time cannot stand for %s", t)
}

// decimalCell reads plain decimal notation at the type's scale; more digits
// than the scale holds are an error.
func decimalCell(s string, t *arrow.Decimal128Type) (cell, error) {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return nil, fmt.Errorf("%q is no decimal number", s)
	}
	scaled := r.Mul(r, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Scale)), nil)))
	if !scaled.IsInt() || scaled.Num().BitLen() > 127 {
		return nil, fmt.Errorf("%s does not fit %s", s, t)
	}
	return decimal128.FromBigInt(scaled.Num()), nil
}

// plain turns a cell into the value that tests compare: decimals as text,
// timestamps and dates as time.Time, byte strings as []byte.
func plain(t arrow.DataType, c cell) any {
	switch c := c.(type) {
	case binary:
		return []byte(c)
	case text:
		return string(c)
	case decimal128.Num:
		return c.ToString(t.(*arrow.Decimal128Type).Scale)
	case int64:
		switch t := t.(type) {
		case *arrow.TimestampType:
			return arrow.Timestamp(c).ToTime(t.Unit).UTC()
		case *arrow.Date32Type:
			return arrow.Date32(c).ToTime().UTC()
		}
	}
	return c
}

// keyOf is a text that is equal for rows whose key columns are equal, NULL
// being equal to NULL.
func keyOf(row []cell, columns []int) string {
	var b strings.Builder
	for _, c := range columns {
		v := fmt.Sprint(row[c])
		fmt.Fprintf(&b, "%T%d:%s", row[c], len(v), v)
	}
	return b.String()
}
