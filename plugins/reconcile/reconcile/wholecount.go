package reconcile

import (
	"context"
	"fmt"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

// countWhole counts all rows at once, for keys that have no order that both
// sides share, then compares the rows of a random share of ranges that the
// source cuts.
func (r *run) countWhole(ctx context.Context) error {
	end, err := r.newest(ctx)
	if err != nil {
		return err
	}
	r.asOf, r.result.SourceEnd = end, end.Text
	var whole bucket
	if whole.source.rows, err = r.countSourceRows(ctx); err != nil {
		return err
	}
	if whole.silver.rows, err = r.countSilverRows(ctx); err != nil {
		return err
	}
	if whole.source != whole.silver {
		moved, err := r.awaitInFlight(ctx, time.Now(), end.Text)
		if err != nil {
			return err
		}
		err = moved.keys(ctx, func([]byte) error {
			whole.moved = true
			return errEnough
		})
		if err != nil {
			return err
		}
	}
	whole.settle()
	r.buckets = []bucket{whole}
	return r.compareTiles(ctx)
}

func (r *run) countSourceRows(ctx context.Context) (int64, error) {
	var n int64
	err := r.ask(ctx, plugin.AggregateRequest{Kind: plugin.AggregateCount}, func(batch arrow.RecordBatch) error {
		c, ok := batch.Column(0).(*array.Int64)
		if !ok || c.Len() != 1 {
			return fmt.Errorf("its count came as %v with %d rows", batch.Schema(), batch.NumRows())
		}
		n = c.Value(0)
		return nil
	})
	return n, err
}

func (r *run) countSilverRows(ctx context.Context) (int64, error) {
	var n int64
	column := fieldNamed(r.silver.Schema, r.subject.key[0].name)
	err := r.scan(ctx, plugin.ScanRequest{Table: r.req.Silver, Version: r.silver.Version, Columns: []string{column}}, func(batch arrow.RecordBatch) error {
		n += batch.NumRows()
		r.tell("count", n, r.silver.Rows)
		return nil
	})
	return n, err
}

// tiles cuts the source's key space into ranges of about bucketRows rows; one
// range without bounds where that is enough. ok is false when the key cannot
// be cut: then no rows are compared.
func (r *run) tiles(ctx context.Context, rows int64) (ranges []span, ok bool, err error) {
	n := (rows + r.settings.bucketRows - 1) / r.settings.bucketRows
	if n <= 1 {
		return []span{{}}, true, nil
	}
	var lows []string
	err = r.ask(ctx, plugin.AggregateRequest{Kind: plugin.AggregateTiles, Tiles: int(n)}, func(batch arrow.RecordBatch) error {
		lo, err := columnOf[*array.String](batch, "lo")
		if err != nil {
			return err
		}
		for i := range lo.Len() {
			lows = append(lows, string([]byte(lo.Value(i)))) // the batch does not live on
		}
		return nil
	})
	if diag.Is(err, diag.KindUnsupported) || diag.Is(err, diag.KindConfiguration) {
		r.warn("reconcile.key_not_cut", "Rows of tables that fit into one bucket are compared with any key: raise bucket_rows if this one may.",
			"No rows were compared: %s", diag.FromError(err)[0].Summary)
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	for i, lo := range lows {
		s := span{lo: lo}
		if i == 0 {
			s.lo = ""
		}
		if i+1 < len(lows) {
			s.hi = lows[i+1]
		}
		ranges = append(ranges, s)
	}
	if len(ranges) == 0 { // emptied since it was counted
		ranges = []span{{}}
	}
	return ranges, true, nil
}
