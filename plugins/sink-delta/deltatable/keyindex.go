package deltatable

import (
	"bytes"
	"math/bits"
	"sync/atomic"
)

// keyIndex finds the source row of a key: an open-addressing hash table with a
// bit filter in front, which answers for most rows of a large table without
// touching the table. It is built by one goroutine, then probed by many.
type keyIndex struct {
	slots   []slot
	mask    uint64
	filter  []uint64
	fmask   uint64
	entries []entry
	arena   []byte
	matched []atomic.Uint32 // bit i: a live row of the table has the key of entry i
}

// slot is a place of the table; entry is its number plus one, 0 for empty.
type slot struct {
	hash  uint64
	entry uint64
}

// entry is one source row. Its key and its guard lie behind each other in the
// arena.
type entry struct {
	offset   uint64
	key      uint32 // length of the key
	guard    uint32 // length of the guard
	row      uint64 // number of the source row
	isDelete bool
}

// entryBytes is about what one source row takes in an index, besides key and
// guard: entry, two slots, four bytes of filter.
const entryBytes = 72

// newKeyIndex makes room for n rows.
func newKeyIndex(n int) *keyIndex {
	size := 1 << max(bits.Len64(uint64(n)*2), 4)
	filterBits := 1 << max(bits.Len64(uint64(n)*16), 10)
	return &keyIndex{
		slots: make([]slot, size), mask: uint64(size - 1),
		filter: make([]uint64, filterBits/64), fmask: uint64(filterBits - 1),
		entries: make([]entry, 0, n),
	}
}

// insert adds a row and returns -1, or the number of the entry that has the key
// already.
func (x *keyIndex) insert(hash uint64, key, guard []byte, row uint64, isDelete bool) int {
	if uint64(len(x.entries))*2 >= uint64(len(x.slots)) {
		x.grow()
	}
	i := hash & x.mask
	for ; x.slots[i].entry != 0; i = (i + 1) & x.mask {
		if x.slots[i].hash == hash {
			if n := int(x.slots[i].entry - 1); bytes.Equal(x.keyOf(n), key) {
				return n
			}
		}
	}
	x.entries = append(x.entries, entry{
		offset: uint64(len(x.arena)), key: uint32(len(key)), guard: uint32(len(guard)), row: row, isDelete: isDelete,
	})
	x.arena = append(append(x.arena, key...), guard...)
	x.slots[i] = slot{hash: hash, entry: uint64(len(x.entries))}
	b := filterBit(hash) & x.fmask
	x.filter[b/64] |= 1 << (b % 64)
	return -1
}

func (x *keyIndex) grow() {
	old := x.slots
	x.slots = make([]slot, len(old)*2)
	x.mask = uint64(len(x.slots) - 1)
	for _, s := range old {
		if s.entry == 0 {
			continue
		}
		i := s.hash & x.mask
		for x.slots[i].entry != 0 {
			i = (i + 1) & x.mask
		}
		x.slots[i] = s
	}
}

// filterBit takes other bits of the hash than the table does.
func filterBit(hash uint64) uint64 { return hash >> 24 }

// mayHold is false when no key has the hash.
func (x *keyIndex) mayHold(hash uint64) bool {
	b := filterBit(hash) & x.fmask
	return x.filter[b/64]&(1<<(b%64)) != 0
}

// find returns the number of the entry with the key, -1 when there is none.
// key is called only when an entry has the same hash.
func (x *keyIndex) find(hash uint64, key func() []byte) int {
	for i := hash & x.mask; x.slots[i].entry != 0; i = (i + 1) & x.mask {
		if x.slots[i].hash == hash {
			if n := int(x.slots[i].entry - 1); bytes.Equal(x.keyOf(n), key()) {
				return n
			}
		}
	}
	return -1
}

func (x *keyIndex) keyOf(n int) []byte {
	e := &x.entries[n]
	return x.arena[e.offset : e.offset+uint64(e.key)]
}

func (x *keyIndex) guardOf(n int) []byte {
	e := &x.entries[n]
	from := e.offset + uint64(e.key)
	return x.arena[from : from+uint64(e.guard)]
}

// seal ends building.
func (x *keyIndex) seal() { x.matched = make([]atomic.Uint32, (len(x.entries)+31)/32) }

// match notes that a live row of the table has the key of entry n.
func (x *keyIndex) match(n int) { x.matched[n/32].Or(1 << (n % 32)) }

func (x *keyIndex) isMatched(n int) bool { return x.matched[n/32].Load()&(1<<(n%32)) != 0 }

// rowSet is a set of source rows that several goroutines add to.
type rowSet struct{ words []atomic.Uint64 }

func newRowSet(rows int64) *rowSet { return &rowSet{make([]atomic.Uint64, (rows+63)/64)} }

// add puts the row in and says whether it was new.
func (s *rowSet) add(row uint64) bool {
	bit := uint64(1) << (row % 64)
	return s.words[row/64].Or(bit)&bit == 0
}

func (s *rowSet) has(row uint64) bool { return s.words[row/64].Load()&(1<<(row%64)) != 0 }
