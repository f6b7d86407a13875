package deltatable

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"golang.org/x/sync/errgroup"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
)

// matching is one attempt to find what a merge changes in one version of the
// table. It holds positions and row numbers, never rows.
type matching struct {
	m    *merge
	s    *Snapshot
	rows *rowsOf

	// emit are source rows to write; again counts how many more times, for a key
	// that the table has more than once.
	emit  *rowSet
	mu    sync.Mutex
	again map[uint64]int
	files map[string]*touchedFile
	// carried are matched rows of the table with the columns that U keeps, nil
	// when U sets all columns.
	carried *carrier

	// where is what the probes read of the table; empty means all.
	where                      deltalog.Predicate
	inserted, updated, deleted int64
}

// touchedFile is a file that loses rows.
type touchedFile struct {
	add  *deltalog.Add
	rows int64 // in the file
	gone *roaring64.Bitmap
	new  int64 // of them by this merge
}

// find probes the table, pass by pass.
func (x *matching) find(ctx context.Context) error {
	if x.s.log.NumFiles() == 0 {
		return x.fill(ctx)
	}
	keys, err := x.s.newKeyColumns(x.m, x.rows.total)
	if err != nil {
		return err
	}
	passes := x.m.passes(x.rows, max(x.s.table.opts.MergeMemory/2, 1))
	for pass := range passes {
		if err := ctx.Err(); err != nil {
			return err
		}
		index, lowest, err := x.index(pass, passes, keys)
		if err != nil {
			return err
		}
		x.where = keys.predicate()
		if err := x.probe(ctx, &probe{x: x, index: index, pass: uint64(pass), passes: uint64(passes), lowestGuard: lowest}, x.where); err != nil {
			return err
		}
		for n := range index.entries {
			if e := &index.entries[n]; !e.isDelete && !index.isMatched(n) {
				x.emit.add(e.row)
				x.inserted++
			}
		}
	}
	return nil
}

// passOf spreads keys over passes by bits that the index does not use.
func passOf(hash, passes uint64) uint64 { return (hash >> 48) % passes }

