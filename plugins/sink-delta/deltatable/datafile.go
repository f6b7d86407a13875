package deltatable

import (
	"bufio"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/google/uuid"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// rowGroupBudget bounds the Arrow bytes in unfinished row groups over all data
// writers that share it. A writer that finds the budget used up finishes its
// row group when it holds its fair share or more, so the sum stays below twice
// the budget however unevenly the writers are fed.
type rowGroupBudget struct {
	limit   int64
	used    atomic.Int64
	writers atomic.Int64
}

// add counts n more bytes of a writer that now holds own, and says whether it
// must finish its row group.
func (b *rowGroupBudget) add(n, own int64) bool {
	used := b.used.Add(n)
	return used > b.limit && own*max(b.writers.Load(), 1) >= b.limit
}

// fileLayout is what data files of one write have in common.
type fileLayout struct {
	store  store.Store
	folder string           // of the table, inside store
	schema *deltalog.Struct // columns of the files, with physical names
	// The table's columns: all of them as batches have them, which are in the
	// files, and which the files' place says.
	table     *arrow.Schema
	all, data []int
	partition []partitionColumn
	mapped    bool          // by column mapping
	spillDir  string        // for rows of partitions that wait
	arrow     *arrow.Schema // the same, as batches for the Parquet writer have it
	leaves    []statsLeaf   // columns with statistics
	options   encodingOptions
	target    int64 // bytes at which a file is finished
	budget    *rowGroupBudget
	mem       memory.Allocator
	now       func() time.Time
}

// dataWriter writes batches of the files' columns into data files of one
// partition, one after another. It is not safe for concurrent use; several of them may share a
// layout.
type dataWriter struct {
	*fileLayout
	ctx    context.Context
	values map[string]*string // partition values, by physical name
	inside string             // folder inside the table's, with a slash behind it
	adds   []*deltalog.Add    // finished files
	rows   int64              // in finished files and the open one
	open   *openFile
}

// openFile is the file that is being written.
type openFile struct {
	name    string // inside the table's folder
	object  store.Writer
	buf     *bufio.Writer
	size    countingWriter
	parquet *pqarrow.FileWriter
	stats   *statsCollector
	// The unfinished row group: its rows, its Arrow bytes, and whether the
	// budget wants it finished.
	groupRows, group int64
	full             bool
}

// countingWriter counts the bytes that pass through.
type countingWriter struct {
	to *bufio.Writer
	n  int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	c.n += int64(n)
	return n, err
}

func (l *fileLayout) newWriter(ctx context.Context) *dataWriter {
	l.budget.writers.Add(1)
	return &dataWriter{fileLayout: l, ctx: ctx, values: map[string]*string{}}
}

func (w *dataWriter) files() []*deltalog.Add { return w.adds }

func (w *dataWriter) written() int64 { return w.rows }

// write appends the rows of rec, whose columns must have the types of the
// layout's schema in its order. rec is borrowed.
func (w *dataWriter) write(rec arrow.RecordBatch) error {
	if rec.NumRows() == 0 {
		return nil
	}
	cols := slices.Clone(rec.Columns())
	for i, c := range cols {
		if to := w.arrow.Field(i).Type; arrow.IsNested(to.ID()) { // fields inside have physical names
			cols[i] = relabel(c, to)
			defer cols[i].Release()
		}
		if filled, changed := solid(cols[i]); changed {
			cols[i] = filled
			defer filled.Release()
		}
	}
	rec = array.NewRecordBatch(w.arrow, cols, rec.NumRows())
	defer rec.Release()
	for i, f := range w.schema.Fields {
		if err := checkNotNull(rec.Column(i), f, "", w.mem); err != nil {
			return err
		}
	}
	if w.open == nil {
		if err := w.begin(rec); err != nil {
			return err
		}
	}
	f := w.open
	if f.full {
		if err := f.parquet.NewBufferedRowGroupChecked(); err != nil {
			return fmt.Errorf("writing %q: %w", f.name, err)
		}
		w.releaseGroup()
		f.full = false
	}
	if err := f.parquet.WriteBuffered(rec); err != nil {
		return fmt.Errorf("encoding %q: %w", f.name, err)
	}
	f.stats.update(rec)
	w.rows += rec.NumRows()
	n := batchBytes(rec)
	rows, err := f.parquet.RowGroupNumRows()
	if err != nil {
		return fmt.Errorf("encoding %q: %w", f.name, err)
	}
	if int64(rows) < f.groupRows+rec.NumRows() { // the Parquet writer began another group
		w.releaseGroup()
		n = n * int64(rows) / rec.NumRows()
	}
	f.groupRows = int64(rows)
	f.group += n
	// Finished by the next batch, so that a file never ends in an empty group.
	f.full = w.budget.add(n, f.group)
	if f.size.n+f.parquet.RowGroupTotalCompressedBytes() >= w.target {
		return w.finish()
	}
	return nil
}

func (w *dataWriter) releaseGroup() {
	w.budget.used.Add(-w.open.group)
	w.open.group, w.open.groupRows = 0, 0
}

// begin opens a file whose encoding suits the batch rec.
func (w *dataWriter) begin(rec arrow.RecordBatch) error {
	props, err := w.options.writerProperties(rec, w.mem)
	if err != nil {
		return err
	}
	f := &openFile{
		name:  fmt.Sprintf("%spart-%05d-%s.zstd.parquet", w.inside, len(w.adds), uuid.New()),
		stats: newStatsCollector(w.leaves, w.mem),
	}
	if f.object, err = store.Create(w.ctx, w.store, joinPath(w.folder, f.name)); err != nil {
		return fmt.Errorf("creating a data file: %w", err)
	}
	f.buf = bufio.NewWriterSize(f.object, 1<<20)
	f.size.to = f.buf
	f.parquet, err = pqarrow.NewFileWriter(w.arrow, &f.size, props, pqarrow.NewArrowWriterProperties(pqarrow.WithAllocator(w.mem)))
	if err != nil {
		f.object.Abort()
		return fmt.Errorf("data file %q: %w", f.name, err)
	}
	w.open = f
	return nil
}

// finish completes the open file, if there is one.
func (w *dataWriter) finish() error {
	f := w.open
	if f == nil {
		return nil
	}
	if err := f.parquet.Close(); err != nil {
		return fmt.Errorf("writing %q: %w", f.name, err)
	}
	if err := f.buf.Flush(); err != nil {
		return fmt.Errorf("writing %q: %w", f.name, err)
	}
	w.releaseGroup()
	w.open = nil
	stats, err := f.stats.stats().Encode()
	if err != nil {
		f.object.Abort()
		return fmt.Errorf("statistics of %q: %w", f.name, err)
	}
	// From here on the file may exist, so it is listed first: whoever gives up
	// deletes what is listed.
	w.adds = append(w.adds, &deltalog.Add{
		Path:             deltalog.EncodePath(f.name),
		PartitionValues:  w.values,
		Size:             f.size.n,
		ModificationTime: w.now().UnixMilli(),
		DataChange:       true,
		Stats:            stats,
	})
	if err := f.object.Close(); err != nil {
		return fmt.Errorf("completing %q: %w", f.name, err)
	}
	return nil
}

// close finishes the open file and gives back the writer's share of the budget.
// After an error abort must be called.
func (w *dataWriter) close() error {
	if err := w.finish(); err != nil {
		return err
	}
	w.budget.writers.Add(-1)
	return nil
}

// abort drops the open file. Finished files stay; see deleteFiles.
func (w *dataWriter) abort() {
	if f := w.open; f != nil {
		f.parquet.Close() // gives its buffers back
		f.object.Abort()
		w.releaseGroup()
		w.open = nil
	}
	w.budget.writers.Add(-1)
}

// deleteFiles removes data files that no commit names. It goes on after an
// error and returns the first: a file that stays is waste, not damage, and
// VACUUM removes it.
func (l *fileLayout) deleteFiles(ctx context.Context, adds []*deltalog.Add) (first error) {
	for _, a := range adds {
		name, err := url.PathUnescape(a.Path)
		if err == nil {
			err = l.store.Delete(ctx, joinPath(l.folder, name))
		}
		if err != nil && first == nil {
			first = fmt.Errorf("deleting an unused data file: %w", err)
		}
	}
	return first
}

// joinPath puts a name into a folder; the folder may be the store's root.
func joinPath(folder, name string) string {
	if folder == "" {
		return name
	}
	return strings.TrimSuffix(folder, "/") + "/" + name
}
