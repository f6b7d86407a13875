package reconcile

// keyFilter tells keys that are certainly not in a set, by one bit of their
// hash.
type keyFilter []uint64

// newKeyFilter makes room for n keys within a number of bytes.
func newKeyFilter(n, bytes int64) keyFilter {
	words := int64(64)
	for words*8 < n && words*16 <= bytes {
		words *= 2
	}
	return make(keyFilter, words)
}

func (f keyFilter) bit(hash uint64) (word, mask uint64) {
	b := hash & (uint64(len(f))*64 - 1)
	return b / 64, 1 << (b % 64)
}

func (f keyFilter) note(hash uint64) {
	w, m := f.bit(hash)
	f[w] |= m
}

func (f keyFilter) may(hash uint64) bool {
	w, m := f.bit(hash)
	return f[w]&m != 0
}
