package rows

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/core/plugin"
)

// ErrBroken is wrapped by the error of a stream that stopped without its End
// frame or whose bytes are not what was sent.
var ErrBroken = errors.New("broken stream of rows")

// Reader reads the record batches of a stream of frames.
type Reader struct {
	frames plugin.FrameReader
	ipc    *ipc.Reader
	source *messages
	end    *plugin.End
	rows   int64
	count  int64
	err    error
}

// NewReader reads the Begin frame. The reader owns frames from then on, also
// when it returns an error.
func NewReader(frames plugin.FrameReader, alloc memory.Allocator) (*Reader, error) {
	r := &Reader{frames: frames}
	first, err := frames.Recv()
	if err != nil {
		frames.Close()
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("%w: it ended before it began", ErrBroken)
		}
		return nil, err
	}
	if first.Begin == nil {
		frames.Close()
		return nil, fmt.Errorf("%w: the first frame is not Begin", ErrBroken)
	}
	r.source = &messages{schema: first.Begin.Schema, next: r.batch}
	r.ipc, err = ipc.NewReaderFromMessageReader(r.source, ipc.WithAllocator(alloc), ipc.WithDelayReadSchema(false))
	if err != nil {
		frames.Close()
		return nil, fmt.Errorf("reading the schema of a stream of rows: %w", err)
	}
	return r, nil
}

// Schema is the shape of the batches.
func (r *Reader) Schema() *arrow.Schema { return r.ipc.Schema() }

// Next returns the next batch, which the caller releases. It returns io.EOF
// once the End frame has come; any other error means that the stream is not
// whole and nothing of it may be used.
func (r *Reader) Next() (arrow.RecordBatch, error) {
	if r.err != nil {
		return nil, r.err
	}
	batch, err := r.ipc.Read()
	switch {
	case r.err != nil: // found by batch()
		return nil, r.err
	case errors.Is(err, io.EOF):
		r.err = io.EOF
		return nil, io.EOF
	case err != nil:
		r.err = fmt.Errorf("%w: %w", ErrBroken, err)
		return nil, r.err
	}
	batch.Retain()
	return batch, nil
}

// batch assembles the next batch message from its frames.
func (r *Reader) batch() (header, body []byte, err error) {
	header, body, err = r.recv()
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return header, body, err
}

func (r *Reader) recv() (header, body []byte, err error) {
	frame, err := r.frames.Recv()
	if err != nil {
		if errors.Is(err, io.EOF) {
			return nil, nil, fmt.Errorf("%w: it stopped without its end", ErrBroken)
		}
		return nil, nil, err
	}
	switch {
	case frame.End != nil:
		return nil, nil, r.finish(frame.End)
	case frame.Batch == nil:
		return nil, nil, fmt.Errorf("%w: Begin came twice", ErrBroken)
	}
	first := frame.Batch
	header, body = first.Header, first.Body
	if first.More {
		body = append([]byte(nil), body...)
	}
	for more := first.More; more; {
		frame, err := r.frames.Recv()
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, nil, err
		}
		if err != nil || frame.Batch == nil {
			return nil, nil, fmt.Errorf("%w: a batch in pieces lacks its last piece", ErrBroken)
		}
		body = append(body, frame.Batch.Body...)
		more = frame.Batch.More
	}
	if crc := crc32.Update(crc32.Checksum(header, castagnoli), castagnoli, body); crc != first.CRC {
		return nil, nil, fmt.Errorf("%w: a batch has checksum %08x and was sent with %08x", ErrBroken, crc, first.CRC)
	}
	r.rows += first.Rows
	r.count++
	return header, body, nil
}

func (r *Reader) finish(end *plugin.End) error {
	if end.Rows != r.rows || end.Batches != r.count {
		return fmt.Errorf("%w: its end speaks of %d rows in %d batches, %d in %d came", ErrBroken, end.Rows, end.Batches, r.rows, r.count)
	}
	e := *end
	r.end = &e
	return io.EOF
}

// End returns the End frame; it is the zero value before Next returned io.EOF.
func (r *Reader) End() plugin.End {
	if r.end == nil {
		return plugin.End{}
	}
	return *r.end
}

// Close releases the stream and stops its sender.
func (r *Reader) Close() error {
	r.ipc.Release()
	return r.frames.Close()
}

// ForEach calls use with each batch and closes the reader. The batch is valid
// during the call.
func (r *Reader) ForEach(use func(arrow.RecordBatch) error) (end plugin.End, err error) {
	defer func() {
		if cerr := r.Close(); err == nil {
			err = cerr
		}
	}()
	for {
		batch, err := r.Next()
		if errors.Is(err, io.EOF) {
			return r.End(), nil
		}
		if err != nil {
			return plugin.End{}, err
		}
		err = use(batch)
		batch.Release()
		if err != nil {
			return plugin.End{}, err
		}
	}
}
