package deltatable

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"golang.org/x/sync/errgroup"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
)

// commitMerge finds what changes in the newest version, writes it and commits;
// after a conflict all over again on the version that won.
func (w *Write) commitMerge(ctx context.Context, parts []partRows, userMetadata string) (Result, error) {
	spooled := make([]*spoolPart, len(parts))
	for i, p := range parts {
		spooled[i] = p.(*mergePart).rows
	}
	rows := newRowsOf(spooled)
	return w.untilCommitted(ctx, func(s *Snapshot) (Result, error) {
		if err := w.merge.suits(s); err != nil {
			return Result{}, err
		}
		return w.tryMerge(ctx, s, rows, userMetadata)
	})
}

// untilCommitted makes attempts on the newest version until one is committed, or
// fails for another reason than a conflict.
func (w *Write) untilCommitted(ctx context.Context, try func(s *Snapshot) (Result, error)) (Result, error) {
	retry := w.table.newRetrier()
	for {
		// Even the first attempt takes the newest version: the parts may have
		// taken hours.
		s, err := w.table.Snapshot(ctx)
		if err != nil {
			return Result{}, err
		}
		if err := w.check(ctx, s); err != nil {
			return Result{}, err
		}
		if w.recorded(s) {
			return Result{Version: s.Version(), Outcome: Already}, nil
		}
		result, err := try(s)
		var txn *deltalog.TxnError
		switch {
		case err == nil:
			return result, nil
		case errors.As(err, &txn) && len(w.spec.Txns) == 1:
			return Result{Version: s.Version(), Outcome: Already}, nil
		case errors.As(err, &txn): // looked at once more: all of them, or a part
			continue
		case !errors.Is(err, deltalog.ErrConflict) || errors.Is(err, deltalog.ErrProtocolChanged):
			return Result{}, err
		}
		more, waitErr := retry.again(ctx)
		if waitErr != nil {
			return Result{}, errors.Join(err, waitErr)
		}
		if !more {
			return Result{}, err
		}
	}
}

// suits checks that the columns of the source are still what they were.
func (m *merge) suits(s *Snapshot) error {
	for i, name := range m.names {
		c, err := s.column(name)
		if err != nil {
			return err
		}
		if want := m.spool.schema.Field(i).Type; !arrow.TypeEqual(c.arrow.Type, want) {
			return &SchemaError{Detail: fmt.Sprintf("column %q became %s while the rows were written as %s; write them again", name, c.arrow.Type, want)}
		}
	}
	return nil
}

// tryMerge makes one attempt on s. It leaves no files behind unless it
// succeeds or cannot know.
func (w *Write) tryMerge(ctx context.Context, s *Snapshot, rows *rowsOf, userMetadata string) (result Result, err error) {
	x := &matching{m: w.merge, s: s, rows: rows, emit: newRowSet(rows.total), again: map[uint64]int{},
		files: map[string]*touchedFile{}, carried: s.newCarrier(w.merge)}
	defer x.carried.close()
	if rows.total == 0 && !w.merge.spec.DeleteAbsent && len(w.spec.Txns) == 0 {
		return Result{Version: s.Version(), Outcome: Nothing}, nil
	}
	if err := x.find(ctx); err != nil {
		return Result{}, err
	}
	if len(x.files) == 0 && x.inserted == 0 && len(w.spec.Txns) == 0 {
		return Result{Version: s.Version(), Outcome: Nothing}, nil
	}
	layout, err := s.newLayout(s.log.Schema())
	if err != nil {
		return Result{}, err
	}
	for i := range layout.partition { // rows are found by them
		layout.partition[i].key = slices.ContainsFunc(w.merge.keys, func(k int) bool { return w.merge.names[k] == layout.partition[i].field.Name })
	}
	a := &applying{x: x, layout: layout, vectors: w.table.log.NewDeletionVectors()}
	defer func() {
		if err != nil && !errors.Is(err, deltalog.ErrCommitUnknown) {
			a.discard(context.WithoutCancel(ctx))
		}
	}()
	tx := w.table.log.Begin(s.log)
	if err := a.run(ctx, tx); err != nil {
		return Result{}, err
	}
	if w.spec.BaseVersion != nil || w.merge.spec.DeleteAbsent || len(x.where) == 0 {
		tx.ReadTable()
	} else {
		tx.ReadPredicate(x.where)
	}
	w.describe(tx, userMetadata, map[string]int64{
		"numSourceRows":         rows.total,
		"numTargetRowsInserted": x.inserted,
		"numTargetRowsUpdated":  x.updated,
		"numTargetRowsDeleted":  x.deleted,
		"numTargetFilesAdded":   int64(len(a.adds)),
		"numTargetFilesRemoved": int64(a.removed),
		"numOutputRows":         a.written,
	})
	version, err := tx.Commit(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("committing the merge: %w", err)
	}
	return Result{Version: version, Outcome: Committed, Inserted: x.inserted, Updated: x.updated, Deleted: x.deleted}, nil
}

