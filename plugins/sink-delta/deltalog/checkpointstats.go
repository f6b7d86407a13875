package deltalog

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// statsFromStruct writes the parsed statistics of a checkpoint row as the text
// that Add.Stats keeps.
func statsFromStruct(r *rows, i int) (string, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	if n := r.optInt("numRecords", i); n != nil {
		fmt.Fprintf(&b, `"numRecords":%d`, *n)
	}
	for _, name := range []string{"minValues", "maxValues", "nullCount"} {
		part := r.struct_(name)
		if part == nil || !part.valid(i) {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"%s":`, name)
		if err := writeStatsStruct(&b, part.col, i); err != nil {
			return "", err
		}
	}
	if r.has("tightBounds", i) {
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"tightBounds":%t`, r.bool("tightBounds", i))
	}
	b.WriteByte('}')
	return b.String(), r.err
}

func writeStatsStruct(b *bytes.Buffer, s *array.Struct, i int) error {
	b.WriteByte('{')
	first := true
	for j, f := range s.DataType().(*arrow.StructType).Fields() {
		child := s.Field(j)
		if child.IsNull(i) {
			continue
		}
		var text string
		if sub, ok := child.(*array.Struct); ok {
			var inner bytes.Buffer
			if err := writeStatsStruct(&inner, sub, i); err != nil {
				return err
			}
			text = inner.String()
		} else if text, ok = statsLeaf(child, i); !ok {
			continue // a bound of a type that has none as text
		}
		key, err := marshal(f.Name)
		if err != nil {
			return err
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		b.Write(key)
		b.WriteByte(':')
		b.WriteString(text)
	}
	b.WriteByte('}')
	return nil
}

// statsLeaf writes one value as JSON.
func statsLeaf(a arrow.Array, i int) (text string, ok bool) {
	quote := func(s string) (string, bool) {
		raw, err := marshal(s)
		return string(raw), err == nil
	}
	float := func(f float64, bits int) (string, bool) {
		s := formatFloat(f, bits)
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return quote(s)
		}
		return s, true
	}
	switch a := a.(type) {
	case *array.Int64:
		return strconv.FormatInt(a.Value(i), 10), true
	case *array.Int32:
		return strconv.FormatInt(int64(a.Value(i)), 10), true
	case *array.Int16:
		return strconv.FormatInt(int64(a.Value(i)), 10), true
	case *array.Int8:
		return strconv.FormatInt(int64(a.Value(i)), 10), true
	case *array.Float32:
		return float(float64(a.Value(i)), 32)
	case *array.Float64:
		return float(a.Value(i), 64)
	case *array.Boolean:
		return strconv.FormatBool(a.Value(i)), true
	case *array.Date32:
		return quote(formatDate(int64(a.Value(i))))
	case *array.Decimal128:
		return formatDecimal(DecimalValue(a.Value(i).BigInt(), a.DataType().(*arrow.Decimal128Type).Scale)), true
	case *array.Decimal64:
		return formatDecimal(DecimalValue(big.NewInt(int64(a.Value(i))), a.DataType().(*arrow.Decimal64Type).Scale)), true
	case *array.Decimal32:
		return formatDecimal(DecimalValue(big.NewInt(int64(a.Value(i))), a.DataType().(*arrow.Decimal32Type).Scale)), true
	case *array.Timestamp:
		t := a.DataType().(*arrow.TimestampType)
		v := int64(a.Value(i))
		switch t.Unit {
		case arrow.Second:
			v *= 1_000_000
		case arrow.Millisecond:
			v *= 1000
		case arrow.Nanosecond:
			v = floorDiv(v, 1000)
		}
		s := formatTimestamp(v)
		if t.TimeZone != "" {
			s += "Z"
		}
		return quote(s)
	}
	if s, ok := textOf(a, i); ok {
		return quote(s)
	}
	return "", false
}
