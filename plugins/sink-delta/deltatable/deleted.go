package deltatable

import (
	"context"
	"fmt"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
)

// deletedRows are the positions in a data file that its deletion vector takes
// away; nil means none. It is read in ascending order.
type deletedRows struct {
	bitmap *roaring64.Bitmap
	next   roaring64.IntPeekable64
}

// newDeletedRows wraps a bitmap, which may be nil.
func newDeletedRows(bitmap *roaring64.Bitmap) *deletedRows {
	if bitmap == nil || bitmap.IsEmpty() {
		return nil
	}
	return &deletedRows{bitmap: bitmap, next: bitmap.Iterator()}
}

// deletionVector loads the file's deletion vector; nil when it has none. rows
// is the number of rows in the file.
func (s *Snapshot) deletionVector(ctx context.Context, add *deltalog.Add, rows int64) (*roaring64.Bitmap, error) {
	if add.DeletionVector == nil {
		return nil, nil
	}
	bitmap, err := s.table.log.ReadDeletionVector(ctx, add.DeletionVector)
	if err != nil {
		return nil, fmt.Errorf("deletion vector of %q: %w", add.Path, err)
	}
	return bitmap, vectorFits(bitmap, add, rows)
}

// vectorFits says that a deletion vector names only rows that the file has.
func vectorFits(bitmap *roaring64.Bitmap, add *deltalog.Add, rows int64) error {
	if !bitmap.IsEmpty() && bitmap.Maximum() >= uint64(rows) {
		return fmt.Errorf("deletion vector of %q names row %d, the file has %d rows: %w", add.Path, bitmap.Maximum(), rows, deltalog.ErrCorrupt)
	}
	return nil
}

// filter returns the rows of rec that are left, where rec begins at position at
// of the file. It returns nil when none are. Batches must come in ascending
// order. The result is the caller's, rec is not.
func (d *deletedRows) filter(ctx context.Context, at int64, rec arrow.RecordBatch, mem memory.Allocator) (arrow.RecordBatch, error) {
	n := rec.NumRows()
	if d == nil {
		rec.Retain()
		return rec, nil
	}
	d.next.AdvanceIfNeeded(uint64(at))
	end := uint64(at + n)
	if !d.next.HasNext() || d.next.PeekNext() >= end {
		rec.Retain()
		return rec, nil
	}
	keep := memory.NewResizableBuffer(mem)
	defer keep.Release()
	keep.Resize(int(bitutil.BytesForBits(n)))
	bits := keep.Bytes()
	for i := range bits {
		bits[i] = 0xFF
	}
	left := n
	for d.next.HasNext() && d.next.PeekNext() < end {
		bitutil.ClearBit(bits, int(int64(d.next.Next())-at))
		left--
	}
	if left == 0 {
		return nil, nil
	}
	return filterRows(ctx, rec, keep, left, mem)
}

// filterRows returns the rows whose bit is set; count is how many that are.
func filterRows(ctx context.Context, rec arrow.RecordBatch, bits *memory.Buffer, count int64, mem memory.Allocator) (arrow.RecordBatch, error) {
	if count == rec.NumRows() {
		rec.Retain()
		return rec, nil
	}
	if rec.NumCols() == 0 {
		return array.NewRecordBatch(rec.Schema(), nil, count), nil
	}
	data := array.NewData(arrow.FixedWidthTypes.Boolean, int(rec.NumRows()), []*memory.Buffer{nil, bits}, nil, 0, 0)
	defer data.Release()
	mask := array.NewBooleanData(data)
	defer mask.Release()
	out, err := compute.FilterRecordBatch(compute.WithAllocator(ctx, mem), rec, mask, compute.DefaultFilterOptions())
	if err != nil {
		return nil, fmt.Errorf("selecting rows: %w", err)
	}
	return out, nil
}
