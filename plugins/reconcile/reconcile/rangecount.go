package reconcile

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

// countRanges counts in buckets of a key of one integer or date column, then
// compares the rows of those it chooses.
func (r *run) countRanges(ctx context.Context, key rangeKey) error {
	end, err := r.newest(ctx)
	if err != nil {
		return err
	}
	r.asOf, r.result.SourceEnd = end, end.Text
	nulls, err := r.beginNullKeys(ctx)
	if err != nil {
		return err
	}
	source, err := r.sourceExtent(ctx, key)
	if err != nil {
		return err
	}
	b, err := r.countSilver(ctx, key, source)
	if err != nil {
		return err
	}
	if err := r.countSource(ctx, b); err != nil {
		return err
	}
	r.buckets = key.walk(b, r.settings.bucketRows)
	if r.buckets == nil {
		r.buckets = []bucket{}
	}
	if err := r.settleRanges(ctx, key, b, end.Text); err != nil {
		return err
	}
	share := r.settings.sample
	if r.isLater() {
		share = 0
	}
	chooseBuckets(r.buckets, share, r.random, r.req.Settle)
	for i := range r.buckets {
		k := &r.buckets[i]
		k.hashed = k.hashed || r.askedAgain(key, k)
	}
	if err := r.compareRanges(ctx, key, b); err != nil {
		return err
	}
	r.result.LookedAgain = r.isLater()
	if err := r.settleNullKeys(ctx, key, nulls, b, end.Text); err != nil {
		return err
	}
	r.result.AllRowsCompared = r.allHashed()
	return nil
}

// allHashed reports whether the rows of all buckets were compared.
func (r *run) allHashed() bool {
	return !slices.ContainsFunc(r.buckets, func(b bucket) bool { return !b.decidedByRows() })
}

// settleRanges gives each bucket its status. Keys in flight are looked for
// only when a bucket differs: equal is equal, whatever moved.
func (r *run) settleRanges(ctx context.Context, key rangeKey, b *bins, end string) error {
	differ := false
	for i := range r.buckets {
		differ = differ || r.buckets[i].source != r.buckets[i].silver
	}
	if differ {
		moved, err := r.awaitInFlight(ctx, time.Now(), end)
		if err != nil {
			return err
		}
		err = moved.keys(ctx, func(k []byte) error {
			if k[0] != markSet {
				return nil // a NULL key is in no bucket
			}
			// A bin without rows explains no difference.
			f := b.at(floorDiv(decodeInt(k[1:]), b.width), false)
			if f != nil && (f.source.rows != 0 || f.silver.rows != 0) {
				if i := bucketOf(r.buckets, f.id); i >= 0 {
					r.buckets[i].moved = true
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for i := range r.buckets {
		r.buckets[i].settle()
	}
	return nil
}

// sourceExtent asks for the source's smallest and greatest key.
func (r *run) sourceExtent(ctx context.Context, key rangeKey) (extent, error) {
	var e extent
	err := r.ask(ctx, plugin.AggregateRequest{Kind: plugin.AggregateBounds}, func(batch arrow.RecordBatch) error {
		for i := range int(batch.NumCols()) {
			c, ok := batch.Column(i).(*array.String)
			if !ok || c.Len() != 1 || batch.NumCols() != 2 {
				return fmt.Errorf("its bounds came as %v with %d rows", batch.Schema(), batch.NumRows())
			}
			if c.IsNull(0) || c.Value(0) == "null" {
				continue
			}
			v, err := key.parse(c.Value(0))
			if err != nil {
				// A column that is read as an integer may be something else there.
				return diag.Errorf(diag.KindUnsupported, "reconcile.no_buckets", "", "Its keys are no integers and no dates: %s", err).Err()
			}
			e.include(v)
		}
		return nil
	})
	return e, err
}

// parse reads one key as JSON: an integer, or a date as days since 1970.
func (k rangeKey) parse(text string) (int64, error) {
	if !k.date {
		var v int64
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			return 0, fmt.Errorf("%s is no integer key", text)
		}
		return v, nil
	}
	var day string
	if err := json.Unmarshal([]byte(text), &day); err != nil || len(day) < len(time.DateOnly) {
		return 0, fmt.Errorf("%s is no date", text)
	}
	t, err := time.Parse(time.DateOnly, day[:len(time.DateOnly)])
	if err != nil {
		return 0, fmt.Errorf("%s is no date", text)
	}
	return floorDiv(t.Unix(), 86_400), nil
}

// countSilver counts silver's keys in bins of the extent that both tables
// need. Silver's own extent is known only after a pass; a second one is made
// only where it is so much wider than the source's that the bins change.
func (r *run) countSilver(ctx context.Context, key rangeKey, source extent) (*bins, error) {
	b := newBins(source)
	silver, err := r.passSilver(ctx, key, b)
	if err != nil {
		return nil, err
	}
	both := source.union(silver)
	if both.width() == b.width && !b.overflow {
		return b, nil
	}
	b = newBins(both)
	_, err = r.passSilver(ctx, key, b)
	return b, err
}

func (r *run) passSilver(ctx context.Context, key rangeKey, b *bins) (extent, error) {
	var e extent
	var seen int64
	column := fieldNamed(r.silver.Schema, key.kind.name)
	err := r.scan(ctx, plugin.ScanRequest{Table: r.req.Silver, Version: r.silver.Version, Columns: []string{column}}, func(batch arrow.RecordBatch) error {
		if _, err := key.kind.bind(batch.Column(0)); err != nil {
			return err
		}
		switch a := batch.Column(0).(type) {
		case *array.Int8:
			countKeys(b, &e, a, a.Int8Values())
		case *array.Int16:
			countKeys(b, &e, a, a.Int16Values())
		case *array.Int32:
			countKeys(b, &e, a, a.Int32Values())
		case *array.Int64:
			countKeys(b, &e, a, a.Int64Values())
		case *array.Uint8:
			countKeys(b, &e, a, a.Uint8Values())
		case *array.Date32:
			countKeys(b, &e, a, a.Date32Values())
		default:
			return key.kind.mismatch(a)
		}
		seen += batch.NumRows()
		r.tell("count", seen, r.silver.Rows)
		return nil
	})
	return e, err
}

// countKeys counts the keys of one batch; NULL is in no bin, and counted apart.
func countKeys[T int8 | int16 | int32 | int64 | uint8 | arrow.Date32](b *bins, e *extent, a arrow.Array, values []T) {
	null := nullsOf(a)
	for i, v := range values {
		if null.at(i) {
			b.nullsInSilver++
			continue
		}
		e.include(int64(v))
		b.countSilver(int64(v))
	}
}

// countSource asks for counts and sums of all bins in one scan.
func (r *run) countSource(ctx context.Context, b *bins) error {
	return r.ask(ctx, plugin.AggregateRequest{Kind: plugin.AggregateBuckets, Width: b.width}, func(batch arrow.RecordBatch) error {
		if batch.NumCols() != 3 {
			return fmt.Errorf("its buckets came as %v", batch.Schema())
		}
		id, okID := batch.Column(0).(*array.Int64)
		n, okN := batch.Column(1).(*array.Int64)
		sum, okSum := batch.Column(2).(*array.Decimal128)
		if !okID || !okN || !okSum {
			return fmt.Errorf("its buckets came as %v", batch.Schema())
		}
		for i := range id.Len() {
			total := sum.Value(i)
			b.at(id.Value(i), true).source.merge(tally{rows: n.Value(i), high: total.HighBits(), low: total.LowBits()})
		}
		return nil
	})
}
