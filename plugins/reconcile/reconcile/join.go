package reconcile

import (
	"bytes"
	"context"
	"errors"
)

// maxDepth bounds how often records are divided again: four times six bits of
// a hash cut any amount of data into parts that fit.
const maxDepth = 4

// join brings records of two spools together by key, part by part, holding one
// part of loaded in memory at a time. use gets a table of loaded records and
// the streamed ones whose key may be among them. Both spools are used up.
func join(ctx context.Context, loaded, streamed *spool, budget int64, use func(t *table, streamed func(func(record) error) error) error) error {
	return joinAt(ctx, loaded, streamed, budget, 1, use)
}

func joinAt(ctx context.Context, loaded, streamed *spool, budget int64, depth int, use func(*table, func(func(record) error) error) error) error {
	for i := range fanout {
		if loaded.parts[i].bytes == 0 && streamed.parts[i].bytes == 0 {
			continue
		}
		var err error
		if loaded.parts[i].bytes > budget && depth < maxDepth {
			err = joinDivided(ctx, loaded, streamed, i, budget, depth, use)
		} else {
			err = joinPart(ctx, loaded, streamed, i, use)
		}
		if err == nil {
			err = errors.Join(loaded.drop(i), streamed.drop(i))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// joinDivided divides one part by further bits of the hash.
func joinDivided(ctx context.Context, loaded, streamed *spool, i int, budget int64, depth int, use func(*table, func(func(record) error) error) error) error {
	finer := [2]*spool{newSpool(loaded.dir, budget, depth), newSpool(streamed.dir, budget, depth)}
	defer finer[0].close()
	defer finer[1].close()
	for n, s := range []*spool{loaded, streamed} {
		if err := s.each(ctx, i, func(r record) error { return finer[n].add(r.hash, r.key, r.value) }); err != nil {
			return err
		}
	}
	return joinAt(ctx, finer[0], finer[1], budget, depth+1, use)
}

func joinPart(ctx context.Context, loaded, streamed *spool, i int, use func(*table, func(func(record) error) error) error) error {
	blocks, err := loaded.load(i)
	if err != nil {
		return err
	}
	t, err := newTable(ctx, blocks)
	if err != nil {
		return err
	}
	return use(t, func(f func(record) error) error { return streamed.each(ctx, i, f) })
}

// table finds records by key: open addressing with linear probing, at most
// three quarters full. A key may stand in it several times.
type table struct {
	blocks [][]byte
	slots  []slot
}

// slot is where a record stands; a free one has block -1.
type slot struct {
	hash  uint64
	at    int
	block int32
	taken bool
}

func newTable(ctx context.Context, blocks [][]byte) (*table, error) {
	n := 0
	for _, b := range blocks {
		for at := 0; at < len(b); n++ {
			_, size := recordAt(b, at)
			at += size
		}
	}
	size := 64
	for size*3 < n*4 {
		size *= 2
	}
	t := &table{blocks: blocks, slots: make([]slot, size)}
	for i := range t.slots {
		t.slots[i].block = -1
	}
	mask := uint64(size - 1)
	for n, b := range blocks {
		err := eachOf(ctx, b, func(r record, at int) error {
			i := r.hash & mask
			for t.slots[i].block >= 0 {
				i = (i + 1) & mask
			}
			t.slots[i] = slot{hash: r.hash, at: at, block: int32(n)}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *table) record(s *slot) record {
	r, _ := recordAt(t.blocks[s.block], s.at)
	return r
}

// find calls use with each record of the key until it answers true.
func (t *table) find(hash uint64, key []byte, use func(*slot, record) bool) {
	mask := uint64(len(t.slots) - 1)
	for i := hash & mask; t.slots[i].block >= 0; i = (i + 1) & mask {
		s := &t.slots[i]
		if s.hash != hash {
			continue
		}
		if r := t.record(s); bytes.Equal(r.key, key) && use(s, r) {
			return
		}
	}
}

// has reports whether the key is in the table.
func (t *table) has(hash uint64, key []byte) bool {
	found := false
	t.find(hash, key, func(*slot, record) bool { found = true; return true })
	return found
}

// rest calls use with each record that was not taken, in order.
func (t *table) rest(ctx context.Context, use func(record) error) error {
	for i := range t.slots {
		if s := &t.slots[i]; s.block >= 0 && !s.taken {
			if err := use(t.record(s)); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}
