package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

func (s *sourceSession) Read(ctx context.Context, req plugin.ReadRequest) (plugin.FrameReader, error) {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	t, err := s.find(req.Table)
	if err != nil {
		return nil, err
	}
	columns, err := readColumns(t, req.Table, req.Columns)
	if err != nil {
		return nil, err
	}
	switch {
	case (req.Range == nil) == (req.Chunk == nil):
		return nil, diag.Errorf(diag.KindInternal, "memory.read", "", "A read names a range or a chunk, and one of them").Err()
	case req.Chunk != nil:
		return s.readChunk(ctx, t, req, columns)
	}
	return s.readRange(ctx, t, req, columns)
}

// readRange sends the changes of a range. The retention guard runs before the
// End frame, as the contract asks: rows that were purged while they were read
// fail the read.
func (s *sourceSession) readRange(ctx context.Context, t *sourceTable, req plugin.ReadRequest, columns []int) (plugin.FrameReader, error) {
	var p piece
	if err := json.Unmarshal(req.Range, &p); err != nil {
		return nil, fmt.Errorf("reading a range of %s: %w", t.name, err)
	}
	if p.From < t.low || p.To > len(s.db.log) {
		return nil, t.lossError(p.Start)
	}
	end := plugin.End{Operations: map[int32]int64{}}
	var out [][]cell
	for n := p.From; n <= p.To; n++ {
		entry := s.db.log[n-1]
		for i, c := range entry.changes {
			if c.table != t.name {
				continue
			}
			out = append(out, t.wide(s.db.position(n), fmt.Sprintf("0x%020X", i+1), int64(i+1), c.operation, c.row, columns))
			end.Operations[c.operation]++
			if end.Least.IsZero() {
				end.Least = s.db.position(n)
			}
			end.Greatest = s.db.position(n)
		}
	}
	end.Metrics = &plugin.ReadMetrics{From: lsn(p.From), To: lsn(p.To), Rows: int64(len(out)), Bytes: int64(len(out)) * 100, Last: p.Last}
	if p.Last {
		to := s.db.position(p.To).CommitMicros
		end.Metrics.ToCommit = &to
		newest := s.db.position(len(s.db.log)).CommitMicros
		end.Metrics.SourceMaxCommit = &newest
		oldest := s.db.position(t.low).CommitMicros
		end.Metrics.RetentionWatermark = &oldest
	}
	return s.send(ctx, t, columns, out, end), nil
}

// readChunk sends the rows of a chunk as they are now.
func (s *sourceSession) readChunk(ctx context.Context, t *sourceTable, req plugin.ReadRequest, columns []int) (plugin.FrameReader, error) {
	in, err := s.within(t, req.Keys, req.Chunk.Lo, req.Chunk.Hi)
	if err != nil {
		return nil, err
	}
	var out [][]cell
	for _, row := range in {
		out = append(out, t.wide(req.Stamp, nil, nil, plugin.OpSnapshot, row, columns))
	}
	end := plugin.End{Operations: map[int32]int64{}, High: s.stamp(t)}
	if len(out) > 0 {
		end.Operations[plugin.OpSnapshot] = int64(len(out))
		end.Least, end.Greatest = req.Stamp, req.Stamp
	}
	end.Metrics = &plugin.ReadMetrics{Rows: int64(len(out)), Bytes: int64(len(out)) * 100}
	return s.send(ctx, t, columns, out, end), nil
}

// wide is a row with its metadata columns.
func (t *sourceTable) wide(at plugin.Position, seqval, command cell, operation int32, row []cell, columns []int) []cell {
	out := []cell{t.instance, at.Text, seqval, int64(operation), command, nil}
	if at.HasCommit {
		out[5] = at.CommitMicros
	}
	for _, c := range columns {
		out = append(out, row[c])
	}
	return out
}

