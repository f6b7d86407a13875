package deltatable

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// alignedBitmap is the validity bitmap of arr as it must stand in an array of
// offset 0; nil when there are no nulls. release must be called after use.
func alignedBitmap(arr arrow.Array, mem memory.Allocator) (bitmap *memory.Buffer, release func()) {
	d := arr.Data()
	src := d.Buffers()[0]
	if arr.NullN() == 0 || src == nil {
		return nil, func() {}
	}
	if d.Offset() == 0 {
		return src, func() {}
	}
	buf := memory.NewResizableBuffer(mem)
	buf.Resize(int(bitutil.BytesForBits(int64(arr.Len()))))
	clear(buf.Bytes())
	bitutil.CopyBitmap(src.Bytes(), d.Offset(), arr.Len(), buf.Bytes(), 0)
	return buf, buf.Release
}

// nullColumn is a column of n NULLs.
func nullColumn(t arrow.DataType, n int, mem memory.Allocator) arrow.Array {
	return array.MakeArrayOfNull(mem, t, n)
}

// arrowBytes is about how much memory the rows of arr take, whatever larger
// buffers they are a slice of.
func arrowBytes(arr arrow.Array) int64 {
	n := int64(arr.Len())
	if n == 0 {
		return 0 // an empty array may lack even its offsets
	}
	size := n / 8
	switch a := arr.(type) {
	case *array.String:
		return size + 4*n + int64(valueSpan(a.ValueOffsets()))
	case *array.Binary:
		return size + 4*n + int64(valueSpan(a.ValueOffsets()))
	case *array.LargeString:
		return size + 8*n + valueSpan(a.ValueOffsets())
	case *array.LargeBinary:
		return size + 8*n + valueSpan(a.ValueOffsets())
	case *array.Struct:
		for i := range a.NumField() {
			size += arrowBytes(a.Field(i))
		}
		return size
	case array.ListLike: // also maps
		first, _ := a.ValueOffsets(0)
		_, last := a.ValueOffsets(int(n - 1))
		if values := a.ListValues(); values.Len() > 0 {
			size += 4*n + arrowBytes(values)*(last-first)/int64(values.Len())
		}
		return size
	}
	if w, ok := arr.DataType().(arrow.FixedWidthDataType); ok {
		return size + n*int64(w.BitWidth())/8
	}
	return size
}

func valueSpan[T int32 | int64](offsets []T) T {
	if len(offsets) == 0 {
		return 0
	}
	return offsets[len(offsets)-1] - offsets[0]
}

// batchBytes is arrowBytes over all columns.
func batchBytes(rec arrow.RecordBatch) (size int64) {
	for _, c := range rec.Columns() {
		size += arrowBytes(c)
	}
	return size
}
