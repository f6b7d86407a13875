package reconcile

import (
	"context"
	"encoding/json"
	"math/big"
	"slices"
	"sort"

	"github.com/pipectl/pipectl/core/plugin"
)

// maxReads bounds the reads of a later look: with more keys, those that lie
// closest to each other are read together.
const maxReads = 256

// nearKeys is how far apart keys may lie to be read together anyway: a read of
// its own costs a login, in which time the source sends thousands of rows.
const nearKeys = 5_000

// keysAgain are the keys that a later look is narrowed to, in order; false
// when everything is to be looked at, or the keys are not ones that can be
// read one by one.
func (r *run) keysAgain() (rangeKey, []int64, bool) {
	key, ok := r.subject.rangeKey()
	if !ok || len(r.req.Keys) == 0 {
		return key, nil, false
	}
	keys := make([]int64, 0, len(r.req.Keys))
	for _, text := range r.req.Keys {
		var columns map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &columns); err != nil {
			return key, nil, false
		}
		value := string(columns[key.kind.name])
		if value == "" || value == "null" {
			return key, nil, false
		}
		v, err := key.parse(value)
		if err != nil {
			return key, nil, false
		}
		keys = append(keys, v)
	}
	slices.Sort(keys)
	return key, slices.Compact(keys), true
}

// lookAgain compares the rows of some keys only: those that were in flight, or
// differed, at an earlier look. Nothing is counted.
func (r *run) lookAgain(ctx context.Context, key rangeKey, keys []int64) error {
	spans := together(keys, maxReads)
	reads := make([]read, len(spans))
	pieces := make([]span, len(spans))
	var filter plugin.Filter
	for i, s := range spans {
		past := new(big.Int).Add(big.NewInt(s[1]), big.NewInt(1)) // may be past 64 bits
		pieces[i] = span{lo: key.low(big.NewInt(s[0])), hi: key.high(past)}
		reads[i] = read{span: pieces[i]}
		filter.Any = append(filter.Any, key.bound(&reads[i].span, fieldNamed(r.silver.Schema, key.kind.name)))
	}
	if len(filter.Any) > maxClauses {
		filter = plugin.Filter{}
	}
	c := &comparison{run: r, pieces: pieces, filter: filter, whole: true}
	c.pieceOf = func(k []byte) (uint32, bool) {
		if k[0] != markSet {
			return 0, false
		}
		v := decodeInt(k[1:])
		if _, asked := slices.BinarySearch(keys, v); !asked {
			return 0, false
		}
		return uint32(sort.Search(len(spans), func(i int) bool { return spans[i][1] >= v })), true
	}
	if err := c.compare(ctx, reads); err != nil {
		return err
	}
	r.result.LookedAgain, r.keysCompared = true, int64(len(keys))
	return nil
}

// isLater reports whether the look is one at what an earlier one found in ranges.
// Its random choice was made then: it draws none of its own, which could find
// something new, never settle it, and end the check on it.
func (r *run) isLater() bool { return len(r.req.Again) > 0 }

// askedAgain reports whether something was found in a bucket at an earlier look.
// Buckets are cut anew by each look, so every one that has a key in common with
// a range of that look is meant.
func (r *run) askedAgain(key rangeKey, b *bucket) bool {
	return slices.ContainsFunc(r.req.Again, func(a plugin.KeyRange) bool {
		return a.Lo != nullKeyBound && key.before(a.Lo, b.hi) && key.before(b.lo, a.Hi)
	})
}

// before reports whether a range that begins at lo may hold a key below hi. An
// open bound, or one that no key can reach, leaves it possible.
func (k rangeKey) before(lo, hi string) bool {
	if lo == "" || hi == "" {
		return true
	}
	from, err := k.parse(lo)
	if err != nil {
		return true
	}
	to, err := k.parse(hi)
	return err != nil || from < to
}

// askedRanges are the ranges of the source that are read again as they were cut;
// false when all of the table is meant.
func (r *run) askedRanges() ([]span, bool) {
	out := make([]span, 0, len(r.req.Again))
	for _, a := range r.req.Again {
		if a.Lo == "" && a.Hi == "" {
			return nil, false
		}
		out = append(out, span{lo: a.Lo, hi: a.Hi})
	}
	return out, true
}

// together joins sorted keys to at most n spans of first and last key, closing
// the smallest gaps.
func together(keys []int64, n int) [][2]int64 {
	gaps := make([]uint64, 0, len(keys))
	for i := 1; i < len(keys); i++ {
		gaps = append(gaps, uint64(keys[i])-uint64(keys[i-1]))
	}
	// The widest gaps stay open, at most n-1 of them; of equal ones the first.
	limit, equal := uint64(nearKeys), 0
	if len(keys) > n {
		sorted := slices.Clone(gaps)
		slices.Sort(sorted)
		if bound := sorted[len(gaps)-n]; bound > limit {
			limit = bound
			wider := len(gaps) - sort.Search(len(gaps), func(i int) bool { return sorted[i] > bound })
			equal = n - 1 - wider
		}
	}
	var out [][2]int64
	for i, k := range keys {
		open := i == 0 || gaps[i-1] > limit
		if !open && gaps[i-1] == limit && equal > 0 {
			open = true
			equal--
		}
		if open {
			out = append(out, [2]int64{k, k})
			continue
		}
		out[len(out)-1][1] = k
	}
	return out
}
