package deltatable

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// carrier keeps the columns of matched rows that an update does not set, until
// they are joined with the source rows that set the others.
type carrier struct {
	cols   []tableColumn
	read   *arrow.Schema // of cols
	schema *arrow.Schema // the same, and the number of the source row behind them
	mem    memory.Allocator

	mu   sync.Mutex
	rows *spoolPart
}

// newCarrier returns the carrier of the columns that the merge does not set;
// nil when it sets all.
func (s *Snapshot) newCarrier(m *merge) *carrier {
	set := map[string]bool{}
	for _, i := range m.update {
		set[m.names[i]] = true
	}
	c := &carrier{mem: s.table.mem()}
	var fields []arrow.Field
	for _, col := range s.all {
		if !set[col.field.Name] {
			c.cols = append(c.cols, col)
			fields = append(fields, col.arrow)
		}
	}
	if len(c.cols) == 0 {
		return nil
	}
	c.read = arrow.NewSchema(fields, nil)
	c.schema = arrow.NewSchema(append(slices.Clone(fields), arrow.Field{Name: "source row", Type: arrow.PrimitiveTypes.Uint64}), nil)
	c.rows = (&spool{schema: c.schema, mem: c.mem, dir: s.table.opts.SpillDir, limit: s.table.opts.MergeMemory / 4}).newPart()
	return c
}

func (c *carrier) close() error {
	if c == nil {
		return nil
	}
	return c.rows.close()
}

// take reads the carried columns of the rows that updates name, all in group g.
// They begin at column first of the file's list.
func (c *carrier) take(ctx context.Context, d *dataFile, g rowGroup, first int, updates []hit) error {
	columns := make([]int, len(c.cols))
	for i := range columns {
		columns[i] = first + i
	}
	next := 0
	return d.read(ctx, g, columns, c.read, func(at int64, rec arrow.RecordBatch) error {
		from := next
		for next < len(updates) && updates[next].at < at+rec.NumRows() {
			next++
		}
		if next == from {
			return nil
		}
		bits := memory.NewResizableBuffer(c.mem)
		defer bits.Release()
		bits.Resize(int(bitutil.BytesForBits(rec.NumRows())))
		clear(bits.Bytes())
		b := array.NewUint64Builder(c.mem)
		defer b.Release()
		for _, u := range updates[from:next] {
			bitutil.SetBit(bits.Bytes(), int(u.at-at))
			b.Append(u.row)
		}
		kept, err := filterRows(ctx, rec, bits, int64(next-from), c.mem)
		if err != nil {
			return err
		}
		defer kept.Release()
		numbers := b.NewArray()
		defer numbers.Release()
		full := array.NewRecordBatch(c.schema, append(slices.Clone(kept.Columns()), numbers), kept.NumRows())
		defer full.Release()
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.rows.write(full)
	})
}

// joinRows is how many carried rows are joined with their source rows at once.
const joinRows = 64 << 10

// write joins the carried rows with their source rows and writes them.
func (c *carrier) write(ctx context.Context, x *matching, w rowSink) error {
	if err := c.rows.seal(); err != nil {
		return err
	}
	var waiting []arrow.RecordBatch
	var rows int64
	release := func() {
		for _, rec := range waiting {
			rec.Release()
		}
		waiting, rows = nil, 0
	}
	defer release()
	for i, n := range c.rows.sizes {
		rec, err := c.rows.batch(i)
		if err != nil {
			return err
		}
		waiting = append(waiting, rec)
		if rows += n; rows < joinRows && i < len(c.rows.sizes)-1 {
			continue
		}
		if err := c.join(ctx, x, waiting, w); err != nil {
			return err
		}
		release()
	}
	return nil
}

