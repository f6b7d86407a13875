package reconcile

import (
	"cmp"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// maxBins is into how many fine pieces the key space is cut.
const maxBins = 100_000

// tally is a number of rows and the sum of their keys, in 128 bits.
type tally struct {
	rows int64
	high int64
	low  uint64
}

func (t *tally) add(key int64) {
	var carry uint64
	t.rows++
	t.low, carry = bits.Add64(t.low, uint64(key), 0)
	t.high += key>>63 + int64(carry)
}

func (t *tally) merge(o tally) {
	var carry uint64
	t.rows += o.rows
	t.low, carry = bits.Add64(t.low, o.low, 0)
	t.high += o.high + int64(carry)
}

func (t tally) sum() decimal128.Num { return decimal128.New(t.high, t.low) }

// extent is the smallest and the greatest key of a table; empty has none.
type extent struct {
	lo, hi int64
	any    bool
}

func (e *extent) include(key int64) {
	if !e.any {
		*e = extent{key, key, true}
		return
	}
	e.lo, e.hi = min(e.lo, key), max(e.hi, key)
}

func (e extent) union(o extent) extent {
	if !o.any {
		return e
	}
	e.include(o.lo)
	e.include(o.hi)
	return e
}

// width is how wide a fine piece is: the extent divided by maxBins, rounded
// up. It is at least 1 and at most 2^64 / maxBins, so it never overflows.
func (e extent) width() int64 {
	if !e.any {
		return 1
	}
	high, low := uint64(0), uint64(e.hi)-uint64(e.lo) // both may be near the ends of int64
	low, carry := bits.Add64(low, 1, 0)
	high += carry
	low, carry = bits.Add64(low, maxBins-1, 0)
	q, _ := bits.Div64(high+carry, low, maxBins)
	return int64(q)
}

// bin is one fine piece of the key space: all keys whose quotient by the
// width, rounded down, is id.
type bin struct {
	id             int64
	source, silver tally
}

// bins are the fine pieces of one run, dense where keys were expected when it
// began. Others (keys that came meanwhile) are kept apart.
type bins struct {
	width int64
	first int64
	dense []bin
	far   map[int64]*bin
	// overflow tells that far is full and silver's counts are not whole.
	overflow bool
	// nullsInSilver are silver's rows whose key is NULL: they are in no bin.
	nullsInSilver int64
}

func newBins(e extent) *bins {
	b := &bins{width: e.width(), far: map[int64]*bin{}}
	if e.any {
		b.first = floorDiv(e.lo, b.width)
		b.dense = make([]bin, floorDiv(e.hi, b.width)-b.first+1)
		for i := range b.dense {
			b.dense[i].id = b.first + int64(i)
		}
	}
	return b
}

// at returns the bin of an id; nil when it is not there and create is false.
func (b *bins) at(id int64, create bool) *bin {
	if i := uint64(id) - uint64(b.first); i < uint64(len(b.dense)) {
		return &b.dense[i]
	}
	f := b.far[id]
	if f == nil && create {
		f = &bin{id: id}
		b.far[id] = f
	}
	return f
}

// countSilver adds one key of silver. More far bins than a table of any extent
// has mean that the extent is larger than known: the caller counts again.
func (b *bins) countSilver(key int64) {
	id := floorDiv(key, b.width)
	if i := uint64(id) - uint64(b.first); i < uint64(len(b.dense)) {
		b.dense[i].silver.add(key)
		return
	}
	f := b.at(id, len(b.far) <= maxBins)
	if f == nil {
		b.overflow = true
		return
	}
	f.silver.add(key)
}

// filled lists the bins that have rows, by id.
func (b *bins) filled() []*bin {
	var out []*bin
	for i := range b.dense {
		if d := &b.dense[i]; d.source.rows != 0 || d.silver.rows != 0 {
			out = append(out, d)
		}
	}
	for _, f := range b.far {
		if f.source.rows != 0 || f.silver.rows != 0 {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(x, y *bin) int { return cmp.Compare(x.id, y.id) })
	return out
}

// edge is where the bin of an id begins. It may lie outside int64.
func (b *bins) edge(id int64) *big.Int {
	return new(big.Int).Mul(big.NewInt(id), big.NewInt(b.width))
}

// clamp returns an edge as int64; ok is false when it lies outside, in the
// direction of its sign.
func clamp(edge *big.Int) (v int64, ok bool) {
	if edge.IsInt64() {
		return edge.Int64(), true
	}
	if edge.Sign() < 0 {
		return math.MinInt64, false
	}
	return math.MaxInt64, false
}
