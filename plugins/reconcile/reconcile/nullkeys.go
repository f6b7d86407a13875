package reconcile

import (
	"context"
	"slices"
	"time"

	"github.com/pipectl/pipectl/core/plugin"
)

// A key that a table block declares may be NULL at the source, and a NULL key
// is in no bucket. Such rows are counted apart: silver's while its keys are
// counted, the source's as what its buckets leave of its row count.

// nullKeyBound is both bounds of the bucket of NULL keys.
const nullKeyBound = "null"

// beginNullKeys counts the source's rows before its buckets are counted; -1
// for a key that the source itself found, which is never NULL.
func (r *run) beginNullKeys(ctx context.Context) (rows int64, err error) {
	if len(r.req.Source.Key) == 0 {
		return -1, nil
	}
	return r.countSourceRows(ctx)
}

// settleNullKeys adds a bucket for NULL keys if either side has some. before
// is what beginNullKeys counted. Rows and buckets are counted one after the
// other, so a source that moves meanwhile leaves the bucket in flight.
func (r *run) settleNullKeys(ctx context.Context, key rangeKey, before int64, b *bins, end string) error {
	var nulls bucket
	nulls.lo, nulls.hi = nullKeyBound, nullKeyBound
	nulls.silver.rows = b.nullsInSilver
	if before >= 0 {
		after, err := r.countSourceRows(ctx)
		if err != nil {
			return err
		}
		nulls.moved = before != after
		nulls.source.rows = max(before-b.rowsAtSource(), 0)
	}
	if nulls.source.rows == 0 && nulls.silver.rows == 0 {
		return nil
	}
	if nulls.source != nulls.silver && !nulls.moved && before >= 0 {
		moved, err := r.awaitInFlight(ctx, time.Now(), end)
		if err != nil {
			return err
		}
		err = moved.keys(ctx, func([]byte) error {
			nulls.moved = true
			return errEnough
		})
		if err != nil {
			return err
		}
	}
	nulls.settle()
	nulls.hashed = nulls.status == statusMatch && nulls.silver.rows == 1 && r.wantsNullKey()
	r.buckets = append(r.buckets, nulls)
	said := "counted, not compared"
	if nulls.hashed {
		said = "counted, and compared as there is one"
	}
	r.warn("reconcile.null_keys", "Rows without a key cannot be told apart, so silver holds one of them at most. Declare a key whose columns are never NULL.",
		"The key of %s is NULL in %d rows at the source and in %d rows of %s: these are %s",
		r.req.Object, nulls.source.rows, nulls.silver.rows, r.req.Silver.Name, said)
	if !nulls.hashed {
		if nulls.status == statusMatch && r.wantsNullKey() {
			r.result.LookedAgain = false // there are several now, which cannot be told apart
		}
		return nil
	}
	return r.compareNullKey(ctx, key)
}

// wantsNullKey reports whether the one row without a key is compared: where all
// others are, or an earlier look found it different.
func (r *run) wantsNullKey() bool {
	if slices.ContainsFunc(r.req.Again, func(a plugin.KeyRange) bool { return a.Lo == nullKeyBound }) {
		return true
	}
	return r.settings.sample == 1 && !r.isLater()
}

// compareNullKey compares the row without a key. A source reads it with the
// range that is open below, as its order has NULL before all keys.
func (r *run) compareNullKey(ctx context.Context, key rangeKey) error {
	r.result.Hashed++
	nulls := span{nullKeyBound, nullKeyBound}
	column := fieldNamed(r.silver.Schema, key.kind.name)
	c := &comparison{run: r, pieces: []span{nulls}, whole: true, filter: where(plugin.Term{Column: column, Op: plugin.OpIsNull})}
	c.pieceOf = func(k []byte) (uint32, bool) { return 0, k[0] != markSet }
	var below read
	if len(r.buckets) > 1 {
		below.hi = r.buckets[0].lo
	}
	return c.compare(ctx, []read{below})
}

// rowsAtSource is how many rows of the source the bins hold.
func (b *bins) rowsAtSource() int64 {
	var n int64
	for _, f := range b.filled() {
		n += f.source.rows
	}
	return n
}
