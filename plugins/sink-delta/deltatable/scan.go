package deltatable

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
)

// ScanSpec says what to read.
type ScanSpec struct {
	// Columns are the columns wanted, in the order wanted; nil means all. Names
	// are compared without regard to case.
	Columns []string
	// Filter leaves out files and row groups that cannot hold a row for which it
	// is true. Other rows may come too: whoever needs exactly the rows checks
	// again. The zero Predicate reads everything.
	Filter deltalog.Predicate
	// Ordered gives the rows file after file, so in the same order each time, and
	// none of them before every file was found to be there, as long as the log
	// says. It is slower.
	Ordered bool
}

// Rows is a running scan: a stream of record batches, in no order unless the
// scan is Ordered. It is not safe for concurrent use.
type Rows struct {
	schema *arrow.Schema
	out    chan arrow.RecordBatch
	cancel context.CancelFunc
	done   sync.WaitGroup
	mu     sync.Mutex
	err    error
}

// Schema is the schema of all batches.
func (r *Rows) Schema() *arrow.Schema { return r.schema }

// Next returns the next batch, which the caller releases, io.EOF after the
// last one, or the error that ended the scan. After an error or the end it
// returns the same again.
func (r *Rows) Next(ctx context.Context) (arrow.RecordBatch, error) {
	select {
	case rec, ok := <-r.out:
		if ok {
			return rec, nil
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return nil, r.err
	}
	return nil, io.EOF
}

// Close ends the scan and waits until its readers have stopped. It may be
// called at any time and again.
func (r *Rows) Close() {
	r.cancel()
	for rec := range r.out {
		rec.Release()
	}
	r.done.Wait()
}

func (r *Rows) fail(err error) {
	r.mu.Lock()
	if r.err == nil {
		r.err = err
	}
	r.mu.Unlock()
	r.cancel()
}

// columns resolves column names; nil means all columns of the table.
func (s *Snapshot) columns(names []string) ([]tableColumn, error) {
	if names == nil {
		return s.all, nil
	}
	out := make([]tableColumn, 0, len(names))
	for _, name := range names {
		c, err := s.column(name)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

func (s *Snapshot) column(name string) (tableColumn, error) {
	for _, exact := range []bool{true, false} {
		for _, c := range s.all {
			if c.field.Name == name || !exact && strings.EqualFold(c.field.Name, name) {
				return c, nil
			}
		}
	}
	known := make([]string, len(s.all))
	for i, c := range s.all {
		known[i] = c.field.Name
	}
	return tableColumn{}, &SchemaError{Detail: fmt.Sprintf("the table has no column %q; it has %s", name, strings.Join(known, ", "))}
}

// resolve checks a predicate and spells its columns as the table does.
func (s *Snapshot) resolve(p deltalog.Predicate) (deltalog.Predicate, error) {
	out := make(deltalog.Predicate, 0, len(p))
	for _, clause := range p {
		resolved := make(deltalog.Clause, 0, len(clause))
		for _, c := range clause {
			col, err := s.column(c.Column)
			if err != nil {
				return nil, fmt.Errorf("filter %v: %w", c, err)
			}
			want := 1
			switch c.Op {
			case deltalog.OpIn:
				want = len(c.Values)
			case deltalog.OpIsNull, deltalog.OpIsNotNull:
				want = 0
			case deltalog.OpEq, deltalog.OpNe, deltalog.OpLt, deltalog.OpLe, deltalog.OpGt, deltalog.OpGe:
			default:
				return nil, fmt.Errorf("the filter on column %q has an unknown operator", c.Column)
			}
			if len(c.Values) != want {
				return nil, fmt.Errorf("filter %v has %d literals, not %d", c, len(c.Values), want)
			}
			c.Column = col.field.Name
			resolved = append(resolved, c)
		}
		out = append(out, resolved)
	}
	return out, nil
}

// Scan starts reading. Several files are read at once, as many as the table's
// options say, and a few batches wait for the caller; nothing else is kept but
// deletion vectors, all of which are loaded before the first row is given.
// Close must be called, and Next until the end if all rows are wanted.
func (s *Snapshot) Scan(ctx context.Context, spec ScanSpec) (*Rows, error) {
	cols, err := s.columns(spec.Columns)
	if err != nil {
		return nil, err
	}
	filter, err := s.resolve(spec.Filter)
	if err != nil {
		return nil, err
	}
	fields := make([]arrow.Field, len(cols))
	wanted := make([]int, len(cols))
	for i, c := range cols {
		fields[i], wanted[i] = c.arrow, i
	}
	// Columns of the filter are looked up in the files too, but not read.
	cols = slices.Clone(cols)
	for _, clause := range filter {
		for _, c := range clause {
			if !slices.ContainsFunc(cols, func(t tableColumn) bool { return t.field.Name == c.Column }) {
				col, err := s.column(c.Column)
				if err != nil {
					return nil, err
				}
				cols = append(cols, col)
			}
		}
	}
	scanCtx, cancel := context.WithCancel(ctx)
	r := &Rows{schema: arrow.NewSchema(fields, nil), out: make(chan arrow.RecordBatch, 1), cancel: cancel}
	files := make(chan *deltalog.Add)
	workers := min(s.table.opts.Parallel, max(s.log.NumFiles(), 1))
	if spec.Ordered {
		workers = 1
	}
	r.done.Add(1)
	go func() {
		defer r.done.Done()
		defer close(r.out)
		vectors, err := s.lookAhead(scanCtx, filter, spec.Ordered)
		if err != nil {
			r.fail(err)
			return
		}
		var readers sync.WaitGroup
		defer readers.Wait()
		for range workers {
			readers.Go(func() {
				for add := range files {
					if err := s.scanFile(scanCtx, add, vectors.take(add.Path), cols, wanted, filter, r); err != nil {
						r.fail(err)
					}
				}
			})
		}
		defer close(files)
		for add := range s.log.Files(filter) {
			select {
			case files <- add:
			case <-scanCtx.Done():
				r.fail(scanCtx.Err())
				return
			}
		}
	}()
	return r, nil
}

// scanFile sends the live rows of one file. bitmap is its deletion vector if it
// is loaded.
func (s *Snapshot) scanFile(ctx context.Context, add *deltalog.Add, bitmap *roaring64.Bitmap, cols []tableColumn, wanted []int, filter deltalog.Predicate, r *Rows) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d, err := s.openDataFile(ctx, add, cols)
	if err != nil {
		return err
	}
	defer d.close()
	if bitmap == nil {
		bitmap, err = s.deletionVector(ctx, add, d.rows())
	} else {
		err = vectorFits(bitmap, add, d.rows())
	}
	if err != nil {
		return err
	}
	deleted := newDeletedRows(bitmap)
	for _, g := range d.groups(filter) {
		err := d.read(ctx, g, wanted, r.schema, func(at int64, rec arrow.RecordBatch) error {
			live, err := deleted.filter(ctx, at, rec, s.table.mem())
			if err != nil || live == nil {
				return err
			}
			select {
			case r.out <- live:
				return nil
			case <-ctx.Done():
				live.Release()
				return ctx.Err()
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}