// applying writes what a matching found.
type applying struct {
	x       *matching
	layout  *fileLayout
	vectors *deltalog.DeletionVectors
	adds    []*deltalog.Add
	written int64 // rows of source and carried rows
	removed int
}

// discard deletes what was written.
func (a *applying) discard(ctx context.Context) {
	a.layout.deleteFiles(ctx, a.adds)
	if path := a.vectors.Path(); path != "" {
		a.layout.store.Delete(ctx, path)
	}
}

func (a *applying) run(ctx context.Context, tx *deltalog.Transaction) error {
	touched := make([]*touchedFile, 0, len(a.x.files))
	for _, f := range a.x.files {
		touched = append(touched, f)
	}
	// A fixed order makes attempts alike.
	slices.SortFunc(touched, func(p, q *touchedFile) int { return strings.Compare(p.add.Path, q.add.Path) })
	vectors := a.x.s.writesVectors()
	var rewrite []*touchedFile
	for _, f := range touched {
		switch {
		case int64(f.gone.GetCardinality()) == f.rows:
			tx.RemoveFile(f.add, true)
			a.removed++
		case vectors:
			dv, err := a.vectors.Add(f.gone)
			if err != nil {
				return fmt.Errorf("deletion vector of %q: %w", f.add.Path, err)
			}
			if _, ok := f.add.NumRecords(); !ok {
				// A file with a deletion vector must say how many rows it has
				// (Delta protocol: Writer Requirements for Deletion Vectors).
				stats, err := (&deltalog.Stats{NumRecords: f.rows}).Encode()
				if err != nil {
					return err
				}
				f.add.Stats = stats
			}
			tx.ReplaceDeletionVector(f.add, dv)
		default:
			rewrite = append(rewrite, f)
			tx.RemoveFile(f.add, true)
			a.removed++
		}
	}
	if err := a.vectors.Close(ctx); err != nil {
		return fmt.Errorf("writing deletion vectors: %w", err)
	}
	if err := a.write(ctx, rewrite); err != nil {
		return err
	}
	for _, add := range a.adds {
		tx.AddFile(add)
	}
	return nil
}

// writesVectors says whether rows are taken out of files by deletion vectors:
// the table's protocol has them, and its property asks for them.
func (s *Snapshot) writesVectors() bool {
	return s.log.Protocol().Supports("deletionVectors") && s.log.Properties().DeletionVectors()
}

// write writes the new rows and those that are left of the files in rewrite.
// Little goes into one file together, much into several at once.
func (a *applying) write(ctx context.Context, rewrite []*touchedFile) (err error) {
	var left int64
	for _, f := range rewrite {
		left += f.add.Size
	}
	writers := 1
	if left > a.layout.target/2 {
		writers = min(a.x.s.table.opts.Parallel, len(rewrite))
	}
	files := make(chan *touchedFile)
	all := make([]rowSink, writers)
	g, gctx := errgroup.WithContext(ctx)
	for i := range all {
		w := a.layout.newSink(gctx)
		all[i] = w
		g.Go(func() error {
			if i == 0 {
				if err := a.emit(gctx, w); err != nil {
					return err
				}
			}
			for f := range files {
				if _, err := a.x.s.copyLeft(gctx, f, w); err != nil {
					return err
				}
			}
			return w.close()
		})
	}
	g.Go(func() error {
		defer close(files)
		for _, f := range rewrite {
			select {
			case files <- f:
			case <-gctx.Done():
				return gctx.Err()
			}
		}
		return nil
	})
	err = g.Wait()
	for _, w := range all {
		if err != nil {
			w.abort()
		}
		a.adds = append(a.adds, w.files()...)
	}
	return err
}

