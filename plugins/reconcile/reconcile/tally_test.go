package reconcile

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func anyKey() *rapid.Generator[int64] {
	return rapid.OneOf(rapid.Int64(), rapid.Int64Range(-3, 3), rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64}))
}

func TestSumsAreExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var whole, a, b tally
		sum := new(big.Int)
		for i, k := range rapid.SliceOf(anyKey()).Draw(t, "keys") {
			whole.add(k)
			[]*tally{&a, &b}[i%2].add(k)
			sum.Add(sum, big.NewInt(k))
		}
		a.merge(b)
		if whole != a || whole.sum().BigInt().Cmp(sum) != 0 {
			t.Fatalf("sum %v, parts %v, want %v", whole.sum().BigInt(), a.sum().BigInt(), sum)
		}
	})
}

// Any extent is cut into at most maxBins pieces and one, of a width that is
// the extent over maxBins rounded up; every key of it is in a dense bin.
func TestBinsCoverTheirExtent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var e extent
		e.include(anyKey().Draw(t, "a"))
		e.include(anyKey().Draw(t, "b"))
		span := new(big.Int).Sub(big.NewInt(e.hi), big.NewInt(e.lo))
		span.Add(span, big.NewInt(maxBins)) // one for the last key, maxBins-1 to round up
		if want := span.Div(span, big.NewInt(maxBins)); !want.IsInt64() || want.Int64() != e.width() {
			t.Fatalf("width of %+v is %d, want %s", e, e.width(), want)
		}
		b := newBins(e)
		if len(b.dense) > maxBins+1 {
			t.Fatalf("%d bins", len(b.dense))
		}
		b.countSilver(e.lo)
		b.countSilver(e.hi)
		b.countSilver(rapid.Int64Range(e.lo, e.hi).Draw(t, "key"))
		if len(b.far) != 0 || b.overflow {
			t.Fatal("a key of the extent is in no dense bin")
		}
	})
}

// Buckets follow each other without a gap, hold every row, and only the last
// may be smaller than asked for.
func TestBucketsTileTheKeySpace(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(anyKey(), 1, 50).Draw(t, "keys")
		size := rapid.Int64Range(1, 20).Draw(t, "rows")
		var e extent
		for _, k := range keys {
			e.include(k)
		}
		b := newBins(e)
		for _, k := range keys {
			b.countSilver(k)
		}
		buckets := rangeKey{}.walk(b, size)
		rows := int64(0)
		for i, k := range buckets {
			if rows += k.silver.rows; i > 0 && buckets[i-1].hi != k.lo || i+1 < len(buckets) && k.silver.rows < size {
				t.Fatalf("bucket %d: %+v", i, k)
			}
		}
		if rows != int64(len(keys)) {
			t.Fatalf("%d rows in buckets, %d keys", rows, len(keys))
		}
		for _, key := range keys {
			i := bucketOf(buckets, floorDiv(key, b.width))
			lo, _ := new(big.Int).SetString(buckets[i].lo, 10)
			hi, _ := new(big.Int).SetString(buckets[i].hi, 10)
			if k := big.NewInt(key); k.Cmp(lo) < 0 || k.Cmp(hi) >= 0 {
				t.Fatalf("key %d in bucket %s to %s", key, lo, hi)
			}
		}
	})
}

func TestFarBinsAreBounded(t *testing.T) {
	t.Parallel()
	b := newBins(extent{})
	for k := range int64(3 * maxBins) {
		b.countSilver(k)
	}
	if !b.overflow || len(b.far) > maxBins+1 {
		t.Errorf("overflow %v, %d far bins", b.overflow, len(b.far))
	}
	if whole := (extent{lo: 0, hi: 3*maxBins - 1, any: true}); whole.width() == b.width {
		t.Error("an overflow must mean a second count")
	}
}

func TestDateBoundsOutsideTheCalendar(t *testing.T) {
	t.Parallel()
	k := rangeKey{date: true}
	if lo := k.low(big.NewInt(firstDay - 1)); lo != `"0001-01-01"` {
		t.Errorf("below the first day: %s", lo)
	}
	if hi := k.high(big.NewInt(lastDay)); hi != `"9999-12-31"` {
		t.Errorf("the last day: %s", hi)
	}
	if hi := k.high(big.NewInt(lastDay + 1)); hi != "" {
		t.Errorf("past the last day: %s", hi)
	}
}
