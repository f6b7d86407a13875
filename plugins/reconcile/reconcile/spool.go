package reconcile

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

const (
	fanoutBits = 6
	fanout     = 1 << fanoutBits

	firstBlock = 1 << 10
	maxBlock   = 64 << 10

	// recordHead is what stands before a record: its length, the hash of its
	// key, the length of its key.
	recordHead = 4 + 8 + 4
)

// record is one entry of a spool: a key in canonical form, and what is known
// of it.
type record struct {
	hash       uint64
	key, value []byte
}

// spool holds records, divided by bits of the hash of their key. They stay in
// memory up to a budget; beyond it they go to temporary files, one per part.
// Records of one part come back in the order in which they went in.
type spool struct {
	dir    string
	budget int64
	// shift chooses the bits of the hash that divide.
	shift uint

	parts  [fanout]part
	held   int64 // bytes of blocks in memory
	folder string
	// records counts all.
	records int64
}

type part struct {
	blocks [][]byte
	file   *os.File
	bytes  int64 // in the file and in blocks
}

// newSpool returns an empty spool; dir is where its temporary files may go
// ("" = the system's folder), depth how often its records were divided before.
func newSpool(dir string, budget int64, depth int) *spool {
	return &spool{dir: dir, budget: budget, shift: uint(64 - fanoutBits*(depth+1))}
}

func (s *spool) partOf(hash uint64) int { return int(hash >> s.shift & (fanout - 1)) }

// add appends a record; nothing given is kept.
func (s *spool) add(hash uint64, key, value []byte) error {
	p := &s.parts[s.partOf(hash)]
	size := recordHead + len(key) + len(value)
	if n := len(p.blocks); n == 0 || cap(p.blocks[n-1])-len(p.blocks[n-1]) < size {
		want := firstBlock
		if n > 0 {
			want = min(2*cap(p.blocks[n-1]), maxBlock)
		}
		want = max(want, size)
		p.blocks = append(p.blocks, make([]byte, 0, want))
		s.held += int64(want)
	}
	last := &p.blocks[len(p.blocks)-1]
	b := binary.LittleEndian.AppendUint32(*last, uint32(size))
	b = binary.LittleEndian.AppendUint64(b, hash)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(key)))
	*last = append(append(b, key...), value...)
	p.bytes += int64(size)
	s.records++
	if s.held > s.budget {
		return s.spill()
	}
	return nil
}

// spill writes all blocks to files.
func (s *spool) spill() error {
	if s.folder == "" {
		if err := s.makeFolder(); err != nil {
			return err
		}
	}
	for i := range s.parts {
		p := &s.parts[i]
		if len(p.blocks) == 0 {
			continue
		}
		if p.file == nil {
			file, err := os.CreateTemp(s.folder, "part-")
			if err != nil {
				return fmt.Errorf("opening a temporary file: %w", err)
			}
			p.file = file
		}
		for _, b := range p.blocks {
			if _, err := p.file.Write(b); err != nil {
				return fmt.Errorf("writing rows to a temporary file in %s: %w", s.folder, err)
			}
		}
		p.blocks = nil
	}
	s.held = 0
	return nil
}

func (s *spool) makeFolder() error {
	if s.dir != "" {
		if err := os.MkdirAll(s.dir, 0o700); err != nil {
			return fmt.Errorf("making a folder for temporary files: %w", err)
		}
	}
	folder, err := os.MkdirTemp(s.dir, "pipectl-reconcile-")
	if err != nil {
		return fmt.Errorf("making a folder for temporary files: %w", err)
	}
	s.folder = folder
	return nil
}

// each hands every record of a part to use; it is valid during the call.
func (s *spool) each(ctx context.Context, i int, use func(record) error) error {
	p := &s.parts[i]
	if p.file != nil {
		if err := p.eachStored(ctx, use); err != nil {
			return err
		}
	}
	for _, b := range p.blocks {
		if err := eachOf(ctx, b, func(r record, _ int) error { return use(r) }); err != nil {
			return err
		}
	}
	return nil
}

func (p *part) eachStored(ctx context.Context, use func(record) error) error {
	if _, err := p.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("reading a temporary file: %w", err)
	}
	r := bufio.NewReaderSize(p.file, 256<<10)
	var buf []byte
	for {
		head, err := r.Peek(4)
		if errors.Is(err, io.EOF) && len(head) == 0 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading a temporary file: %w", err)
		}
		size := int(binary.LittleEndian.Uint32(head))
		if cap(buf) < size {
			buf = make([]byte, size)
		}
		buf = buf[:size]
		if _, err := io.ReadFull(r, buf); err != nil {
			return fmt.Errorf("reading a temporary file: %w", err)
		}
		if err := eachOf(ctx, buf, func(r record, _ int) error { return use(r) }); err != nil {
			return err
		}
	}
}

// load returns all records of a part in memory, as blocks.
func (s *spool) load(i int) ([][]byte, error) {
	p := &s.parts[i]
	if p.file == nil {
		return p.blocks, nil
	}
	if _, err := p.file.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("reading a temporary file: %w", err)
	}
	stored, err := io.ReadAll(p.file)
	if err != nil {
		return nil, fmt.Errorf("reading a temporary file: %w", err)
	}
	return append([][]byte{stored}, p.blocks...), nil
}

// drop forgets a part that is done with.
func (s *spool) drop(i int) error {
	p := &s.parts[i]
	p.blocks, p.bytes = nil, 0
	if p.file == nil {
		return nil
	}
	file := p.file
	p.file = nil
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// close removes all temporary files. It may be called twice.
func (s *spool) close() {
	for i := range s.parts {
		if f := s.parts[i].file; f != nil {
			f.Close()
			s.parts[i].file = nil
		}
	}
	if s.folder != "" {
		os.RemoveAll(s.folder)
		s.folder = ""
	}
}

// eachOf walks the records of one block; at is where each begins.
func eachOf(ctx context.Context, block []byte, use func(r record, at int) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for at := 0; at < len(block); {
		r, size := recordAt(block, at)
		if err := use(r, at); err != nil {
			return err
		}
		at += size
	}
	return nil
}

func recordAt(block []byte, at int) (record, int) {
	b := block[at:]
	size := int(binary.LittleEndian.Uint32(b))
	key := recordHead + int(binary.LittleEndian.Uint32(b[12:]))
	return record{hash: binary.LittleEndian.Uint64(b[4:]), key: b[recordHead:key], value: b[key:size]}, size
}
