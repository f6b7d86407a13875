package mssql

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// buffer collects the values of one column. Its memory is used again for every
// batch of a read: what array returns is valid until reset, which is enough
// for rows.Writer, which keeps nothing of a batch.
//
// Arrow's own builders do the same with a bitmap and a bounds check for each
// value, and give their memory away with every batch; in the loop over change
// rows that was most of the time.
type buffer interface {
	appendNull()
	// array is the column with all values since reset.
	array() arrow.Array
	reset()
}

// newBuffer is an empty buffer for a column of an output type's Arrow type.
func newBuffer(t arrow.DataType) (buffer, error) {
	switch t.ID() {
	case arrow.BOOL:
		return &boolBuffer{}, nil
	case arrow.INT16:
		return &fixedBuffer[int16]{typ: t}, nil
	case arrow.INT32:
		return &fixedBuffer[int32]{typ: t}, nil
	case arrow.INT64:
		return &fixedBuffer[int64]{typ: t}, nil
	case arrow.FLOAT32:
		return &fixedBuffer[float32]{typ: t}, nil
	case arrow.FLOAT64:
		return &fixedBuffer[float64]{typ: t}, nil
	case arrow.DECIMAL128:
		return &fixedBuffer[decimal128.Num]{typ: t}, nil
	case arrow.DATE32:
		return &fixedBuffer[arrow.Date32]{typ: t}, nil
	case arrow.TIMESTAMP:
		return &fixedBuffer[arrow.Timestamp]{typ: t}, nil
	case arrow.STRING, arrow.BINARY:
		return &bytesBuffer{typ: t, offsets: []int32{0}}, nil
	}
	return nil, fmt.Errorf("no column of a source has the Arrow type %s", t)
}

// nulls are the places of a column's NULLs, in order. Most columns have none,
// and so a value costs nothing here.
type nulls struct {
	at     []int32
	bitmap []byte
}

// buffer is the validity bitmap of n values, nil when all are valid.
func (v *nulls) buffer(n int) *memory.Buffer {
	if len(v.at) == 0 {
		return nil
	}
	v.bitmap = slices.Grow(v.bitmap[:0], int(bitutil.BytesForBits(int64(n))))[:bitutil.BytesForBits(int64(n))]
	for i := range v.bitmap {
		v.bitmap[i] = 0xFF
	}
	for _, i := range v.at {
		bitutil.ClearBit(v.bitmap, int(i))
	}
	return memory.NewBufferBytes(v.bitmap)
}

// fixedBuffer holds values of one size.
type fixedBuffer[T arrow.FixedWidthType] struct {
	typ    arrow.DataType
	values []T
	nulls  nulls
}

func (b *fixedBuffer[T]) append(v T) { b.values = append(b.values, v) }

func (b *fixedBuffer[T]) appendNull() {
	b.nulls.at = append(b.nulls.at, int32(len(b.values)))
	var zero T
	b.values = append(b.values, zero)
}

func (b *fixedBuffer[T]) array() arrow.Array {
	n := len(b.values)
	return newArray(b.typ, n, len(b.nulls.at), b.nulls.buffer(n), memory.NewBufferBytes(arrow.GetBytes(b.values)))
}

func (b *fixedBuffer[T]) reset() { b.values, b.nulls.at = b.values[:0], b.nulls.at[:0] }

// boolBuffer holds one byte per value until a batch is made of it.
type boolBuffer struct {
	values []bool
	bits   []byte
	nulls  nulls
}

func (b *boolBuffer) append(v bool) { b.values = append(b.values, v) }

func (b *boolBuffer) appendNull() {
	b.nulls.at = append(b.nulls.at, int32(len(b.values)))
	b.values = append(b.values, false)
}

func (b *boolBuffer) array() arrow.Array {
	n := len(b.values)
	size := int(bitutil.BytesForBits(int64(n)))
	b.bits = slices.Grow(b.bits[:0], size)[:size]
	clear(b.bits)
	for i, v := range b.values {
		if v {
			bitutil.SetBit(b.bits, i)
		}
	}
	return newArray(arrow.FixedWidthTypes.Boolean, n, len(b.nulls.at), b.nulls.buffer(n), memory.NewBufferBytes(b.bits))
}

func (b *boolBuffer) reset() { b.values, b.nulls.at = b.values[:0], b.nulls.at[:0] }

// bytesBuffer holds texts or binary values. Callers keep a batch far below
// the two GiB that its offsets can address.
type bytesBuffer struct {
	typ     arrow.DataType
	offsets []int32
	data    []byte
	nulls   nulls
}

func (b *bytesBuffer) append(v []byte) {
	b.data = append(b.data, v...)
	b.end()
}

func (b *bytesBuffer) appendString(v string) {
	b.data = append(b.data, v...)
	b.end()
}

// end closes a value whose bytes were put behind data.
func (b *bytesBuffer) end() { b.offsets = append(b.offsets, int32(len(b.data))) }

func (b *bytesBuffer) appendNull() {
	b.nulls.at = append(b.nulls.at, int32(len(b.offsets)-1))
	b.end()
}

func (b *bytesBuffer) array() arrow.Array {
	n := len(b.offsets) - 1
	return newArray(b.typ, n, len(b.nulls.at), b.nulls.buffer(n), memory.NewBufferBytes(arrow.GetBytes(b.offsets)), memory.NewBufferBytes(b.data))
}

// reset keeps the memory of an ordinary batch; one large row sets no example.
func (b *bytesBuffer) reset() {
	b.offsets, b.data, b.nulls.at = b.offsets[:1], b.data[:0], b.nulls.at[:0]
	if cap(b.data) > 2*batchBytes {
		b.data = nil
	}
}

func newArray(t arrow.DataType, n, nullCount int, buffers ...*memory.Buffer) arrow.Array {
	data := array.NewData(t, n, buffers, nil, nullCount, 0)
	defer data.Release()
	return array.MakeFromData(data)
}

// sameValue is one value in every row, made once for the longest batch.
type sameValue struct {
	fill func(buffer)
	buf  buffer
	n    int
	made arrow.Array
}

// rows is the column with n rows.
func (r *sameValue) rows(n int) arrow.Array {
	if n > r.n {
		for ; r.n < n; r.n++ {
			r.fill(r.buf)
		}
		r.made = r.buf.array()
	}
	return array.NewSlice(r.made, 0, int64(n))
}
