package mssql

import (
	"context"
	"math"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
)

// keyset cuts a key that is no integer: it seeks bounds in the key's order, one
// after the other. The key need not be unique, neither to the server nor as a
// bound says it: times are cut to the microsecond.
type keyset struct {
	*conn
	read   tsql.TableRead
	target target
}

// bounds are the inner bounds of at most n pieces of about equal row counts, by
// the server's estimate of rows. There are fewer when that was too high, and
// where one value has more rows than a piece: pieces only serve parallel reads.
func (k *keyset) bounds(ctx context.Context, n int) ([]string, error) {
	total, err := rowEstimate(ctx, k.conn, k.target.table)
	if err != nil {
		return nil, err
	}
	parts := min(int64(n), total)
	var out []string
	lo := ""
	for i := int64(0); i < parts-1; i++ {
		rows := total / parts
		if i < total%parts {
			rows++
		}
		bound, ok, err := k.next(ctx, lo, "", rows)
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		out = append(out, bound)
		lo = bound
	}
	return out, nil
}

// chunks are the chunks of about rows rows up to the greatest key of the
// extent.
func (k *keyset) chunks(ctx context.Context, greatest string, rows int64) ([]plugin.Chunk, error) {
	var bounds []string
	lo := ""
	for {
		bound, ok, err := k.next(ctx, lo, greatest, rows)
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		bounds = append(bounds, bound)
		lo = bound
	}
	out := chunksAt(bounds)
	// Rows inserted above the greatest key belong to the stream. A key after it
	// that reads back as it, cut to the microsecond, leaves the end open.
	end, ok, err := k.next(ctx, greatest, "", 1)
	if err != nil {
		return nil, err
	}
	if ok {
		out[len(out)-1].Hi = end
	}
	return out, nil
}

// next is the key after n rows of [lo, hi). A value never splits, so [lo, key)
// has fewer rows when the n-th shares its value with the key, and more when lo's
// value alone has more. ok is false when no key is left, and what follows lo is
// then one piece.
//
// A bound moves when a row lies before it, as the server compares them: texts
// may differ here and be equal there, several keys may read as one, and NULL in
// a single column would mean an open end. Until then the search goes twice as
// far, so bounds always rise, and that is what keeps each row in one piece.
func (k *keyset) next(ctx context.Context, lo, hi string, n int64) (key string, ok bool, err error) {
	for ; n < math.MaxInt64/2; n *= 2 {
		bound, ok, err := k.seek(ctx, lo, hi, n)
		if err != nil || !ok {
			return "", false, err
		}
		if bound == lo || bound == "null" {
			continue
		}
		_, moved, err := k.seek(ctx, lo, bound, 0)
		if err != nil {
			return "", false, err
		}
		if moved {
			return bound, true, nil
		}
	}
	return "", false, nil
}

// seek is the key after n rows of [lo, hi).
func (k *keyset) seek(ctx context.Context, lo, hi string, n int64) (string, bool, error) {
	r, err := keyRange(k.target.keys, k.target.cols, k.target.reason, lo, hi)
	if err != nil {
		return "", false, err
	}
	q, err := k.read.KeyBound(r, n)
	if err != nil {
		return "", false, err
	}
	return k.key(ctx, q, len(k.target.keys))
}
