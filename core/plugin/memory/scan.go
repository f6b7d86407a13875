package memory

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/rows"
)

// batchRows is small, so that tests see streams of several batches.
const batchRows = 64

func (s *session) Scan(ctx context.Context, req plugin.ScanRequest) (plugin.FrameReader, error) {
	s.lake.mu.Lock()
	defer s.lake.mu.Unlock()
	t, err := s.lake.existing(req.Table.Name)
	if err != nil {
		return nil, err
	}
	v := t.newest()
	if req.Version >= 0 {
		if req.Version >= int64(len(t.versions)) {
			return nil, diag.Errorf(diag.KindStale, "memory.version_absent", "", "Table %q has no version %d", req.Table.Name, req.Version).Err()
		}
		v = t.versions[req.Version]
	}
	columns, schema, err := project(v.schema, req.Columns)
	if err != nil {
		return nil, fmt.Errorf("scanning table %q: %w", req.Table.Name, err)
	}
	var selected [][]cell
	for _, row := range v.rows {
		if matches(req.Filter, v.schema, row) {
			selected = append(selected, row)
		}
	}
	return stream(ctx, schema, columns, selected, nil), nil
}

// project chooses columns by name, all when names is nil.
func project(schema *arrow.Schema, names []string) ([]int, *arrow.Schema, error) {
	var columns []int
	var fields []arrow.Field
	for i, f := range schema.Fields() {
		if names == nil {
			columns, fields = append(columns, i), append(fields, f)
		}
	}
	for _, name := range names {
		index := schema.FieldIndices(name)
		if len(index) == 0 {
			return nil, nil, diag.Errorf(diag.KindInternal, "memory.column_absent", "", "There is no column %q", name).Err()
		}
		columns, fields = append(columns, index[0]), append(fields, schema.Field(index[0]))
	}
	return columns, arrow.NewSchema(fields, nil), nil
}

// stream sends rows, projected to columns, as frames; end fills the End frame.
func stream(ctx context.Context, schema *arrow.Schema, columns []int, list [][]cell, end func(*plugin.End)) plugin.FrameReader {
	return rows.Produce(ctx, schema, func(_ context.Context, w *rows.Writer) error {
		for piece := range slices.Chunk(list, batchRows) {
			batch, err := batchOf(schema, columns, piece)
			if err != nil {
				return err
			}
			err = w.Write(batch)
			batch.Release()
			if err != nil {
				return err
			}
		}
		if end != nil {
			end(w.End())
		}
		return nil
	})
}

func batchOf(schema *arrow.Schema, columns []int, list [][]cell) (arrow.RecordBatch, error) {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for _, row := range list {
		for i, c := range columns {
			if err := appendCell(b.Field(i), row[c]); err != nil {
				return nil, fmt.Errorf("column %q: %w", schema.Field(i).Name, err)
			}
		}
	}
	return b.NewRecordBatch(), nil
}

// cellsOf copies the rows of a batch.
func cellsOf(batch arrow.RecordBatch) [][]cell {
	out := make([][]cell, batch.NumRows())
	for i := range out {
		out[i] = make([]cell, batch.NumCols())
	}
	for c, column := range batch.Columns() {
		for i := range out {
			out[i][c] = cellAt(column, i)
		}
	}
	return out
}
