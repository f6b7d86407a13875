package deltatable

import (
	"context"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// castKind is how values of one type become values of another without a loss.
type castKind uint8

const (
	castNone     castKind = iota // cannot be done, or only with a loss
	castSame                     // nothing to do
	castShorten                  // 64-bit offsets become 32-bit ones
	castWiden                    // arrow's own cast
	castRescale                  // decimal(p,s) to a wider one
	castToDecml                  // an integer to a decimal
	castToMicros                 // seconds, milliseconds, days to microseconds
	castNanos                    // nanoseconds to microseconds, cut: only on reading
	castFixed                    // fixed-size binary to binary
	castRelabel                  // the same bits under another type
	castNested                   // a struct, list or map whose inside is converted
)

// lossless says how values of type from become values of type to, which is a
// type that Delta columns have. It covers the widenings of Delta (Delta
// protocol: Type Widening) and the Arrow types that have no Delta type of their
// own.
func lossless(from, to arrow.DataType) castKind {
	if arrow.TypeEqual(from, to) {
		return castSame
	}
	switch to := to.(type) {
	case *arrow.StringType:
		if from.ID() == arrow.LARGE_STRING {
			return castShorten
		}
	case *arrow.BinaryType:
		switch from.ID() {
		case arrow.LARGE_BINARY:
			return castShorten
		case arrow.FIXED_SIZE_BINARY:
			return castFixed
		}
	case *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type:
		if w := intWidth(from); w > 0 && w < intWidth(to) {
			return castWiden
		}
	case *arrow.Float64Type:
		if from.ID() == arrow.FLOAT32 || (intWidth(from) > 0 && intWidth(from) <= 4) {
			return castWiden
		}
	case *arrow.Decimal128Type:
		if from, ok := from.(*arrow.Decimal128Type); ok {
			if from.Scale <= to.Scale && from.Precision-from.Scale <= to.Precision-to.Scale {
				return castRescale
			}
			return castNone
		}
		digits := map[int]int32{1: 3, 2: 5, 4: 10, 8: 19}[intWidth(from)]
		if digits > 0 && digits <= to.Precision-to.Scale {
			return castToDecml
		}
	case *arrow.TimestampType:
		switch from := from.(type) {
		case *arrow.Date32Type:
			return castToMicros
		case *arrow.TimestampType:
			if (from.TimeZone == "") != (to.TimeZone == "") {
				return castNone // an instant is not a wall clock reading
			}
			switch from.Unit {
			case arrow.Microsecond:
				return castRelabel
			case arrow.Nanosecond:
				return castNanos
			}
			return castToMicros
		}
	case *arrow.StructType, *arrow.ListType, *arrow.MapType:
		if losslessNested(from, to) {
			return castNested
		}
	}
	return castNone
}

func intWidth(t arrow.DataType) int {
	switch t.ID() {
	case arrow.INT8:
		return 1
	case arrow.INT16:
		return 2
	case arrow.INT32:
		return 4
	case arrow.INT64:
		return 8
	}
	return 0
}

// cast turns arr into type to, in the way that lossless said. The result is the
// caller's.
func cast(arr arrow.Array, to arrow.DataType, kind castKind, mem memory.Allocator) (arrow.Array, error) {
	switch kind {
	case castSame:
		arr.Retain()
		return arr, nil
	case castRelabel:
		return relabel(arr, to), nil
	case castShorten:
		return shortenOffsets(arr, to, mem)
	case castFixed:
		return copyFixed(arr.(*array.FixedSizeBinary), mem), nil
	case castToMicros, castNanos:
		return toMicros(arr, to, mem)
	case castRescale, castToDecml:
		return toDecimal(arr, to.(*arrow.Decimal128Type), mem)
	case castNested:
		return castNestedTo(arr, to, mem)
	case castWiden:
		return compute.CastToType(compute.WithAllocator(context.Background(), mem), arr, to)
	}
	return nil, fmt.Errorf("%s cannot become %s without a loss", arr.DataType(), to)
}

// relabel gives the same buffers another type of the same layout, at every
// depth.
func relabel(arr arrow.Array, to arrow.DataType) arrow.Array {
	data := relabelData(arr.Data(), to)
	defer data.Release()
	return array.MakeFromData(data)
}

func relabelData(d arrow.ArrayData, to arrow.DataType) arrow.ArrayData {
	children := make([]arrow.ArrayData, len(d.Children()))
	for i, c := range d.Children() {
		t := c.DataType()
		switch to := to.(type) {
		case *arrow.StructType:
			t = to.Field(i).Type
		case arrow.ListLikeType: // also maps, whose element is a struct
			t = to.Elem()
		}
		children[i] = relabelData(c, t)
		defer children[i].Release()
	}
	return array.NewData(to, d.Len(), d.Buffers(), children, d.NullN(), d.Offset())
}

// shortenOffsets turns large strings or binaries into ordinary ones that share
// the bytes.
func shortenOffsets(arr arrow.Array, to arrow.DataType, mem memory.Allocator) (arrow.Array, error) {
	var offsets []int64
	switch a := arr.(type) {
	case *array.LargeString:
		offsets = a.ValueOffsets()
	case *array.LargeBinary:
		offsets = a.ValueOffsets()
	default:
		return nil, fmt.Errorf("%s has no 64-bit offsets", arr.DataType())
	}
	n, d := arr.Len(), arr.Data()
	buf := memory.NewResizableBuffer(mem)
	defer buf.Release()
	buf.Resize(arrow.Int32Traits.BytesRequired(n + 1))
	short := arrow.Int32Traits.CastFromBytes(buf.Bytes())
	short[0] = 0
	var base int64
	bytes := d.Buffers()[2]
	if n > 0 {
		base = offsets[0]
		if offsets[n]-base > math.MaxInt32 {
			return nil, fmt.Errorf("a batch holds %d bytes of one text column, more than the %d that fit; send smaller batches", offsets[n]-base, math.MaxInt32)
		}
		for i := range n + 1 {
			short[i] = int32(offsets[i] - base)
		}
		if bytes != nil && base > 0 {
			bytes = memory.SliceBuffer(bytes, int(base), int(offsets[n]-base))
			defer bytes.Release()
		}
	}
	nulls, release := alignedBitmap(arr, mem)
	defer release()
	data := array.NewData(to, n, []*memory.Buffer{nulls, buf, bytes}, nil, arr.NullN(), 0)
	defer data.Release()
	return array.MakeFromData(data), nil
}

func copyFixed(a *array.FixedSizeBinary, mem memory.Allocator) arrow.Array {
	b := array.NewBinaryBuilder(mem, arrow.BinaryTypes.Binary)
	defer b.Release()
	b.Reserve(a.Len())
	for i := range a.Len() {
		if a.IsNull(i) {
			b.AppendNull()
		} else {
			b.Append(a.Value(i))
		}
	}
	return b.NewArray()
}

const (
	microsPerMilli = 1000
	microsPerSec   = 1_000_000
	microsPerDay   = 86_400 * microsPerSec
)

func toMicros(arr arrow.Array, to arrow.DataType, mem memory.Allocator) (arrow.Array, error) {
	b := array.NewTimestampBuilder(mem, to.(*arrow.TimestampType))
	defer b.Release()
	b.Reserve(arr.Len())
	var value func(i int) (v, factor int64)
	switch a := arr.(type) {
	case *array.Date32:
		value = func(i int) (int64, int64) { return int64(a.Value(i)), microsPerDay }
	case *array.Timestamp:
		factor := int64(microsPerSec)
		switch a.DataType().(*arrow.TimestampType).Unit {
		case arrow.Millisecond:
			factor = microsPerMilli
		case arrow.Nanosecond:
			factor = 0
		}
		value = func(i int) (int64, int64) { return int64(a.Value(i)), factor }
	}
	for i := range arr.Len() {
		if arr.IsNull(i) {
			b.AppendNull()
			continue
		}
		v, factor := value(i)
		if factor == 0 { // nanoseconds: cut towards the past
			us := v / 1000
			if v%1000 < 0 {
				us--
			}
			b.UnsafeAppend(arrow.Timestamp(us))
			continue
		}
		if v > math.MaxInt64/factor || v < math.MinInt64/factor {
			return nil, fmt.Errorf("the %s value %d does not fit microseconds", arr.DataType(), v)
		}
		b.UnsafeAppend(arrow.Timestamp(v * factor))
	}
	return b.NewArray(), nil
}