func (s *sourceSession) send(ctx context.Context, t *sourceTable, columns []int, list [][]cell, end plugin.End) plugin.FrameReader {
	schema := rowSchema(t, columns)
	return stream(ctx, schema, allColumns(schema), list, func(e *plugin.End) {
		end.Batches, end.Rows = e.Batches, e.Rows
		*e = end
	})
}

func allColumns(schema *arrow.Schema) []int {
	out := make([]int, schema.NumFields())
	for i := range out {
		out[i] = i
	}
	return out
}

func (s *sourceSession) OpenSnapshot(_ context.Context, req plugin.OpenSnapshotRequest) (plugin.SnapshotInfo, error) {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	t, err := s.find(req.Table)
	if err != nil {
		return plugin.SnapshotInfo{}, err
	}
	columns, err := readColumns(t, req.Table, nil)
	if err != nil {
		return plugin.SnapshotInfo{}, err
	}
	info := plugin.SnapshotInfo{Stamp: s.stamp(t), Keys: t.key, CaptureInstance: t.instance, Schema: rowSchema(t, columns)}
	key, ok := t.intKey(t.key)
	if !ok {
		return info, nil
	}
	info.Extent = `{"kind": "int", "lo": null, "hi": null, "rows": 0}`
	if list := s.db.current(t); len(list) > 0 {
		info.Extent = fmt.Sprintf(`{"kind": "int", "lo": %d, "hi": %d, "rows": %d}`, list[0][key], list[len(list)-1][key], len(list))
	}
	return info, nil
}

// intKey returns the column of a key that is one integer.
func (t *sourceTable) intKey(keys []string) (int, bool) {
	if len(keys) != 1 || len(t.schema.FieldIndices(keys[0])) == 0 {
		return 0, false
	}
	i := t.schema.FieldIndices(keys[0])[0]
	return i, arrow.IsInteger(t.schema.Field(i).Type.ID())
}

// PlanChunks cuts the present rows in key order into chunks that tile the key
// space: the first is open below, the last ends just above the largest key
// (whole snapshots: open above).
func (s *sourceSession) PlanChunks(_ context.Context, req plugin.PlanChunksRequest) ([]plugin.Chunk, error) {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	t, err := s.find(req.Table)
	if err != nil {
		return nil, err
	}
	key, ok := t.intKey(req.Keys)
	if !ok {
		return []plugin.Chunk{{Last: true}}, nil
	}
	list := s.db.current(t)
	size := int64(math.MaxInt64)
	switch {
	case req.Parts > 0:
		size = max((int64(len(list))+int64(req.Parts)-1)/int64(req.Parts), 1)
	case req.ChunkRows > 0:
		size = req.ChunkRows
	}
	var out []plugin.Chunk
	lo := ""
	for at := size; at < int64(len(list)); at += size {
		hi := fmt.Sprint(list[at][key])
		out = append(out, plugin.Chunk{Index: int32(len(out)), Lo: lo, Hi: hi})
		lo = hi
	}
	last := plugin.Chunk{Index: int32(len(out)), Lo: lo, Last: true}
	if req.Parts == 0 && len(list) > 0 {
		last.Hi = fmt.Sprint(list[len(list)-1][key].(int64) + 1)
	}
	return append(out, last), nil
}

// within returns the current rows with lo <= key < hi.
func (s *sourceSession) within(t *sourceTable, keys []string, lo, hi string) ([][]cell, error) {
	if lo == "" && hi == "" {
		return s.db.current(t), nil
	}
	key, ok := t.intKey(keys)
	if !ok {
		return nil, diag.Errorf(diag.KindUnsupported, "memory.bounds", "", "The memory source bounds integer keys only, not %v", keys).Err()
	}
	low, high := int64(math.MinInt64), int64(math.MaxInt64)
	if lo != "" {
		if err := json.Unmarshal([]byte(lo), &low); err != nil {
			return nil, fmt.Errorf("reading the lower bound %q: %w", lo, err)
		}
	}
	if hi != "" {
		if err := json.Unmarshal([]byte(hi), &high); err != nil {
			return nil, fmt.Errorf("reading the upper bound %q: %w", hi, err)
		}
	}
	var out [][]cell
	for _, row := range s.db.current(t) {
		v, isInt := row[key].(int64)
		if (lo == "" || isInt && v >= low) && (hi == "" || !isInt || v < high) {
			out = append(out, row)
		}
	}
	return out, nil
}

