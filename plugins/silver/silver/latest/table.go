package latest

import "hash/maphash"

// table maps each key to the place of its newest row: open addressing with
// linear probing, at most three quarters full.
type table struct {
	seed  maphash.Seed
	slots []slot
	used  int
}

// slot is 16 bytes. A used slot has batch >= 0.
type slot struct {
	hash  uint64
	batch int32
	// place is the row, and with the highest bit that another row of the same
	// commit brought the key.
	place uint32
}

const brought = 1 << 31

func (s *slot) row() int { return int(s.place &^ brought) }

// at puts another row into the slot.
func (s *slot) at(batch int32, row int, bringing bool) {
	s.batch, s.place = batch, uint32(row)
	if bringing {
		s.place |= brought
	}
}

const emptySlot = -1

func newTable(seed maphash.Seed, rows int) *table {
	size := 64
	for size*3 < rows*4 {
		size *= 2
	}
	t := &table{seed: seed, slots: make([]slot, size)}
	t.clear()
	return t
}

func (t *table) clear() {
	for i := range t.slots {
		t.slots[i].batch = emptySlot
	}
}

// find returns the slot of the key, or the empty one where it belongs.
func (t *table) find(h uint64, same func(batch int32, row int) bool) *slot {
	return &t.slots[t.index(h, same)]
}

// index is the number of the slot that find returns.
func (t *table) index(h uint64, same func(batch int32, row int) bool) int {
	mask := uint64(len(t.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		s := &t.slots[i]
		if s.batch == emptySlot || s.hash == h && same(s.batch, s.row()) {
			return int(i)
		}
	}
}

// take fills an empty slot and grows the table when it is getting full.
func (t *table) take(s *slot, filled slot) {
	*s = filled
	t.used++
	if t.used*4 >= len(t.slots)*3 {
		t.grow()
	}
}

func (t *table) grow() {
	old := t.slots
	t.slots = make([]slot, 2*len(old))
	t.clear()
	mask := uint64(len(t.slots) - 1)
	for _, s := range old {
		if s.batch == emptySlot {
			continue
		}
		i := s.hash & mask
		for t.slots[i].batch != emptySlot {
			i = (i + 1) & mask
		}
		t.slots[i] = s
	}
}
