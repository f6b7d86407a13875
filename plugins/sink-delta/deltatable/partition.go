package deltatable

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
)

const (
	// maxOpenPartitions bounds the data files that a sink writes at once: each
	// has encoders and buffers of its own. Rows of further partitions wait.
	maxOpenPartitions = 16
	// waitingParts is over how many spools the waiting partitions are spread.
	waitingParts = 16
)

// rowSink takes batches of the table's columns and makes data files of them. It
// is not safe for concurrent use; several of them may share a layout.
type rowSink interface {
	// write takes in rec, whose columns must have the types of the table's schema
	// in its order. rec is borrowed.
	write(rec arrow.RecordBatch) error
	// close finishes the files. After an error abort must be called.
	close() error
	// abort drops what is not finished. Finished files stay; see deleteFiles.
	abort()
	// files are the finished files.
	files() []*deltalog.Add
	// written is how many rows were taken in.
	written() int64
}

// newSink returns a sink for rows of the table.
func (l *fileLayout) newSink(ctx context.Context) rowSink {
	if len(l.partition) == 0 {
		return l.newWriter(ctx)
	}
	return newPartitionSink(ctx, l, &spool{
		schema: l.table, mem: l.mem, dir: l.spillDir, limit: l.budget.limit / 4,
	})
}

// partitionColumn is a partition column of a layout.
type partitionColumn struct {
	index int // in the table's schema
	field deltalog.Field
	// key: rows are found by the column, so what it holds must come back as it
	// was.
	key bool
}

// partitionSink writes each partition into files of its own. As many partitions
// as come first are written as their rows come; rows of others wait in a spool,
// in memory as long as there is room, and are written when the first ones are
// done, and so on: what is open at once is bounded however many there are.
type partitionSink struct {
	*fileLayout
	ctx     context.Context
	spool   *spool
	seed    maphash.Seed
	open    map[string]*dataWriter
	waiting [waitingParts]*spoolPart
	child   *partitionSink // which writes what waited
	done    []*deltalog.Add
	rows    int64
	codec   keyCodec
}

func newPartitionSink(ctx context.Context, l *fileLayout, waiting *spool) *partitionSink {
	return &partitionSink{fileLayout: l, ctx: ctx, spool: waiting, seed: maphash.MakeSeed(), open: map[string]*dataWriter{}}
}

func (p *partitionSink) files() []*deltalog.Add {
	all := slices.Clone(p.done)
	for _, w := range p.open {
		all = append(all, w.adds...)
	}
	if p.child != nil {
		all = append(all, p.child.files()...)
	}
	return all
}

func (p *partitionSink) written() int64 { return p.rows }

func (p *partitionSink) write(rec arrow.RecordBatch) error {
	if rec.NumRows() == 0 {
		return nil
	}
	keys := make([]arrow.Array, len(p.partition))
	for i, c := range p.partition {
		keys[i] = rec.Column(c.index)
		if !c.field.Nullable && keys[i].NullN() > 0 {
			return fmt.Errorf("column %q is NOT NULL, and a row to write has NULL in it", c.field.Name)
		}
	}
	if err := p.codec.bind(keys); err != nil {
		return fmt.Errorf("partition columns: %w", err)
	}
	// The rows of each partition, in the order in which partitions come.
	positions := map[string][]int64{}
	var order []string
	var key []byte
	for i := range int(rec.NumRows()) {
		key = p.codec.appendKey(key[:0], i)
		rows, seen := positions[string(key)]
		if !seen {
			order = append(order, string(key))
		}
		positions[string(key)] = append(rows, int64(i))
	}
	var waiting [waitingParts][]int64
	for _, key := range order {
		w, err := p.writer(key, rec, positions[key][0])
		if err != nil {
			return err
		}
		if w == nil {
			bucket := maphash.String(p.seed, key) % waitingParts
			waiting[bucket] = append(waiting[bucket], positions[key]...)
			continue
		}
		if err := p.pass(rec, positions[key], p.data, p.arrow, w.write); err != nil {
			return err
		}
	}
	for i, rows := range waiting {
		if len(rows) == 0 {
			continue
		}
		if p.waiting[i] == nil {
			p.waiting[i] = p.spool.newPart()
		}
		slices.Sort(rows)
		if err := p.pass(rec, rows, p.all, p.table, p.waiting[i].write); err != nil {
			return err
		}
	}
	p.rows += rec.NumRows()
	return nil
}

