package latest

import (
	"context"
	"fmt"
	"hash/maphash"
	"math/bits"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Options configure a Ranker.
type Options struct {
	Keys  []string
	Order Order
	// Budget bounds the rows held in memory, in bytes; at least one batch is
	// always held. 0 means 256 MiB.
	Budget int64
	// SpillDir is where temporary files go, "" = the system's folder.
	SpillDir  string
	Allocator memory.Allocator
	// Moves lets keys move among rows within one commit, see [Moves]; nil takes the
	// last row of a key for what became of it.
	Moves *Moves
}

const defaultBudget = 256 << 20

// maxDepth ends the division of files whose rows all have the same key hash;
// one key's rows are then held together whatever they take.
const maxDepth = 4

// Ranker takes change rows and gives the newest of each key. Not safe for
// concurrent use.
type Ranker struct {
	options Options
	schema  *arrow.Schema
	keys    []int
	depth   int
	seed    maphash.Seed

	batches []arrow.RecordBatch
	held    int64
	spill   *spill
	// before tells that rows before an update were seen.
	before bool
}

// New returns a ranker for batches of the schema.
func New(schema *arrow.Schema, options Options) (*Ranker, error) {
	if options.Budget <= 0 {
		options.Budget = defaultBudget
	}
	if options.Allocator == nil {
		options.Allocator = memory.DefaultAllocator
	}
	r := &Ranker{options: options, schema: schema, seed: maphash.MakeSeed()}
	for _, name := range options.Keys {
		at := schema.FieldIndices(name)
		if len(at) != 1 {
			return nil, fmt.Errorf("key column %q stands %d times in the rows", name, len(at))
		}
		r.keys = append(r.keys, at[0])
	}
	if len(r.keys) == 0 {
		return nil, fmt.Errorf("no key columns to rank by")
	}
	return r, nil
}

// Add takes rows. It retains the batch as long as it needs it.
func (r *Ranker) Add(batch arrow.RecordBatch) error {
	if batch.NumRows() == 0 {
		return nil
	}
	if r.options.Moves != nil && !r.before {
		o, err := newOrder(batch, r.options.Order)
		if err != nil {
			return err
		}
		r.before = slices.Contains(o.operation.Int32Values(), opUpdateBefore)
	}
	size := Size(batch)
	if r.spill == nil && len(r.batches) > 0 && r.held+size > r.options.Budget && r.depth < maxDepth {
		if err := r.startSpill(); err != nil {
			return err
		}
	}
	if r.spill != nil {
		return r.divide(batch)
	}
	batch.Retain()
	r.batches = append(r.batches, batch)
	r.held += size
	return nil
}

func (r *Ranker) startSpill() error {
	s, err := newSpill(r.options.SpillDir, r.schema, r.options.Allocator)
	if err != nil {
		return err
	}
	r.spill = s
	for _, b := range r.batches {
		if err := r.divide(b); err != nil {
			return err
		}
	}
	r.drop()
	return nil
}

// divide writes each row to the file of its key's partition.
func (r *Ranker) divide(batch arrow.RecordBatch) error {
	k, err := newKey(batch, r.keys)
	if err != nil {
		return err
	}
	var rows [partitions][]int32
	for i := range int(batch.NumRows()) {
		p := k.hash(r.seed, i) >> (64 - partitionBits)
		rows[p] = append(rows[p], int32(i))
	}
	for p, indices := range rows {
		if len(indices) == 0 {
			continue
		}
		piece, err := Take(batch, indices, r.options.Allocator)
		if err != nil {
			return err
		}
		err = r.spill.write(p, piece)
		piece.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// Newest calls emit with batches that hold exactly the newest row of each
// key, in no order. The batches are valid during the call. The ranker is empty
// afterwards.
func (r *Ranker) Newest(ctx context.Context, emit func(arrow.RecordBatch) error) error {
	defer r.Close()
	if r.spill == nil {
		return r.rank(ctx, emit)
	}
	if err := r.spill.finish(); err != nil {
		return err
	}
	for p := range partitions {
		if err := r.rankPartition(ctx, p, emit); err != nil {
			return err
		}
	}
	return nil
}

// rankPartition ranks the rows of one file, dividing them again when they are
// too many.
func (r *Ranker) rankPartition(ctx context.Context, p int, emit func(arrow.RecordBatch) error) error {
	inner, err := New(r.schema, r.options)
	if err != nil {
		return err
	}
	defer inner.Close()
	inner.depth, inner.before = r.depth+1, r.before
	if err := r.spill.read(ctx, p, inner.Add); err != nil {
		return err
	}
	return inner.Newest(ctx, emit)
}

// rank finds the newest rows of the batches in memory.
func (r *Ranker) rank(ctx context.Context, emit func(arrow.RecordBatch) error) error {
	keys := make([]key, len(r.batches))
	orders := make([]order, len(r.batches))
	rows := 0
	for i, b := range r.batches {
		var err error
		if keys[i], err = newKey(b, r.keys); err != nil {
			return err
		}
		if orders[i], err = newOrder(b, r.options.Order); err != nil {
			return err
		}
		rows += int(b.NumRows())
	}
	// Changes usually repeat keys: start at half the rows and grow at need.
	t := newTable(r.seed, rows/2)
	for b := range r.batches {
		if err := ctx.Err(); err != nil {
			return err
		}
		k, o := keys[b], orders[b]
		for row := range int(r.batches[b].NumRows()) {
			h := k.hash(t.seed, row)
			s := t.find(h, func(batch int32, other int) bool { return k.equal(row, keys[batch], other) })
			if s.batch == emptySlot {
				t.take(s, slot{hash: h, batch: int32(b), place: uint32(row)})
				continue
			}
			last := orders[s.batch]
			switch newer := o.compare(row, last, s.row()) > 0; {
			case newer:
				within := o.sameCommit(row, last, s.row()) && (s.place&brought != 0 || last.brings(s.row()))
				s.at(int32(b), row, within)
			case o.brings(row) && o.sameCommit(row, last, s.row()):
				s.place |= brought
			}
		}
	}
	if r.options.Moves != nil {
		if err := r.settle(ctx, t, keys, orders); err != nil {
			return err
		}
	}
	return r.gather(t, emit)
}

// gather emits the winners batch by batch, in row order.
func (r *Ranker) gather(t *table, emit func(arrow.RecordBatch) error) error {
	// A bit for every row brings the winners of the table, which lie about in
	// it, into the order of the rows.
	first := make([]int64, len(r.batches)) // word of each batch's first row
	words := int64(0)
	for b, batch := range r.batches {
		first[b] = words
		words += (batch.NumRows() + 63) / 64
	}
	won := make([]uint64, words)
	for _, s := range t.slots {
		if s.batch != emptySlot {
			won[first[s.batch]+int64(s.row()/64)] |= 1 << (s.row() % 64)
		}
	}
	var indices []int32
	for b, batch := range r.batches {
		indices = indices[:0]
		for i, word := range won[first[b] : first[b]+(batch.NumRows()+63)/64] {
			for ; word != 0; word &= word - 1 {
				indices = append(indices, int32(i*64+bits.TrailingZeros64(word)))
			}
		}
		if len(indices) == 0 {
			continue
		}
		newest, err := Take(batch, indices, r.options.Allocator)
		if err != nil {
			return err
		}
		err = emit(newest)
		newest.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// Close drops all rows and temporary files.
func (r *Ranker) Close() {
	r.drop()
	if r.spill != nil {
		r.spill.close()
		r.spill = nil
	}
}

func (r *Ranker) drop() {
	for _, b := range r.batches {
		b.Release()
	}
	r.batches, r.held = nil, 0
}

// Take returns the rows at ascending indices; the batch itself when that is
// all of them.
func Take(batch arrow.RecordBatch, indices []int32, alloc memory.Allocator) (arrow.RecordBatch, error) {
	if int64(len(indices)) == batch.NumRows() {
		batch.Retain()
		return batch, nil
	}
	b := array.NewInt32Builder(alloc)
	defer b.Release()
	b.AppendValues(indices, nil)
	at := b.NewInt32Array()
	defer at.Release()
	ctx := compute.WithAllocator(context.Background(), alloc)
	columns := make([]arrow.Array, batch.NumCols())
	defer func() {
		for _, c := range columns {
			if c != nil {
				c.Release()
			}
		}
	}()
	for i := range columns {
		c, err := compute.TakeArrayOpts(ctx, batch.Column(i), at, compute.TakeOptions{BoundsCheck: false})
		if err != nil {
			return nil, fmt.Errorf("taking %d rows of column %q: %w", len(indices), batch.ColumnName(i), err)
		}
		columns[i] = c
	}
	return array.NewRecordBatch(batch.Schema(), columns, int64(len(indices))), nil
}

// Size is the memory that the buffers of a batch take, in bytes. Buffers that
// a slice shares with its parent count whole.
func Size(batch arrow.RecordBatch) int64 {
	var n int64
	for _, c := range batch.Columns() {
		n += dataSize(c.Data())
	}
	return n
}

func dataSize(d arrow.ArrayData) int64 {
	var n int64
	for _, b := range d.Buffers() {
		if b != nil {
			n += int64(b.Len())
		}
	}
	for _, child := range d.Children() {
		n += dataSize(child)
	}
	return n
}
