package deltatable

import (
	"context"
	"math/bits"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

const (
	// hashSetBytes is the most that one source row takes in a hashSet.
	hashSetBytes = 32
	// maxSuspects is how many hashes are looked at more closely together.
	maxSuspects = 1024
)

// fill is find for a table without files: nothing can match, so every row that
// does not delete is new. The rows are only looked at for two of one key, which
// takes hashes and no index of keys and guards: a row whose hash no other has
// is alone with its key.
func (x *matching) fill(ctx context.Context) error {
	need := x.rows.total * hashSetBytes
	budget := max(x.s.table.opts.MergeMemory/2, 1)
	passes := uint64(max((need+budget-1)/budget, 1))
	seen := newHashSet(x.rows.total / int64(passes))
	for pass := range passes {
		if err := ctx.Err(); err != nil {
			return err
		}
		seen.clear()
		suspects := map[uint64]bool{}
		err := x.hashed(func(b spooledBatch, rec arrow.RecordBatch, hashes []uint64) error {
			deletes := rec.Column(len(x.m.names)).(*array.Boolean)
			for i, h := range hashes {
				if passOf(h, passes) != pass {
					continue
				}
				if !seen.add(h) {
					suspects[h] = true
				}
				if !deletes.Value(i) {
					x.emit.add(uint64(b.first) + uint64(i))
					x.inserted++
				}
			}
			if len(suspects) < maxSuspects {
				return nil
			}
			err := x.compareKeys(suspects)
			clear(suspects)
			return err
		})
		if err == nil && len(suspects) > 0 {
			err = x.compareKeys(suspects)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// compareKeys fails when two of the rows with these hashes have one key.
func (x *matching) compareKeys(suspects map[uint64]bool) error {
	keys := map[string]bool{}
	var codec keyCodec
	var key []byte
	return x.hashed(func(b spooledBatch, rec arrow.RecordBatch, hashes []uint64) error {
		if err := codec.bind(pick(rec, x.m.keys)); err != nil {
			return err
		}
		for i, h := range hashes {
			if !suspects[h] {
				continue
			}
			if key = codec.appendKey(key[:0], i); keys[string(key)] {
				return &DuplicateKeyError{Key: x.m.describeKey(rec, i)}
			}
			keys[string(key)] = true
		}
		return nil
	})
}

// hashed passes every batch with the hashes of its keys; both are borrowed.
func (x *matching) hashed(f func(b spooledBatch, rec arrow.RecordBatch, hashes []uint64) error) error {
	var hashes []uint64
	return x.rows.each(func(b spooledBatch, rec arrow.RecordBatch) error {
		hashes = slices.Grow(hashes[:0], int(b.rows))[:b.rows]
		if err := x.m.seed.rows(pick(rec, x.m.keys), hashes); err != nil {
			return err
		}
		return f(b, rec, hashes)
	})
}

// hashSet is a set of hashes: open addressing, 0 is an empty place.
type hashSet struct {
	slots []uint64
	used  int
	zero  bool // 0 itself is in
}

// newHashSet makes room for n hashes.
func newHashSet(n int64) *hashSet {
	return &hashSet{slots: make([]uint64, 1<<max(bits.Len64(uint64(n)*3/2), 4))}
}

func (s *hashSet) clear() {
	clear(s.slots)
	s.used, s.zero = 0, false
}

// add puts the hash in and says whether it was new.
func (s *hashSet) add(h uint64) bool {
	if h == 0 {
		was := s.zero
		s.zero = true
		return !was
	}
	if s.used*4 >= len(s.slots)*3 {
		s.grow()
	}
	mask := uint64(len(s.slots) - 1)
	i := h & mask
	for ; s.slots[i] != 0; i = (i + 1) & mask {
		if s.slots[i] == h {
			return false
		}
	}
	s.slots[i] = h
	s.used++
	return true
}

func (s *hashSet) grow() {
	old := s.slots
	s.slots, s.used = make([]uint64, 2*len(old)), 0
	for _, h := range old {
		if h != 0 {
			s.add(h)
		}
	}
}