// writer is the writer of a partition, which is that of a row of rec; nil when
// there is no room for one.
func (p *partitionSink) writer(key string, rec arrow.RecordBatch, row int64) (*dataWriter, error) {
	if w := p.open[key]; w != nil || len(p.open) == maxOpenPartitions {
		return w, nil
	}
	values, err := p.values(rec, row)
	if err != nil {
		return nil, err
	}
	w := p.newWriter(p.ctx)
	w.values, w.inside = p.place(values)
	p.open[key] = w
	return w, nil
}

// pass gives some rows of some columns of rec on, as a batch of schema.
func (p *partitionSink) pass(rec arrow.RecordBatch, rows []int64, columns []int, schema *arrow.Schema, to func(arrow.RecordBatch) error) error {
	var chosen arrays
	defer chosen.release()
	for i, c := range columns {
		a := rec.Column(c)
		if len(rows) < a.Len() {
			var err error
			if a, err = takeRows(p.ctx, a, rows, p.mem); err != nil {
				return err
			}
		} else {
			a.Retain()
		}
		if to := schema.Field(i).Type; arrow.IsNested(to.ID()) { // fields inside have physical names
			nested := a
			a = relabel(nested, to)
			nested.Release()
		}
		chosen.keep(a)
	}
	part := array.NewRecordBatch(schema, chosen.held, int64(len(rows)))
	defer part.Release()
	return to(part)
}

// values are the partition values of a row, as the log keeps them.
func (p *partitionSink) values(rec arrow.RecordBatch, row int64) ([]*string, error) {
	out := make([]*string, len(p.partition))
	for i, c := range p.partition {
		v, err := valueAt(rec.Column(c.index), int(row))
		if err != nil {
			return nil, fmt.Errorf("partition column %q: %w", c.field.Name, err)
		}
		if out[i], err = deltalog.FormatPartitionValue(v, c.field.Type); err != nil {
			return nil, fmt.Errorf("partition column %q: %w", c.field.Name, err)
		}
		switch {
		case out[i] != nil && !utf8.ValidString(*out[i]):
			return nil, fmt.Errorf("partition column %q: the value %q is no UTF-8, which the table's log cannot hold", c.field.Name, *out[i])
		case out[i] == nil && !v.IsNull() && (c.key || !c.field.Nullable):
			return nil, fmt.Errorf("partition column %q: an empty value is NULL in Delta, which this column cannot be", c.field.Name)
		}
	}
	return out, nil
}

// place is what the files of a partition say of it, and the folder for them: none
// with column mapping, which is there so that names need not be seen.
func (l *fileLayout) place(values []*string) (byName map[string]*string, folder string) {
	byName = map[string]*string{}
	fields := make([]deltalog.Field, len(l.partition))
	for i, c := range l.partition {
		byName[c.field.PhysicalName()] = values[i]
		fields[i] = c.field
	}
	if l.mapped {
		return byName, ""
	}
	return byName, deltalog.PartitionFolder(fields, values)
}

func (p *partitionSink) close() error {
	for key, w := range p.open {
		if err := w.close(); err != nil {
			return err
		}
		p.done = append(p.done, w.adds...)
		delete(p.open, key)
	}
	for i, part := range p.waiting {
		if part == nil {
			continue
		}
		if err := p.writeWaiting(part); err != nil {
			return err
		}
		p.waiting[i] = nil
	}
	return nil
}

// writeWaiting writes what waited in one spool, and drops it.
func (p *partitionSink) writeWaiting(part *spoolPart) error {
	if err := part.seal(); err != nil {
		return err
	}
	p.child = newPartitionSink(p.ctx, p.fileLayout, p.spool)
	for i := range part.sizes {
		rec, err := part.batch(i)
		if err != nil {
			return err
		}
		err = p.child.write(rec)
		rec.Release()
		if err != nil {
			return err
		}
	}
	if err := p.child.close(); err != nil {
		return err
	}
	p.done = append(p.done, p.child.done...)
	p.child = nil
	return part.close()
}

func (p *partitionSink) abort() {
	for _, w := range p.open {
		w.abort()
		p.done = append(p.done, w.adds...)
	}
	clear(p.open)
	if p.child != nil {
		p.child.abort()
		p.done = append(p.done, p.child.done...)
		p.child = nil
	}
	for i, part := range p.waiting {
		if part != nil {
			part.close()
			p.waiting[i] = nil
		}
	}
}