func (s *sourceSession) Aggregate(ctx context.Context, req plugin.AggregateRequest) (plugin.FrameReader, error) {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	t, err := s.find(req.Table)
	if err != nil {
		return nil, err
	}
	in, err := s.within(t, req.Keys, req.Lo, req.Hi)
	if err != nil {
		return nil, err
	}
	if req.Kind == plugin.AggregateCount {
		schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
		return stream(ctx, schema, allColumns(schema), [][]cell{{int64(len(in))}}, nil), nil
	}
	key, ok := t.intKey(req.Keys)
	if !ok {
		return nil, diag.Errorf(diag.KindUnsupported, "memory.aggregate", "", "The memory source aggregates over integer keys only").Err()
	}
	switch req.Kind {
	case plugin.AggregateBounds:
		schema := arrow.NewSchema([]arrow.Field{{Name: "lo", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "hi", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
		return stream(ctx, schema, allColumns(schema), [][]cell{bounds(in, key)}, nil), nil
	case plugin.AggregateBuckets:
		return buckets(ctx, in, key, req.Width)
	case plugin.AggregateTiles:
		return tiles(ctx, in, key, req.Tiles)
	}
	return nil, diag.Errorf(diag.KindUnsupported, "memory.aggregate", "", "There is no aggregate %q", req.Kind).Err()
}

// bounds are the smallest and the greatest key as JSON; NULL counts as none.
func bounds(in [][]cell, key int) []cell {
	var keys []int64
	for _, row := range in {
		if v, ok := row[key].(int64); ok {
			keys = append(keys, v)
		}
	}
	if len(keys) == 0 {
		return []cell{nil, nil}
	}
	return []cell{fmt.Sprint(slices.Min(keys)), fmt.Sprint(slices.Max(keys))}
}

// buckets counts and sums keys per bucket of a width; a key that is NULL is in
// none.
func buckets(ctx context.Context, in [][]cell, key int, width int64) (plugin.FrameReader, error) {
	if width < 1 {
		return nil, diag.Errorf(diag.KindInternal, "memory.width", "", "A bucket is %d wide", width).Err()
	}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "bucket", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "sum", Type: &arrow.Decimal128Type{Precision: 38}, Nullable: true},
	}, nil)
	var out [][]cell
	for _, row := range in { // in key order, so buckets come in order
		v, ok := row[key].(int64)
		if !ok {
			continue
		}
		bucket := v / width
		if v%width < 0 {
			bucket--
		}
		if len(out) == 0 || out[len(out)-1][0] != bucket {
			out = append(out, []cell{bucket, int64(0), decimal128.Num{}})
		}
		last := out[len(out)-1]
		last[1] = last[1].(int64) + 1
		last[2] = last[2].(decimal128.Num).Add(decimal128.FromBigInt(big.NewInt(v)))
	}
	return stream(ctx, schema, allColumns(schema), out, nil), nil
}

// tiles cuts the rows in key order into n tiles as NTILE does: the first ones
// are larger by one when the rows do not divide.
func tiles(ctx context.Context, in [][]cell, key int, n int) (plugin.FrameReader, error) {
	if n < 1 {
		return nil, diag.Errorf(diag.KindInternal, "memory.tiles", "", "A table has no %d tiles", n).Err()
	}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "lo", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
	}, nil)
	var out [][]cell
	at := 0
	for i := range n {
		size := len(in) / n
		if i < len(in)%n {
			size++
		}
		if size > 0 {
			out = append(out, []cell{fmt.Sprint(in[at][key]), int64(size)})
		}
		at += size
	}
	return stream(ctx, schema, allColumns(schema), out, nil), nil
}
