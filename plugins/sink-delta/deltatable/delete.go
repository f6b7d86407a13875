package deltatable

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"golang.org/x/sync/errgroup"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
)

// checkDelete says what in a delete is wrong, before anything is read.
func checkDelete(s *Snapshot, spec WriteSpec) error {
	switch {
	case len(spec.Where) == 0:
		return errors.New("a delete needs a predicate; an overwrite without rows empties a table")
	case spec.Schema != nil || spec.MergeSchema:
		return errors.New("a delete has no rows, so it has no schema")
	case s.log.Properties().AppendOnly():
		return fmt.Errorf("%w: %s is true, so no row is deleted (appendOnly)", deltalog.ErrAppendOnly, deltalog.PropAppendOnly)
	case s.log.Properties().Bool(deltalog.PropChangeDataFeed, false):
		return &deltalog.UnsupportedError{Features: []string{"changeDataFeed"}, Detail: "a delete from a table with delta.enableChangeDataFeed would have to write change files"}
	}
	_, err := s.newRowMatcher(spec.Where)
	return err
}

// commitDelete finds the rows in the newest version, takes them out and commits;
// after a conflict all over again on the version that won.
func (w *Write) commitDelete(ctx context.Context, userMetadata string) (Result, error) {
	return w.untilCommitted(ctx, func(s *Snapshot) (Result, error) { return w.tryDelete(ctx, s, userMetadata) })
}

// tryDelete makes one attempt on s. It leaves no files behind unless it succeeds
// or cannot know.
func (w *Write) tryDelete(ctx context.Context, s *Snapshot, userMetadata string) (result Result, err error) {
	m, err := s.newRowMatcher(w.spec.Where)
	if err != nil {
		return Result{}, err
	}
	x := &matching{s: s, rows: newRowsOf(nil), files: map[string]*touchedFile{}}
	if err := x.findDeleted(ctx, m); err != nil {
		return Result{}, err
	}
	if len(x.files) == 0 && len(w.spec.Txns) == 0 {
		return Result{Version: s.Version(), Outcome: Nothing}, nil
	}
	layout, err := s.newLayout(s.log.Schema())
	if err != nil {
		return Result{}, err
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
	if w.spec.BaseVersion != nil {
		tx.ReadTable()
	} else {
		tx.ReadPredicate(m.predicate)
	}
	w.describe(tx, userMetadata, map[string]int64{
		"numDeletedRows":  x.deleted,
		"numAddedFiles":   int64(len(a.adds)),
		"numRemovedFiles": int64(a.removed),
	})
	version, err := tx.Commit(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("committing the delete: %w", err)
	}
	return Result{Version: version, Outcome: Committed, Deleted: x.deleted}, nil
}

// findDeleted looks for rows in the files that may hold some.
func (x *matching) findDeleted(ctx context.Context, m *rowMatcher) error {
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(x.s.table.opts.Parallel)
	for add := range x.s.log.Files(m.predicate) {
		if gctx.Err() != nil {
			break
		}
		g.Go(func() error { return x.findInFile(gctx, add, m) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

func (x *matching) findInFile(ctx context.Context, add *deltalog.Add, m *rowMatcher) error {
	if m.partitioned() {
		all, err := m.matches(func(column int) (deltalog.Value, error) {
			return x.s.log.PartitionValue(add, m.columns[column].field.Name)
		})
		if err != nil || !all {
			return err
		}
	}
	d, err := x.s.openDataFile(ctx, add, m.columns)
	if err != nil {
		return err
	}
	defer d.close()
	old, err := x.s.deletionVector(ctx, add, d.rows())
	if err != nil {
		return err
	}
	columns := make([]int, len(m.columns))
	fields := make([]arrow.Field, len(m.columns))
	for i, c := range m.columns {
		columns[i], fields[i] = i, c.arrow
	}
	var gone []uint64
	for _, g := range d.groups(m.predicate) {
		err := d.read(ctx, g, columns, arrow.NewSchema(fields, nil), func(at int64, rec arrow.RecordBatch) error {
			return m.rows(rec, func(row int) {
				if n := uint64(at + int64(row)); old == nil || !old.Contains(n) {
					gone = append(gone, n)
				}
			})
		})
		if err != nil {
			return err
		}
	}
	if len(gone) > 0 {
		x.touch(add, d.rows(), old, gone, 0)
	}
	return nil
}
