package deltatable

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
)

// constantColumn is a column of n times the value v, as partition columns are.
func constantColumn(v deltalog.Value, t arrow.DataType, n int, mem memory.Allocator) (arrow.Array, error) {
	if v.IsNull() {
		return nullColumn(t, n, mem), nil
	}
	b := array.NewBuilder(mem, t)
	defer b.Release()
	b.Reserve(n)
	var one func()
	switch b := b.(type) {
	case *array.BooleanBuilder:
		one = func() { b.UnsafeAppend(v.Bool()) }
	case *array.Int8Builder:
		one = func() { b.UnsafeAppend(int8(v.Int())) }
	case *array.Int16Builder:
		one = func() { b.UnsafeAppend(int16(v.Int())) }
	case *array.Int32Builder:
		one = func() { b.UnsafeAppend(int32(v.Int())) }
	case *array.Int64Builder:
		one = func() { b.UnsafeAppend(v.Int()) }
	case *array.Float32Builder:
		one = func() { b.UnsafeAppend(float32(v.Float())) }
	case *array.Float64Builder:
		one = func() { b.UnsafeAppend(v.Float()) }
	case *array.Date32Builder:
		one = func() { b.UnsafeAppend(arrow.Date32(v.Int())) }
	case *array.TimestampBuilder:
		one = func() { b.UnsafeAppend(arrow.Timestamp(v.Int())) }
	case *array.StringBuilder:
		one = func() { b.Append(v.Text()) }
	case *array.BinaryBuilder:
		bytes := v.Bytes()
		one = func() { b.Append(bytes) }
	case *array.Decimal128Builder:
		unscaled, scale := v.Decimal()
		if unscaled.BitLen() > 127 {
			return nil, fmt.Errorf("the value %v does not fit %s", v, t)
		}
		d, err := decimal128.FromBigInt(unscaled).Rescale(scale, t.(*arrow.Decimal128Type).Scale)
		if err != nil {
			return nil, fmt.Errorf("the value %v does not fit %s: %w", v, t, err)
		}
		one = func() { b.UnsafeAppend(d) }
	default:
		return nil, fmt.Errorf("a partition column cannot have type %s", t)
	}
	for range n {
		one()
	}
	return b.NewArray(), nil
}
