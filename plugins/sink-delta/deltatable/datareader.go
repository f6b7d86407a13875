package deltatable

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
	"github.com/pipectl/pipectl/plugins/sink-delta/parquetfile"
	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

const (
	// batchRows and batchBytesTarget bound the batches that are read.
	batchRows        = 64 << 10
	batchBytesTarget = 16 << 20
	// minBatchRows keeps batches of very wide rows from becoming single rows.
	minBatchRows = 64
)

// tableColumn is a column of the table that is to be read from a data file.
type tableColumn struct {
	field     deltalog.Field
	arrow     arrow.Field // display name and type
	partition bool
}

// dataFile is an open data file of one version of the table.
type dataFile struct {
	add     *deltalog.Add
	cols    []tableColumn
	sources []columnSource // one for each of cols
	object  store.Reader
	parquet *parquetfile.File
	reader  *pqarrow.FileReader
	conv    converter
	mem     memory.Allocator
}

// columnSource is where a column's values come from: a field of the file, the
// INT96 leaf of such a field, a constant, or nowhere (NULL).
type columnSource struct {
	field    int // top-level field in the file, -1 when it has none
	leaves   map[int]bool
	int96    int // leaf, -1 when the field is something else
	constant *deltalog.Value
}

// rowGroup is a run of rows of a data file.
type rowGroup struct {
	index int
	first int64 // position of its first row in the file
	rows  int64
}

// openDataFile opens the file that add names to read cols.
func (s *Snapshot) openDataFile(ctx context.Context, add *deltalog.Add, cols []tableColumn) (_ *dataFile, err error) {
	st, path, err := s.table.log.Locate(ctx, add.Path)
	if err != nil {
		return nil, fmt.Errorf("locating data file %q: %w", add.Path, err)
	}
	object, err := store.Open(ctx, st, path)
	if err != nil {
		return nil, fmt.Errorf("opening data file %q: %w", path, err)
	}
	d := &dataFile{
		add: add, cols: cols, object: object, mem: s.table.mem(),
		conv: converter{finder: fieldFinder{s.log.MappingMode()}, mem: s.table.mem()},
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w %q: %v", ErrDamaged, path, r)
		}
		if err != nil {
			d.close()
		}
	}()
	if err := sizeFits(path, object.Size(), add); err != nil {
		return nil, err
	}
	if d.parquet, err = parquetfile.Open(object, parquet.NewReaderProperties(d.mem)); err != nil {
		return nil, fileError(path, err)
	}
	// A stored Arrow schema would bring types of its own (dictionaries, large
	// strings); the table's schema decides here.
	d.parquet.MetaData().FileMetaData.KeyValueMetadata = nil
	d.reader, err = pqarrow.NewFileReader(d.parquet.Reader, pqarrow.ArrowReadProperties{}, d.mem)
	if err != nil {
		return nil, fileError(path, d.parquet.Cause(err))
	}
	fields := make([]arrow.Field, len(d.reader.Manifest.Fields))
	for i := range fields {
		fields[i] = *d.reader.Manifest.Fields[i].Field
	}
	for _, c := range cols {
		src := columnSource{field: -1, int96: -1}
		if c.partition {
			v, err := s.log.PartitionValue(add, c.field.Name)
			if err != nil {
				return nil, fmt.Errorf("data file %q, partition column %q: %w", path, c.field.Name, err)
			}
			src.constant = &v
		} else if src.field = d.conv.finder.find(fields, c.field); src.field >= 0 {
			src.leaves = map[int]bool{}
			f := &d.reader.Manifest.Fields[src.field]
			collectLeaves(f, src.leaves)
			if f.IsLeaf() && d.parquet.MetaData().Schema.Column(f.ColIndex).PhysicalType() == parquet.Types.Int96 {
				src.int96 = f.ColIndex
			}
		}
		d.sources = append(d.sources, src)
	}
	return d, nil
}

func collectLeaves(f *pqarrow.SchemaField, into map[int]bool) {
	if f.IsLeaf() {
		into[f.ColIndex] = true
	}
	for i := range f.Children {
		collectLeaves(&f.Children[i], into)
	}
}

func (d *dataFile) close() error {
	if d.parquet != nil {
		return d.parquet.Close() // closes the object, too
	}
	return d.object.Close()
}

// rows is the number of rows in the file, deleted ones included.
func (d *dataFile) rows() int64 { return d.parquet.NumRows() }

// groups are the row groups that may hold rows for which p is true.
func (d *dataFile) groups(p deltalog.Predicate) []rowGroup {
	var out []rowGroup
	var first int64
	for i := range d.parquet.NumRowGroups() {
		g := rowGroup{index: i, first: first, rows: d.parquet.MetaData().RowGroup(i).NumRows()}
		if g.rows > 0 && d.groupMayMatch(i, p) {
			out = append(out, g)
		}
		first += g.rows
	}
	return out
}

