package deltatable

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// spool keeps batches until they are wanted again, in memory up to a limit that
// its parts share, beyond it in temporary files.
type spool struct {
	schema *arrow.Schema
	mem    memory.Allocator
	dir    string
	limit  int64
	used   atomic.Int64 // Arrow bytes in memory
}

// spoolPart is one writer's batches. Writing is for one goroutine; after seal
// so is reading.
type spoolPart struct {
	spool *spool
	rows  int64
	// keyBytes is kept by the merge: the size of the columns of its index.
	keyBytes int64
	sizes    []int64             // rows of each batch
	inMem    []arrow.RecordBatch // the batches behind those in the file
	held     int64               // their bytes
	file     *os.File
	writer   *ipc.FileWriter
	reader   *ipc.FileReader
	onDisk   int
}

func (s *spool) newPart() *spoolPart { return &spoolPart{spool: s} }

// write keeps rec.
func (p *spoolPart) write(rec arrow.RecordBatch) error {
	n := batchBytes(rec)
	rec.Retain()
	p.inMem = append(p.inMem, rec)
	p.sizes = append(p.sizes, rec.NumRows())
	p.rows += rec.NumRows()
	p.held += n
	if p.spool.used.Add(n) > p.spool.limit {
		return p.spill()
	}
	return nil
}

// spill moves the batches in memory into the part's file.
func (p *spoolPart) spill() (err error) {
	if p.file == nil {
		if p.file, err = os.CreateTemp(p.spool.dir, "pipectl-spill-*.arrow"); err != nil {
			return fmt.Errorf("spilling rows to disk: %w", err)
		}
		p.writer, err = ipc.NewFileWriter(p.file, ipc.WithSchema(p.spool.schema), ipc.WithAllocator(p.spool.mem))
		if err != nil {
			return fmt.Errorf("spilling rows to %s: %w", p.file.Name(), err)
		}
	}
	for _, rec := range p.inMem {
		if err := p.writer.Write(rec); err != nil {
			return fmt.Errorf("spilling rows to %s: %w", p.file.Name(), err)
		}
		p.onDisk++
	}
	p.drop()
	return nil
}

// drop releases the batches in memory.
func (p *spoolPart) drop() {
	for _, rec := range p.inMem {
		rec.Release()
	}
	p.inMem = nil
	p.spool.used.Add(-p.held)
	p.held = 0
}

// seal ends writing.
func (p *spoolPart) seal() (err error) {
	if p.writer == nil {
		return nil
	}
	// The file holds a prefix of the batches, those in memory come behind it.
	if err := p.writer.Close(); err != nil {
		return fmt.Errorf("spilling rows to %s: %w", p.file.Name(), err)
	}
	p.writer = nil
	if p.reader, err = ipc.NewFileReader(p.file, ipc.WithAllocator(p.spool.mem)); err != nil {
		return fmt.Errorf("reading spilled rows from %s: %w", p.file.Name(), err)
	}
	return nil
}

// batch returns batch i of a sealed part; the caller releases it.
func (p *spoolPart) batch(i int) (arrow.RecordBatch, error) {
	if i >= p.onDisk {
		rec := p.inMem[i-p.onDisk]
		rec.Retain()
		return rec, nil
	}
	rec, err := p.reader.RecordBatchAt(i)
	if err != nil {
		return nil, fmt.Errorf("reading spilled rows from %s: %w", p.file.Name(), err)
	}
	return rec, nil
}

// close drops everything.
func (p *spoolPart) close() error {
	p.drop()
	var errs []error
	if p.writer != nil {
		errs = append(errs, p.writer.Close())
		p.writer = nil
	}
	if p.reader != nil {
		errs = append(errs, p.reader.Close())
		p.reader = nil
	}
	if p.file != nil {
		p.file.Close() // the reader may have closed it already
		errs = append(errs, os.Remove(p.file.Name()))
		p.file = nil
	}
	return errors.Join(errs...)
}

// rowsOf are the batches of several sealed parts as one sequence of rows.
type rowsOf struct {
	batches []spooledBatch
	total   int64
}

// spooledBatch is a batch whose first row has number first in the sequence.
type spooledBatch struct {
	part  *spoolPart
	index int
	first int64
	rows  int64
}

func newRowsOf(parts []*spoolPart) *rowsOf {
	r := &rowsOf{}
	for _, p := range parts {
		for i, n := range p.sizes {
			r.batches = append(r.batches, spooledBatch{part: p, index: i, first: r.total, rows: n})
			r.total += n
		}
	}
	return r
}

// each passes every batch, in order; the batch is only borrowed.
func (r *rowsOf) each(f func(b spooledBatch, rec arrow.RecordBatch) error) error {
	for _, b := range r.batches {
		if err := b.with(func(rec arrow.RecordBatch) error { return f(b, rec) }); err != nil {
			return err
		}
	}
	return nil
}

// with loads the batch for the time of f.
func (b spooledBatch) with(f func(rec arrow.RecordBatch) error) error {
	rec, err := b.part.batch(b.index)
	if err != nil {
		return err
	}
	defer rec.Release()
	return f(rec)
}
