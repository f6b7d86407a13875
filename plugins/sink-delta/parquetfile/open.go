// Package parquetfile opens Parquet files that somebody else may have written or
// damaged. arrow-go takes what a footer says for true: a negative length makes it
// panic, in part in goroutines of its own, where nobody can recover. Open looks at
// what a footer claims before anything is read by it.
package parquetfile

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// ErrDamaged is the error of a file whose bytes no writer of Parquet has written
// so.
var ErrDamaged = errors.New("cannot be read as Parquet")

// File is an open Parquet file.
type File struct {
	*file.Reader
	src *source
}

// Open opens the Parquet file that src holds. Close closes src, too; after an
// error src is still the caller's. The error wraps ErrDamaged, or it is that of
// src.
func Open(src store.Reader, props *parquet.ReaderProperties) (f *File, err error) {
	f = &File{src: &source{Reader: src}}
	defer func() {
		if p := recover(); p != nil {
			f, err = nil, fmt.Errorf("%w: %v", ErrDamaged, p)
		}
	}()
	f.Reader, err = file.NewParquetReader(f.src, file.WithReadProps(props))
	if err == nil {
		err = checkFooter(f.MetaData(), src.Size())
	}
	if err != nil {
		return nil, f.Cause(err)
	}
	return f, nil
}

// Cause tells what is behind an error of a read of f: that of its source where
// the source had one, and ErrDamaged otherwise.
func (f *File) Cause(err error) error {
	if fault := f.src.fault.Load(); fault != nil {
		return *fault
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// source remembers the first error of a reader, which arrow-go wraps in ways of
// its own, or swallows. It must not be mixed up with damage.
type source struct {
	store.Reader
	fault atomic.Pointer[error]
}

func (s *source) note(err error) {
	if err != nil && !errors.Is(err, io.EOF) {
		s.fault.CompareAndSwap(nil, &err)
	}
}

// ReadAt implements io.ReaderAt.
func (s *source) ReadAt(p []byte, off int64) (int, error) {
	n, err := s.Reader.ReadAt(p, off)
	s.note(err)
	return n, err
}

// Read implements io.Reader.
func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.note(err)
	return n, err
}