func (c *carrier) join(ctx context.Context, x *matching, batches []arrow.RecordBatch, w rowSink) error {
	carried := make([]arrow.Array, 0, len(c.cols)+1)
	var made arrays
	defer func() { made.release() }()
	for i := range len(c.cols) + 1 {
		parts := make([]arrow.Array, len(batches))
		for j, b := range batches {
			parts[j] = b.Column(i)
		}
		a, err := array.Concatenate(parts, c.mem)
		if err != nil {
			return fmt.Errorf("joining updated rows: %w", err)
		}
		carried = append(carried, made.keep(a))
	}
	// In the order of the source, so that each of its batches is loaded once.
	numbers := carried[len(c.cols)].(*array.Uint64).Uint64Values()
	order := make([]int64, len(numbers))
	for i := range order {
		order[i] = int64(i)
	}
	slices.SortFunc(order, func(a, b int64) int { return cmp.Compare(numbers[a], numbers[b]) })
	sorted := make([]uint64, len(numbers))
	for i, o := range order {
		sorted[i] = numbers[o]
	}
	set, err := x.rows.gather(ctx, sorted, x.m.update, c.mem)
	if err != nil {
		return err
	}
	for _, a := range set {
		made.keep(a)
	}
	byName := map[string]arrow.Array{}
	for i, u := range x.m.update {
		byName[x.m.names[u]] = set[i]
	}
	for i, col := range c.cols {
		a, err := takeRows(ctx, carried[i], order, c.mem)
		if err != nil {
			return err
		}
		byName[col.field.Name] = made.keep(a)
	}
	out := make([]arrow.Array, len(x.s.all))
	for i, col := range x.s.all {
		out[i] = byName[col.field.Name]
	}
	rec := array.NewRecordBatch(x.s.schema, out, int64(len(order)))
	defer rec.Release()
	return w.write(rec)
}

// arrays are arrays to release together.
type arrays struct{ held []arrow.Array }

func (a *arrays) keep(x arrow.Array) arrow.Array {
	a.held = append(a.held, x)
	return x
}

func (a *arrays) release() {
	for _, x := range a.held {
		x.Release()
	}
	a.held = nil
}

// gather returns the chosen columns of the rows with these numbers, which must
// be in ascending order and may repeat. The arrays are the caller's.
func (r *rowsOf) gather(ctx context.Context, numbers []uint64, columns []int, mem memory.Allocator) (_ []arrow.Array, err error) {
	pieces := make([]arrays, len(columns))
	defer func() {
		for i := range pieces {
			pieces[i].release()
		}
	}()
	for from := 0; from < len(numbers); {
		at := sort.Search(len(r.batches), func(i int) bool {
			return uint64(r.batches[i].first+r.batches[i].rows) > numbers[from]
		})
		b := r.batches[at]
		var local []int64
		for ; from < len(numbers) && numbers[from] < uint64(b.first+b.rows); from++ {
			local = append(local, int64(numbers[from])-b.first)
		}
		err := b.with(func(rec arrow.RecordBatch) error {
			for i, c := range columns {
				a, err := takeRows(ctx, rec.Column(c), local, mem)
				if err != nil {
					return err
				}
				pieces[i].keep(a)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	var out arrays
	for i := range pieces {
		a, err := array.Concatenate(pieces[i].held, mem)
		if err != nil {
			out.release()
			return nil, fmt.Errorf("joining rows: %w", err)
		}
		out.keep(a)
	}
	return out.held, nil
}

// takeRows returns the rows of arr with these positions.
func takeRows(ctx context.Context, arr arrow.Array, positions []int64, mem memory.Allocator) (arrow.Array, error) {
	data := array.NewData(arrow.PrimitiveTypes.Int64, len(positions),
		[]*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(positions))}, nil, 0, 0)
	defer data.Release()
	indices := array.NewInt64Data(data)
	defer indices.Release()
	out, err := compute.TakeArray(compute.WithAllocator(ctx, mem), arr, indices)
	if err != nil {
		return nil, fmt.Errorf("selecting rows: %w", err)
	}
	return out, nil
}
