package mssql

import (
	"context"
	"math"
	"math/big"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
)

// An integer key is counted in slices, so many for each chunk, so many at
// most in one query; a slice with more rows than a chunk is counted again.
const (
	slicesPerChunk = 16
	maxSlices      = 100_000
)

// slice is a piece of an integer key that begins at from and has rows.
type slice struct {
	from *big.Int
	rows int64
}

// rowChunks cuts the key space up to the extent's greatest key into chunks of
// about rows rows. A value never splits over chunks.
func (s *session) rowChunks(ctx context.Context, c *conn, t target, lock tsql.Locking, e extent, rows int64) ([]plugin.Chunk, error) {
	read := tsql.TableRead{Table: t.table, Locking: lock}
	if e.Kind == extentInt {
		p := &integerPlan{conn: c, read: read, target: t, rows: rows}
		end := new(big.Int).Add(big.NewInt(*e.Hi), big.NewInt(1))
		estimate := int64(0)
		if e.Rows != nil {
			estimate = *e.Rows
		}
		if err := p.cut(ctx, nil, end, *e.Lo, *e.Hi, estimate); err != nil {
			return nil, err
		}
		out := chunksAt(pack(p.slices, rows))
		out[len(out)-1].Hi = end.String()
		return out, nil
	}
	k := &keyset{conn: c, read: read, target: t}
	return k.chunks(ctx, string(e.Max), rows)
}

// integerPlan counts the rows of an integer key.
type integerPlan struct {
	*conn
	read   tsql.TableRead
	target target
	rows   int64
	slices []slice
}

// width is how wide slices over lo..hi are for an estimate of rows.
func (p *integerPlan) width(lo, hi, estimate int64) *big.Int {
	n := new(big.Int).Mul(big.NewInt(slicesPerChunk), big.NewInt(max(0, estimate)))
	n = ceilDiv(n, big.NewInt(p.rows))
	if n.Cmp(big.NewInt(1)) < 0 {
		n.SetInt64(1)
	}
	if n.Cmp(big.NewInt(maxSlices)) > 0 {
		n.SetInt64(maxSlices)
	}
	span := new(big.Int).Sub(big.NewInt(hi), big.NewInt(lo))
	w := ceilDiv(span.Add(span, big.NewInt(1)), n)
	if w.Cmp(big.NewInt(math.MaxInt64)) > 0 {
		w.SetInt64(math.MaxInt64) // all of bigint in one slice
	}
	return w
}

func ceilDiv(a, b *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(a, b, new(big.Int))
	if r.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q
}

// cut counts the keys of [from, to), whose smallest and greatest are lo and
// hi, and adds their slices in order. from is nil for an open end.
func (p *integerPlan) cut(ctx context.Context, from, to *big.Int, lo, hi, estimate int64) error {
	w := p.width(lo, hi, estimate)
	key := p.target.cols[0].Name
	r := tsql.Range{Keys: []tsql.KeyColumn{{Name: key}}, Hi: tsql.Bound{{Text: to.String()}}}
	if from != nil {
		r.Lo = tsql.Bound{{Text: from.String()}}
	}
	q, err := p.read.Buckets(key, false, w.Int64(), r)
	if err != nil {
		return err
	}
	type count struct{ bucket, rows int64 }
	var counts []count
	if err := p.each(ctx, q, func(row record) error {
		counts = append(counts, count{row.integer("bucket"), row.integer("n")})
		return nil
	}); err != nil {
		return err
	}
	for _, k := range counts {
		x := new(big.Int).Mul(big.NewInt(k.bucket), w)
		y := new(big.Int).Add(x, w)
		if from != nil && x.Cmp(from) < 0 {
			x.Set(from)
		}
		if y.Cmp(to) > 0 {
			y.Set(to)
		}
		if k.rows > p.rows && w.Cmp(big.NewInt(1)) > 0 {
			least, greatest, ok, err := p.bounds(ctx, x, y)
			if err != nil {
				return err
			}
			if ok {
				if err := p.cut(ctx, x, y, least, greatest, k.rows); err != nil {
					return err
				}
				continue
			}
		}
		p.slices = append(p.slices, slice{x, k.rows})
	}
	return nil
}

// bounds are the smallest and greatest key of [x, y); ok is false without one.
func (p *integerPlan) bounds(ctx context.Context, x, y *big.Int) (lo, hi int64, ok bool, err error) {
	key := p.target.cols[0].Name
	q, err := p.read.Bounds(key, tsql.Range{Keys: []tsql.KeyColumn{{Name: key}}, Lo: tsql.Bound{{Text: x.String()}}, Hi: tsql.Bound{{Text: y.String()}}})
	if err != nil {
		return 0, 0, false, err
	}
	r, found, err := p.one(ctx, q)
	if err != nil || !found || r.null("lo") {
		return 0, 0, false, err
	}
	return r.integer("lo"), r.integer("hi"), true, nil
}

// pack joins neighbouring slices into chunks of at most rows rows, and returns
// the bounds between chunks. No chunk begins with an empty slice.
func pack(slices []slice, rows int64) []string {
	var bounds []string
	n := int64(0)
	for _, s := range slices {
		if n > 0 && n+s.rows > rows {
			bounds = append(bounds, s.from.String())
			n = 0
		}
		n += s.rows
	}
	return bounds
}
