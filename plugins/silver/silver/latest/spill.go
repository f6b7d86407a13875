package latest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

const (
	partitionBits = 6
	partitions    = 1 << partitionBits
)

// spill is a folder with one Arrow IPC file per partition that has rows.
type spill struct {
	dir    string
	schema *arrow.Schema
	alloc  memory.Allocator
	files  [partitions]*spillFile
}

type spillFile struct {
	file   *os.File
	writer *ipc.Writer
}

func newSpill(dir string, schema *arrow.Schema, alloc memory.Allocator) (*spill, error) {
	if dir != "" {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("making a folder for temporary files: %w", err)
		}
	}
	dir, err := os.MkdirTemp(dir, "pipectl-rank-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for temporary files: %w", err)
	}
	return &spill{dir: dir, schema: schema, alloc: alloc}, nil
}

func (s *spill) write(p int, batch arrow.RecordBatch) error {
	f := s.files[p]
	if f == nil {
		file, err := os.CreateTemp(s.dir, "part-")
		if err != nil {
			return fmt.Errorf("opening a temporary file: %w", err)
		}
		f = &spillFile{file: file, writer: ipc.NewWriter(file, ipc.WithSchema(s.schema), ipc.WithAllocator(s.alloc))}
		s.files[p] = f
	}
	if err := f.writer.Write(batch); err != nil {
		return fmt.Errorf("writing rows to a temporary file in %s: %w", s.dir, err)
	}
	return nil
}

// finish completes all files.
func (s *spill) finish() error {
	for _, f := range s.files {
		if f == nil {
			continue
		}
		if err := f.writer.Close(); err != nil {
			return fmt.Errorf("completing a temporary file in %s: %w", s.dir, err)
		}
	}
	return nil
}

// read hands each batch of a partition to use, then removes its file.
func (s *spill) read(ctx context.Context, p int, use func(arrow.RecordBatch) error) error {
	f := s.files[p]
	if f == nil {
		return nil
	}
	if _, err := f.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("reading a temporary file: %w", err)
	}
	r, err := ipc.NewReader(f.file, ipc.WithAllocator(s.alloc))
	if err != nil {
		return fmt.Errorf("reading a temporary file: %w", err)
	}
	defer r.Release()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		batch, err := r.Read()
		if errors.Is(err, io.EOF) {
			return s.remove(p)
		}
		if err != nil {
			return fmt.Errorf("reading a temporary file: %w", err)
		}
		if err := use(batch); err != nil {
			return err
		}
	}
}

func (s *spill) remove(p int) error {
	f := s.files[p]
	s.files[p] = nil
	return errors.Join(f.file.Close(), os.Remove(f.file.Name()))
}

func (s *spill) close() {
	for _, f := range s.files {
		if f != nil {
			f.file.Close()
		}
	}
	os.RemoveAll(s.dir)
}
