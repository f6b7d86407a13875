package reconcile

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"sort"
)

// Statuses of a bucket.
const (
	statusMatch    = "MATCH"
	statusInFlight = "IN_FLIGHT"
	statusMismatch = "MISMATCH"
)

// bucket is a piece of the key space that was counted on both sides.
type bucket struct {
	// first is the bin it begins with (range keys).
	first int64
	span
	source, silver tally
	// summed is false where keys have no sum.
	summed bool
	moved  bool
	status string
	// hashed tells that its rows were compared too: all of them, or (where keys
	// cannot be counted in buckets) those of some ranges.
	hashed bool
	// partly tells that only some were.
	partly bool
}

// span is a piece of the key space: JSON texts, inclusive and exclusive, "" is
// an open end.
type span struct{ lo, hi string }

// decidedByRows reports whether keys say more of the bucket than its counts:
// all its rows were compared.
func (b *bucket) decidedByRows() bool { return b.hashed && !b.partly }

// settle decides what the counts prove.
func (b *bucket) settle() {
	switch {
	case b.source == b.silver:
		b.status = statusMatch
	case b.moved:
		b.status = statusInFlight
	default:
		b.status = statusMismatch
	}
}

// rangeKey is how a key of one integer or date column is counted and cut.
type rangeKey struct {
	kind kind
	date bool
}

// walk joins bins to buckets of about rows rows. A bucket reaches up to where
// the next one begins.
func (k rangeKey) walk(b *bins, rows int64) []bucket {
	var out []bucket
	filled := b.filled()
	held := int64(0)
	for i, f := range filled {
		if i == 0 || held >= rows {
			out = append(out, bucket{first: f.id, summed: true})
			held = 0
		}
		last := &out[len(out)-1]
		last.source.merge(f.source)
		last.silver.merge(f.silver)
		held += max(f.source.rows, f.silver.rows)
	}
	for i := range out {
		out[i].lo = k.low(b.edge(out[i].first))
		if i+1 < len(out) {
			out[i].hi = k.high(b.edge(out[i+1].first))
			continue
		}
		past := new(big.Int).Add(b.edge(filled[len(filled)-1].id), big.NewInt(b.width))
		out[i].hi = k.high(past)
	}
	return out
}

// Days since 1970-01-01 of the first and the last date there is.
const (
	firstDay = -719_162
	lastDay  = 2_932_896
)

// low is an inclusive bound as JSON; a date before the first day is the first.
func (k rangeKey) low(edge *big.Int) string {
	if !k.date {
		return edge.String()
	}
	day, _ := clamp(edge)
	return quoted(dateText(max(day, firstDay)))
}

// high is an exclusive bound as JSON; one past the last day is open.
func (k rangeKey) high(edge *big.Int) string {
	if !k.date {
		return edge.String()
	}
	if day, _ := clamp(edge); day <= lastDay {
		return quoted(dateText(max(day, firstDay)))
	}
	return ""
}

func quoted(s string) string { return `"` + s + `"` }

// bucketOf returns the bucket that a bin lies in; buckets are sorted.
func bucketOf(buckets []bucket, id int64) int {
	return sort.Search(len(buckets), func(i int) bool { return buckets[i].first > id }) - 1
}

// chooseBuckets marks what is compared row by row: every bucket that differs,
// a random share of those that match, and those in flight when the check is to
// settle.
func chooseBuckets(buckets []bucket, sample float64, random *rand.Rand, settle bool) {
	var match []int
	for i := range buckets {
		switch buckets[i].status {
		case statusMismatch:
			buckets[i].hashed = true
		case statusInFlight:
			buckets[i].hashed = settle
		case statusMatch:
			match = append(match, i)
		}
	}
	for _, i := range choose(len(match), sample, random) {
		buckets[match[i]].hashed = true
	}
}

// choose returns a random share of n things, rounded up, without replacement,
// in order.
func choose(n int, share float64, random *rand.Rand) []int {
	// The small step keeps 0.1 times 30 from becoming 4.
	k := min(int(math.Ceil(share*float64(n)-1e-9)), n)
	chosen := random.Perm(n)[:max(k, 0)]
	slices.Sort(chosen)
	return chosen
}
