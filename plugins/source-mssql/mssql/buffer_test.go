package mssql

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"
)

// TestBuffersMakeWhatArrowsBuildersMake fills a buffer and arrow-go's builder
// of the same type with the same values, batch after batch in the same memory.
func TestBuffersMakeWhatArrowsBuildersMake(t *testing.T) {
	t.Parallel()
	for _, kind := range []outType{{kind: kindBool}, {kind: kindInt16}, {kind: kindInt32}, {kind: kindInt64}, {kind: kindFloat32}, {kind: kindFloat64},
		decimalOf(20, 3), {kind: kindDate}, {kind: kindTimestamp}, {kind: kindTimestampNTZ}, {kind: kindString}, {kind: kindBinary}} {
		typ := kind.arrow()
		rapid.Check(t, func(t *rapid.T) {
			ours, err := newBuffer(typ)
			if err != nil {
				t.Fatal(err)
			}
			theirs := array.NewBuilder(memory.DefaultAllocator, typ)
			for batch := range rapid.IntRange(1, 3).Draw(t, "batches") {
				for range rapid.IntRange(1, 70).Draw(t, "rows") {
					if rapid.IntRange(0, 3).Draw(t, "null") == 0 {
						ours.appendNull()
						theirs.AppendNull()
					} else {
						appendBoth(ours, theirs, rapid.Int64().Draw(t, "value"))
					}
				}
				got, want := ours.array(), theirs.NewArray()
				if !array.Equal(got, want) || got.NullN() != want.NullN() || !arrow.TypeEqual(got.DataType(), want.DataType()) {
					t.Fatalf("batch %d of %s is %v, want %v", batch, typ, got, want)
				}
				ours.reset()
			}
		})
	}
}

func appendBoth(ours buffer, theirs array.Builder, v int64) {
	text := []byte("ünïcode and more"[:uint64(v)%15])
	switch b := ours.(type) {
	case *boolBuffer:
		b.append(v%2 == 0)
		theirs.(*array.BooleanBuilder).Append(v%2 == 0)
	case *fixedBuffer[int16]:
		b.append(int16(v))
		theirs.(*array.Int16Builder).Append(int16(v))
	case *fixedBuffer[int32]:
		b.append(int32(v))
		theirs.(*array.Int32Builder).Append(int32(v))
	case *fixedBuffer[int64]:
		b.append(v)
		theirs.(*array.Int64Builder).Append(v)
	case *fixedBuffer[float32]:
		b.append(float32(v))
		theirs.(*array.Float32Builder).Append(float32(v))
	case *fixedBuffer[float64]:
		b.append(float64(v))
		theirs.(*array.Float64Builder).Append(float64(v))
	case *fixedBuffer[decimal128.Num]:
		b.append(decimal128.FromI64(v))
		theirs.(*array.Decimal128Builder).Append(decimal128.FromI64(v))
	case *fixedBuffer[arrow.Date32]:
		b.append(arrow.Date32(v))
		theirs.(*array.Date32Builder).Append(arrow.Date32(v))
	case *fixedBuffer[arrow.Timestamp]:
		b.append(arrow.Timestamp(v))
		theirs.(*array.TimestampBuilder).Append(arrow.Timestamp(v))
	case *bytesBuffer:
		b.append(text)
		switch theirs := theirs.(type) {
		case *array.StringBuilder:
			theirs.Append(string(text))
		case *array.BinaryBuilder:
			theirs.Append(text)
		}
	}
}

func TestOneValueForAllRows(t *testing.T) {
	t.Parallel()
	buf, err := newBuffer(arrow.BinaryTypes.String)
	must(t, err)
	same := sameValue{buf: buf, fill: func(b buffer) { b.(*bytesBuffer).appendString("dbo_orders") }}
	for _, n := range []int{3, 1, 5, 5} {
		got := same.rows(n).(*array.String)
		if got.Len() != n || got.Value(n-1) != "dbo_orders" || got.NullN() != 0 {
			t.Errorf("%d rows are %v", n, got)
		}
	}
	null := sameValue{buf: &fixedBuffer[int32]{typ: arrow.PrimitiveTypes.Int32}, fill: buffer.appendNull}
	for _, n := range []int{4, 2, 9} {
		if got := null.rows(n); got.Len() != n || got.NullN() != n {
			t.Errorf("%d NULLs are %v", n, got)
		}
	}
}
