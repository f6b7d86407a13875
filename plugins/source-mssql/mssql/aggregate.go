package mssql

import (
	"context"
	"database/sql/driver"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/rows"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
)

var (
	boundsSchema = arrow.NewSchema([]arrow.Field{
		{Name: "lo", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "hi", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	countSchema = arrow.NewSchema([]arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
	bucketsSchema = arrow.NewSchema([]arrow.Field{
		{Name: "bucket", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "sum", Type: &arrow.Decimal128Type{Precision: maxDigits}, Nullable: true}}, nil)
	tilesSchema = arrow.NewSchema([]arrow.Field{
		{Name: "lo", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
)

// Aggregate counts rows of the source table itself, under READ COMMITTED and
// the source's lock timeout.
func (s *session) Aggregate(ctx context.Context, req plugin.AggregateRequest) (plugin.FrameReader, error) {
	cfg, st, err := s.parse(req.Table)
	if err != nil {
		return nil, err
	}
	a := &aggregate{session: s, cfg: cfg, state: st, req: req}
	schema := map[plugin.AggregateKind]*arrow.Schema{
		plugin.AggregateBounds: boundsSchema, plugin.AggregateCount: countSchema, plugin.AggregateBuckets: bucketsSchema, plugin.AggregateTiles: tilesSchema,
	}[req.Kind]
	if schema == nil {
		return nil, diag.Errorf(diag.KindUnsupported, codeUnsupported, "A newer version of this plugin may have it.", "There is no aggregate %q", string(req.Kind)).Err()
	}
	return rows.Produce(ctx, schema, func(ctx context.Context, w *rows.Writer) error {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		defer b.Release()
		err := s.sourceCall(ctx, "aggregate "+string(req.Kind), cfg, func(c *conn) error {
			b.NewRecordBatch().Release() // what a failed try left
			return a.run(ctx, c, b)
		})
		if err != nil {
			return err
		}
		batch := b.NewRecordBatch()
		defer batch.Release()
		return w.Write(batch)
	}), nil
}

// aggregate is one call. Its result is small: at most one row per bucket or
// tile.
type aggregate struct {
	*session
	cfg   tableConfig
	state *tableState
	req   plugin.AggregateRequest
}

func (a *aggregate) run(ctx context.Context, c *conn, b *array.RecordBuilder) error {
	// What a replica lacks would be rows that silver has and the source does not.
	// A position that is no commit's may lie ahead of capture.
	if a.req.At.HasCommit {
		at, err := parsePosition(a.req.At, "the position to count at")
		if err != nil {
			return err
		}
		if err := a.caughtUp(ctx, c, at, false); err != nil {
			return err
		}
	}
	t, err := a.target(ctx, c, a.cfg, a.state, a.req.Keys)
	if err != nil {
		return err
	}
	read := tsql.TableRead{Table: t.table, Locking: tsql.Locking{TimeoutMillis: a.config.locking.TimeoutMillis}}
	if a.req.Kind != plugin.AggregateCount && t.cols == nil {
		return diag.Errorf(diag.KindConfiguration, codeKey, "Choose other columns with snapshot_keys.", "The key of %s cannot be cut: %s", a.cfg.label(), t.reason).At(argSnapshotKeys).Err()
	}
	r, err := keyRange(t.keys, t.cols, t.reason, a.req.Lo, a.req.Hi)
	if err != nil {
		return err
	}
	switch a.req.Kind {
	case plugin.AggregateBounds:
		return a.bounds(ctx, c, read, t, b)
	case plugin.AggregateCount:
		return a.count(ctx, c, read, r, b)
	case plugin.AggregateBuckets:
		return a.buckets(ctx, c, read, t, r, b)
	}
	return a.tiles(ctx, c, read, t, b)
}

func (a *aggregate) bounds(ctx context.Context, c *conn, read tsql.TableRead, t target, b *array.RecordBuilder) error {
	for i, first := range []bool{true, false} {
		key, ok, err := a.endKey(ctx, c, read, t, first)
		if err != nil {
			return err
		}
		if !ok {
			b.Field(i).AppendNull()
			continue
		}
		b.Field(i).(*array.StringBuilder).Append(key)
	}
	return nil
}

func (a *aggregate) count(ctx context.Context, c *conn, read tsql.TableRead, r tsql.Range, b *array.RecordBuilder) error {
	q, err := read.Count(r)
	if err != nil {
		return err
	}
	row, ok, err := c.one(ctx, q)
	if err == nil && !ok {
		err = fmt.Errorf("%s: the server answered no row", q.Name)
	}
	b.Field(0).(*array.Int64Builder).Append(row.integer("n"))
	return err
}

func (a *aggregate) buckets(ctx context.Context, c *conn, read tsql.TableRead, t target, r tsql.Range, b *array.RecordBuilder) error {
	typ := t.keyType()
	if len(t.cols) != 1 || !typ.isInteger() && typ.name != "date" {
		return diag.Errorf(diag.KindUnsupported, codeKey, "Buckets need one key column of an integer type or date; use tiles.", "%s has no key that can be counted in buckets", a.cfg.label()).Err()
	}
	q, err := read.Buckets(t.cols[0].Name, typ.name == "date", a.req.Width, r)
	if err != nil {
		return diag.Errorf(diag.KindInternal, codeKey, "", "%s", err).Err()
	}
	bucket, n, sum := b.Field(0).(*array.Int64Builder), b.Field(1).(*array.Int64Builder), b.Field(2).(*array.Decimal128Builder)
	return c.each(ctx, q, func(row record) error {
		total, err := parseDecimal(row.text("total"), maxDigits, 0)
		if err != nil {
			return fmt.Errorf("%s: %w", q.Name, err)
		}
		bucket.Append(row.integer("bucket"))
		n.Append(row.integer("n"))
		sum.Append(total)
		return nil
	})
}

func (a *aggregate) tiles(ctx context.Context, c *conn, read tsql.TableRead, t target, b *array.RecordBuilder) error {
	names := make([]string, len(t.cols))
	for i, k := range t.cols {
		names[i] = k.Name
	}
	q, err := read.Tiles(names, a.req.Tiles)
	if err != nil {
		return diag.Errorf(diag.KindInternal, codeKey, "", "%s", err).Err()
	}
	lo, n := b.Field(0).(*array.StringBuilder), b.Field(1).(*array.Int64Builder)
	tile, start, last, begun := int64(0), int64(0), int64(0), ""
	err = c.keys(ctx, q, len(names), func(key string, rest []driver.Value) error {
		row, _ := rest[0].(int64)
		number, _ := rest[1].(int64)
		last = row
		if number == tile {
			return nil // the last row, in the tile that has begun
		}
		if tile > 0 {
			// One value fills several tiles, or the bound is not what the server
			// holds and would lie elsewhere in its order: the tile before goes on.
			if key == begun || key == "null" || !readsBack(key) {
				tile = number
				return nil
			}
			n.Append(row - start)
		}
		if !readsBack(key) {
			key = "null" // the first, which has none before: it is open
		}
		lo.Append(key)
		tile, start, begun = number, row, key
		return nil
	})
	if err == nil && tile > 0 {
		n.Append(last - start + 1)
	}
	return err
}