// copyLeft writes the rows of a file that stay. rows is how many the file has,
// with those that are gone.
func (s *Snapshot) copyLeft(ctx context.Context, f *touchedFile, w rowSink) (rows int64, err error) {
	d, err := s.openDataFile(ctx, f.add, s.all)
	if err != nil {
		return 0, err
	}
	defer d.close()
	if f.gone != nil {
		if err := vectorFits(f.gone, f.add, d.rows()); err != nil {
			return 0, err
		}
	}
	columns := make([]int, len(s.all))
	for i := range columns {
		columns[i] = i
	}
	gone := newDeletedRows(f.gone)
	for _, g := range d.groups(nil) {
		err := d.read(ctx, g, columns, s.schema, func(at int64, rec arrow.RecordBatch) error {
			left, err := gone.filter(ctx, at, rec, s.table.mem())
			if err != nil || left == nil {
				return err
			}
			defer left.Release()
			return w.write(left)
		})
		if err != nil {
			return 0, err
		}
	}
	return d.rows(), nil
}

// emit writes the source rows that are new to the table and the updated rows.
func (a *applying) emit(ctx context.Context, w rowSink) error {
	x := a.x
	for _, b := range x.rows.batches {
		if err := ctx.Err(); err != nil {
			return err
		}
		bits := memory.NewResizableBuffer(a.layout.mem)
		bits.Resize(int(bitutil.BytesForBits(b.rows)))
		clear(bits.Bytes())
		var count int64
		for i := range b.rows {
			if x.emit.has(uint64(b.first + i)) {
				bitutil.SetBit(bits.Bytes(), int(i))
				count++
			}
		}
		var err error
		if count > 0 {
			err = b.with(func(rec arrow.RecordBatch) error {
				chosen, err := filterRows(ctx, rec, bits, count, a.layout.mem)
				if err != nil {
					return err
				}
				defer chosen.Release()
				return a.writeSource(chosen, w)
			})
		}
		bits.Release()
		if err != nil {
			return err
		}
	}
	if err := a.emitAgain(ctx, w); err != nil {
		return err
	}
	if x.carried != nil {
		if err := x.carried.write(ctx, x, w); err != nil {
			return err
		}
	}
	a.written = w.written()
	return nil
}

// emitAgain writes source rows once more for keys that the table has more than
// once.
func (a *applying) emitAgain(ctx context.Context, w rowSink) error {
	var numbers []uint64
	for row, n := range a.x.again {
		for range n {
			numbers = append(numbers, row)
		}
	}
	if len(numbers) == 0 {
		return nil
	}
	slices.Sort(numbers)
	all := make([]int, len(a.x.m.names))
	for i := range all {
		all[i] = i
	}
	cols, err := a.x.rows.gather(ctx, numbers, all, a.layout.mem)
	if err != nil {
		return err
	}
	held := arrays{cols}
	defer held.release()
	schema := arrow.NewSchema(a.x.m.spool.schema.Fields()[:len(all)], nil)
	rec := array.NewRecordBatch(schema, cols, int64(len(numbers)))
	defer rec.Release()
	return a.writeSource(rec, w)
}

// writeSource writes rows of the source in the form of the table.
func (a *applying) writeSource(rec arrow.RecordBatch, w rowSink) error {
	var nulls arrays
	defer nulls.release()
	out := make([]arrow.Array, len(a.x.s.all))
	for i, c := range a.x.s.all {
		if j := slices.Index(a.x.m.names, c.field.Name); j >= 0 {
			out[i] = rec.Column(j)
		} else {
			out[i] = nulls.keep(nullColumn(c.arrow.Type, int(rec.NumRows()), a.layout.mem))
		}
	}
	full := array.NewRecordBatch(a.x.s.schema, out, rec.NumRows())
	defer full.Release()
	return w.write(full)
}
