package rows

import (
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/pipectl/pipectl/core/plugin"
)

// MaxFrame is the largest body of one frame in bytes. A batch that is larger
// is cut by rows; one row that is larger travels in pieces.
const MaxFrame = 4 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Writer is where a producer puts its batches.
type Writer struct {
	schema *arrow.Schema
	emit   func(plugin.Frame) error
	end    plugin.End
}

// Write sends a batch. It does not take ownership and keeps nothing of it.
// The error is the consumer's: stop and return it.
func (w *Writer) Write(batch arrow.RecordBatch) error {
	if batch.NumRows() == 0 {
		return nil
	}
	payload, err := ipc.GetRecordBatchPayload(batch)
	if err != nil {
		return fmt.Errorf("encoding a batch of %d rows: %w", batch.NumRows(), err)
	}
	defer payload.Release()
	size := &counter{}
	if err := payload.SerializeBody(size); err != nil {
		return fmt.Errorf("measuring a batch: %w", err)
	}
	if parts := (size.n + MaxFrame - 1) / MaxFrame; parts > 1 && batch.NumRows() > 1 {
		return w.split(batch, parts)
	}
	body := &buffer{data: make([]byte, 0, size.n)}
	if err := payload.SerializeBody(body); err != nil {
		return fmt.Errorf("encoding a batch: %w", err)
	}
	meta := payload.Meta()
	header := append([]byte(nil), meta.Bytes()...)
	meta.Release()
	return w.send(batch.NumRows(), header, body.data)
}

// split writes a batch in about parts equal pieces of rows.
func (w *Writer) split(batch arrow.RecordBatch, parts int64) error {
	step := max(batch.NumRows()/parts, 1)
	for lo := int64(0); lo < batch.NumRows(); lo += step {
		piece := batch.NewSlice(lo, min(lo+step, batch.NumRows()))
		err := w.Write(piece)
		piece.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) send(rows int64, header, body []byte) error {
	crc := crc32.Update(crc32.Checksum(header, castagnoli), castagnoli, body)
	first := true
	for first || len(body) > 0 {
		piece := body[:min(len(body), MaxFrame)]
		body = body[len(piece):]
		b := &plugin.Batch{Body: piece, More: len(body) > 0}
		if first {
			b.Rows, b.Header, b.CRC, first = rows, header, crc, false
		}
		if err := w.emit(plugin.Frame{Batch: b}); err != nil {
			return err
		}
	}
	w.end.Batches++
	w.end.Rows += rows
	return nil
}

// End is the End frame under construction: the producer fills what it knows;
// Batches and Rows are counted here.
func (w *Writer) End() *plugin.End { return &w.end }

// Produce runs a producer in a goroutine that the returned reader owns: Close
// cancels its context and waits for it. The consumer's pace is the
// producer's: nothing is queued. An error of the producer, diagnostics
// included, is what Recv returns.
func Produce(ctx context.Context, schema *arrow.Schema, produce func(ctx context.Context, w *Writer) error) plugin.FrameReader {
	ctx, cancel := context.WithCancel(ctx)
	p := &producer{cancel: cancel, frames: make(chan plugin.Frame), done: make(chan struct{})}
	go func() {
		defer close(p.done)
		defer close(p.frames)
		emit := func(f plugin.Frame) error {
			select {
			case p.frames <- f:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		w := &Writer{schema: schema, emit: emit}
		err := emit(plugin.Frame{Begin: &plugin.Begin{Schema: EncodeSchema(schema)}})
		if err == nil {
			err = produce(ctx, w)
		}
		if err == nil {
			end := w.end
			err = emit(plugin.Frame{End: &end})
		}
		p.err = err
	}()
	return p
}

type producer struct {
	cancel context.CancelFunc
	frames chan plugin.Frame
	done   chan struct{}
	err    error // of the producer; read after frames is closed
	once   sync.Once
}

func (p *producer) Recv() (plugin.Frame, error) {
	f, ok := <-p.frames
	if ok {
		return f, nil
	}
	if p.err != nil {
		return plugin.Frame{}, p.err
	}
	return plugin.Frame{}, io.EOF
}

func (p *producer) Close() error {
	p.once.Do(func() {
		p.cancel()
		<-p.done
	})
	return nil
}

// FromBatches is a stream of a few batches that are in memory. It takes
// ownership of none and needs no Close.
func FromBatches(schema *arrow.Schema, batches ...arrow.RecordBatch) plugin.FrameReader {
	frames := []plugin.Frame{{Begin: &plugin.Begin{Schema: EncodeSchema(schema)}}}
	w := &Writer{schema: schema, emit: func(f plugin.Frame) error {
		frames = append(frames, f)
		return nil
	}}
	for _, b := range batches {
		if err := w.Write(b); err != nil {
			return failed{err}
		}
	}
	end := w.end
	return &replay{frames: append(frames, plugin.Frame{End: &end})}
}

type replay struct{ frames []plugin.Frame }

func (r *replay) Recv() (plugin.Frame, error) {
	if len(r.frames) == 0 {
		return plugin.Frame{}, io.EOF
	}
	f := r.frames[0]
	r.frames = r.frames[1:]
	return f, nil
}

func (r *replay) Close() error { return nil }

type failed struct{ err error }

func (f failed) Recv() (plugin.Frame, error) { return plugin.Frame{}, f.err }
func (f failed) Close() error                { return nil }

type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

type buffer struct{ data []byte }

func (b *buffer) Write(p []byte) (int, error) {
	b.data = append(b.data, p...)
	return len(p), nil
}