// index builds the index of one pass. lowest is the least guard in it.
func (x *matching) index(pass, passes int, keys *keyColumns) (_ *keyIndex, lowest []byte, err error) {
	index := newKeyIndex(int(x.rows.total) / passes)
	var codec keyCodec
	var hashes []uint64
	var key, guard []byte
	err = x.rows.each(func(b spooledBatch, rec arrow.RecordBatch) error {
		if pass == 0 {
			keys.add(rec)
		}
		cols := pick(rec, x.m.keys)
		hashes = slices.Grow(hashes[:0], int(b.rows))[:b.rows]
		if err := x.m.seed.rows(cols, hashes); err != nil {
			return err
		}
		if err := codec.bind(cols); err != nil {
			return err
		}
		var guardOf func([]byte, int) []byte
		if x.m.guard >= 0 {
			if guardOf, err = orderAppender(rec.Column(x.m.guard)); err != nil {
				return err
			}
		}
		deletes := rec.Column(len(x.m.names)).(*array.Boolean)
		for i, h := range hashes {
			if passOf(h, uint64(passes)) != uint64(pass) {
				continue
			}
			key = codec.appendKey(key[:0], i)
			if guardOf != nil {
				guard = guardOf(guard[:0], i)
				if lowest == nil || bytes.Compare(guard, lowest) < 0 {
					lowest = append(lowest[:0], guard...)
				}
			}
			if index.insert(h, key, guard, uint64(b.first)+uint64(i), deletes.Value(i)) >= 0 {
				return &DuplicateKeyError{Key: x.m.describeKey(rec, i)}
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	index.seal()
	return index, lowest, nil
}

func pick(rec arrow.RecordBatch, columns []int) []arrow.Array {
	out := make([]arrow.Array, len(columns))
	for i, c := range columns {
		out[i] = rec.Column(c)
	}
	return out
}

// probe is one pass over the table.
type probe struct {
	x            *matching
	index        *keyIndex
	pass, passes uint64
	lowestGuard  []byte
}

// probe passes over the files that may hold keys of the source.
func (x *matching) probe(ctx context.Context, p *probe, where deltalog.Predicate) error {
	if x.m.spec.DeleteAbsent {
		where = nil
	} else if len(p.index.entries) == 0 {
		return nil
	}
	cols := make([]tableColumn, 0, len(x.m.keys)+1)
	for _, c := range x.m.indexed() {
		col, err := x.s.column(x.m.names[c])
		if err != nil {
			return err
		}
		cols = append(cols, col)
	}
	if x.carried != nil {
		cols = append(cols, x.carried.cols...)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(x.s.table.opts.Parallel)
	for add := range x.s.log.Files(where) {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() error { return p.file(ctx, add, cols, where) })
	}
	return g.Wait()
}

// hit is a row of the table that a source row matches and changes.
type hit struct {
	at  int64 // position in the file
	row uint64
}

// fileProbe is the probing of one file.
type fileProbe struct {
	*probe
	d       *dataFile
	old     *roaring64.Bitmap // rows that are gone already
	gone    []uint64          // rows that go
	updates []hit             // of the current row group, when columns are carried
	updated int64
	codec   keyCodec
	hashes  []uint64
	key     []byte
	guard   []byte
}

func (p *probe) file(ctx context.Context, add *deltalog.Add, cols []tableColumn, where deltalog.Predicate) error {
	d, err := p.x.s.openDataFile(ctx, add, cols)
	if err != nil {
		return err
	}
	defer d.close()
	f := &fileProbe{probe: p, d: d}
	if f.old, err = p.x.before(ctx, add, d.rows()); err != nil {
		return err
	}
	for _, g := range d.groups(where) {
		if err := f.group(ctx, g); err != nil {
			return err
		}
	}
	if len(f.gone) > 0 {
		p.x.touch(add, d.rows(), f.old, f.gone, f.updated)
	}
	return nil
}

// before are the rows that the file has lost: by its deletion vector, as this
// merge found it. Rows that earlier passes took have other keys, so they need
// not be known.
func (x *matching) before(ctx context.Context, add *deltalog.Add, rows int64) (*roaring64.Bitmap, error) {
	x.mu.Lock()
	t := x.files[add.Path]
	x.mu.Unlock()
	if t != nil {
		return t.gone, nil // only this file's worker changes it, once per pass
	}
	return x.s.deletionVector(ctx, add, rows)
}

// touch records that rows of a file go.
func (x *matching) touch(add *deltalog.Add, rows int64, old *roaring64.Bitmap, gone []uint64, updated int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	t := x.files[add.Path]
	if t == nil {
		t = &touchedFile{add: add, rows: rows, gone: old}
		if t.gone == nil {
			t.gone = roaring64.New()
		}
		x.files[add.Path] = t
	}
	t.gone.AddMany(gone)
	t.new += int64(len(gone))
	x.updated += updated
	x.deleted += int64(len(gone)) - updated
}

// group probes one row group.
func (f *fileProbe) group(ctx context.Context, g rowGroup) error {
	m := f.x.m
	columns := make([]int, len(m.keys), len(m.keys)+1)
	for i := range columns {
		columns[i] = i
	}
	// Mostly the source is newer than the whole row group: then its guards need
	// not be read.
	guarded := m.guard >= 0 && !f.allOlder(g)
	if guarded {
		columns = append(columns, len(m.keys))
	}
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = f.d.cols[c].arrow
	}
	f.updates = f.updates[:0]
	err := f.d.read(ctx, g, columns, arrow.NewSchema(fields, nil), func(at int64, rec arrow.RecordBatch) error {
		return f.batch(at, rec, guarded)
	})
	if err != nil || len(f.updates) == 0 {
		return err
	}
	return f.x.carried.take(ctx, f.d, g, len(m.indexed()), f.updates)
}

// allOlder says whether statistics show that every row of the group has a lower
// guard than every source row.
func (f *fileProbe) allOlder(g rowGroup) bool {
	col := f.d.cols[len(f.x.m.keys)]
	facts := f.d.facts(g.index, col.field.Name)
	if len(f.lowestGuard) == 0 || f.lowestGuard[0] == 0 {
		return false // a source row without a guard is newer than nothing
	}
	if facts.allNull {
		return true
	}
	if facts.hi.IsNull() {
		return false
	}
	highest, ok := orderedBound(facts.hi, col.arrow.Type)
	return ok && bytes.Compare(highest, f.lowestGuard) < 0
}

// batch probes the rows of a batch of key columns, with the guard behind them
// when guarded.
func (f *fileProbe) batch(at int64, rec arrow.RecordBatch, guarded bool) error {
	m := f.x.m
	keys := rec.Columns()[:len(m.keys)]
	f.hashes = slices.Grow(f.hashes[:0], int(rec.NumRows()))[:rec.NumRows()]
	if err := m.seed.rows(keys, f.hashes); err != nil {
		return err
	}
	if err := f.codec.bind(keys); err != nil {
		return err
	}
	var guardOf func([]byte, int) []byte
	if guarded {
		var err error
		if guardOf, err = orderAppender(rec.Column(len(m.keys))); err != nil {
			return err
		}
	}
	index := f.index
	row := 0
	key := func() []byte {
		f.key = f.codec.appendKey(f.key[:0], row)
		return f.key
	}
	for i, h := range f.hashes {
		n := -1
		if index.mayHold(h) {
			row = i
			n = index.find(h, key)
		}
		if n < 0 {
			if m.spec.DeleteAbsent && passOf(h, f.passes) == f.pass && !f.lost(at+int64(i)) {
				f.gone = append(f.gone, uint64(at+int64(i)))
			}
			continue
		}
		if f.lost(at + int64(i)) {
			continue
		}
		index.match(n)
		if guardOf != nil {
			f.guard = guardOf(f.guard[:0], i)
			if bytes.Compare(index.guardOf(n), f.guard) <= 0 {
				continue
			}
		}
		f.change(at+int64(i), &index.entries[n])
	}
	return nil
}

func (f *fileProbe) lost(at int64) bool { return f.old != nil && f.old.Contains(uint64(at)) }

// change notes that the row at position at is deleted or updated by e.
func (f *fileProbe) change(at int64, e *entry) {
	f.gone = append(f.gone, uint64(at))
	if e.isDelete {
		return
	}
	f.updated++
	x := f.x
	if x.carried != nil {
		f.updates = append(f.updates, hit{at, e.row})
		return
	}
	if !x.emit.add(e.row) {
		x.mu.Lock()
		x.again[e.row]++
		x.mu.Unlock()
	}
}
