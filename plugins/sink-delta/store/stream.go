package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Writer writes one object as a stream. Nothing shows under the path until
// Close returns nil; then the object is complete and durable. Exactly one of
// Close and Abort ends a Writer; Abort after Close does nothing.
type Writer interface {
	io.Writer
	// Close completes the object. After an error the object may or may not
	// exist; whoever cares deletes it.
	Close() error
	// Abort drops what was written. It is safe to defer it.
	Abort() error
}

// Creator is implemented by stores that take an object as a stream without
// holding it in memory.
type Creator interface {
	// Create begins an object at path, replacing what is there when it is
	// closed. ctx governs the whole life of the Writer.
	Create(ctx context.Context, path string) (Writer, error)
}

// Sweeper is implemented by stores in which a writer that dies leaves something
// behind.
type Sweeper interface {
	// Sweep removes what dead writers left in the folder, not below it, and tells
	// how much: what was last written before the given time, and what no process is
	// known to write. The time must be older than the pauses of any writer, for a
	// store that cannot tell who lives. A writer that is hit all the same fails, and
	// shows nothing.
	Sweep(ctx context.Context, folder string, before time.Time) (removed int, err error)
}

// Create begins an object at path in s. A store that is no Creator gets the
// whole content in one Put at Close, so it is held in memory until then.
func Create(ctx context.Context, s Store, path string) (Writer, error) {
	if c, ok := s.(Creator); ok {
		return c.Create(ctx, path)
	}
	if err := CheckPath(path); err != nil {
		return nil, pathError("create", path, err)
	}
	return &bufferedWriter{ctx: ctx, store: s, path: path}, nil
}

type bufferedWriter struct {
	ctx   context.Context
	store Store
	path  string
	buf   bytes.Buffer
	done  bool
}

func (w *bufferedWriter) Write(p []byte) (int, error) {
	if w.done {
		return 0, pathError("write", w.path, errClosed)
	}
	return w.buf.Write(p)
}

func (w *bufferedWriter) Close() error {
	if w.done {
		return pathError("close", w.path, errClosed)
	}
	w.done = true
	return w.store.Put(w.ctx, w.path, w.buf.Bytes())
}

func (w *bufferedWriter) Abort() error {
	w.done = true
	w.buf = bytes.Buffer{}
	return nil
}

var errClosed = errors.New("the writer is already closed")

// Reader reads one object at any position. ReadAt is safe for concurrent use,
// Read and Seek are not. It is what Parquet readers ask for.
type Reader interface {
	io.ReaderAt
	io.ReadSeeker
	io.Closer
	// Size is the object's length in bytes when it was opened.
	Size() int64
}

// Opener is implemented by stores with a cheaper way to read at positions than
// one GetRange per read.
type Opener interface {
	// Open opens the object for reading. ctx governs the life of the Reader.
	Open(ctx context.Context, path string) (Reader, error)
}

// Open opens an object of s for reading at any position. Objects are never
// changed in place, so the content is that of the moment of opening.
func Open(ctx context.Context, s Store, path string) (Reader, error) {
	if o, ok := s.(Opener); ok {
		return o.Open(ctx, path)
	}
	info, err := s.Head(ctx, path)
	if err != nil {
		return nil, err
	}
	at := &rangeReader{ctx: ctx, store: s, path: path, size: info.Size}
	at.SectionReader = io.NewSectionReader(readerAtFunc(at.readAt), 0, info.Size)
	return at, nil
}

type readerAtFunc func(p []byte, off int64) (int, error)

func (f readerAtFunc) ReadAt(p []byte, off int64) (int, error) { return f(p, off) }

type rangeReader struct {
	*io.SectionReader
	ctx   context.Context
	store Store
	path  string
	size  int64
}

func (r *rangeReader) readAt(p []byte, off int64) (int, error) {
	data, err := r.store.GetRange(r.ctx, r.path, off, int64(len(p)))
	n := copy(p, data)
	if err != nil {
		return n, err
	}
	if n < len(p) {
		if off+int64(n) < r.size {
			return n, fmt.Errorf("read %q at %d: %w: %d of %d bytes", r.path, off, io.ErrUnexpectedEOF, n, len(p))
		}
		return n, io.EOF
	}
	return n, nil
}

func (r *rangeReader) Close() error { return nil }
func (r *rangeReader) Size() int64  { return r.size }