// read passes the group's rows to each, in order, in batches of the chosen
// columns (positions in the file's column list): at is the position of the
// batch's first row in the file. The batch is only borrowed.
func (d *dataFile) read(ctx context.Context, g rowGroup, columns []int, schema *arrow.Schema, each func(at int64, rec arrow.RecordBatch) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w %q: %v\n%s", ErrDamaged, d.add.Path, r, debug.Stack())
		}
	}()
	readers := make([]groupColumn, 0, len(columns))
	defer func() {
		for _, r := range readers {
			r.release()
		}
	}()
	var width int64
	for _, c := range columns {
		r, err := d.groupColumn(ctx, g, c)
		if err != nil {
			return d.columnError(c, err)
		}
		readers = append(readers, r)
		for leaf := range d.sources[c].leaves {
			meta, err := d.parquet.MetaData().RowGroup(g.index).ColumnChunk(leaf)
			if err != nil {
				return d.columnError(c, d.parquet.Cause(err))
			}
			width += meta.TotalUncompressedSize()
		}
	}
	step := int64(batchRows)
	if perRow := width / g.rows; perRow > 0 {
		step = min(step, max(batchBytesTarget/perRow, minBatchRows))
	}
	for at := int64(0); at < g.rows; at += step {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(step, g.rows-at)
		if err := d.batch(readers, columns, schema, n, func(rec arrow.RecordBatch) error { return each(g.first+at, rec) }); err != nil {
			return err
		}
	}
	return nil
}

func (d *dataFile) batch(readers []groupColumn, columns []int, schema *arrow.Schema, n int64, each func(arrow.RecordBatch) error) error {
	arrays := make([]arrow.Array, 0, len(readers))
	defer func() {
		for _, a := range arrays {
			a.Release()
		}
	}()
	for i, r := range readers {
		a, err := r.next(n)
		if err == nil && int64(a.Len()) != n {
			err = d.parquet.Cause(fmt.Errorf("%d rows instead of %d", a.Len(), n))
			a.Release()
		}
		if err != nil {
			return d.columnError(columns[i], err)
		}
		arrays = append(arrays, a)
	}
	rec := array.NewRecordBatch(schema, arrays, n)
	defer rec.Release()
	return each(rec)
}

// groupColumn reads one column of one row group, batch by batch, in the table's
// type.
type groupColumn struct {
	next    func(n int64) (arrow.Array, error)
	release func()
}

func (d *dataFile) groupColumn(ctx context.Context, g rowGroup, c int) (groupColumn, error) {
	col, src := d.cols[c], d.sources[c]
	nothing := func() {}
	switch {
	case src.constant != nil:
		return groupColumn{func(n int64) (arrow.Array, error) {
			return constantColumn(*src.constant, col.arrow.Type, int(n), d.mem)
		}, nothing}, nil
	case src.field < 0:
		return groupColumn{func(n int64) (arrow.Array, error) {
			return nullColumn(col.arrow.Type, int(n), d.mem), nil
		}, nothing}, nil
	}
	converted := func(a arrow.Array, err error) (arrow.Array, error) {
		if err != nil {
			return nil, err
		}
		defer a.Release()
		return d.conv.convert(a, col.field.Type, col.arrow.Type)
	}
	if src.int96 >= 0 {
		r, err := newInt96Reader(d.parquet.RowGroup(g.index), src.int96)
		if err != nil {
			return groupColumn{}, d.parquet.Cause(err)
		}
		return groupColumn{func(n int64) (arrow.Array, error) { return converted(r.next(int(n), d.mem)) }, func() { r.column.Close() }}, nil
	}
	r, err := d.reader.GetFieldReader(ctx, src.field, src.leaves, []int{g.index})
	if err != nil {
		return groupColumn{}, d.parquet.Cause(err)
	}
	return groupColumn{func(n int64) (arrow.Array, error) {
		chunks, err := r.NextBatch(n)
		if err != nil {
			return nil, d.parquet.Cause(err)
		}
		defer chunks.Release()
		return converted(oneArray(chunks, d.mem))
	}, r.Release}, nil
}

// columnError says in which file and column err came up.
func (d *dataFile) columnError(c int, err error) error {
	if errors.Is(err, parquetfile.ErrDamaged) {
		return fmt.Errorf("%w %q, column %q: %w", ErrDamaged, d.add.Path, d.cols[c].field.Name, err)
	}
	return fmt.Errorf("data file %q, column %q: %w", d.add.Path, d.cols[c].field.Name, err)
}

// fileError says in which file err came up.
func fileError(path string, err error) error {
	if errors.Is(err, parquetfile.ErrDamaged) {
		return fmt.Errorf("%w %q: %w", ErrDamaged, path, err)
	}
	return fmt.Errorf("data file %q: %w", path, err)
}

// oneArray joins the chunks of a column; mostly there is one.
func oneArray(c *arrow.Chunked, mem memory.Allocator) (arrow.Array, error) {
	switch len(c.Chunks()) {
	case 0:
		return nil, errors.New("no data")
	case 1:
		a := c.Chunk(0)
		a.Retain()
		return a, nil
	}
	return array.Concatenate(c.Chunks(), mem)
}
