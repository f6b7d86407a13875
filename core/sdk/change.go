package sdk

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/rows"
)

// metadata are the columns that rows of every source begin with.
var metadata = []arrow.Field{
	{Name: plugin.ColumnCaptureInstance, Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: plugin.ColumnStartLSN, Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: plugin.ColumnSeqval, Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: plugin.ColumnOperation, Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	{Name: plugin.ColumnCommandID, Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	{Name: plugin.ColumnCommitTS, Type: &arrow.TimestampType{Unit: arrow.Microsecond}, Nullable: true},
}

// changeBatch is the number of rows of a batch of changes.
const changeBatch = 8192

// ChangeRows is the shape of the rows that a read of a table sends: the
// metadata columns of the contract, then the captured columns that the table's
// rules and the read's projection leave.
type ChangeRows struct {
	// Schema is what Inspect and PlanBatch answer with.
	Schema   *arrow.Schema
	instance string
	full     *arrow.Schema
	kept     []int
}

// NewChangeRows applies a table's column rules and a read's projection (nil =
// all) to its captured columns, each nullable whatever its field says. A rule
// for a column that is not captured is an error that points at it, and so is a
// rule that asks for another type.
// Instance is what _capture_instance holds, in lower case.
func NewChangeRows(captured []arrow.Field, table plugin.SourceTable, columns []string, instance string) (*ChangeRows, error) {
	all := slices.Concat(metadata, captured)
	var names []string
	for i := range all[len(metadata):] {
		f := &all[len(metadata)+i]
		f.Nullable = true
		names = append(names, f.Name)
	}
	dropped := map[string]bool{}
	for _, rule := range table.Columns {
		switch {
		case !slices.Contains(names, rule.Name):
			return nil, ruleError(table, diag.KindConfiguration, fmt.Sprintf("The columns are: %s.", strings.Join(names, ", ")),
				fmt.Sprintf("The table has no column %q", rule.Name), rule.Name)
		case rule.As != "":
			return nil, ruleError(table, diag.KindUnsupported, "Remove the rule.", "This source reads no column as another type", rule.Name, "as")
		}
		dropped[rule.Name] = rule.Drop
	}
	r := &ChangeRows{instance: instance, full: arrow.NewSchema(all, nil)}
	var kept []arrow.Field
	for i, f := range all {
		if i < len(metadata) || !dropped[f.Name] && (columns == nil || slices.Contains(columns, f.Name)) {
			kept, r.kept = append(kept, f), append(r.kept, i)
		}
	}
	r.Schema = arrow.NewSchema(kept, nil)
	return r, nil
}

func ruleError(table plugin.SourceTable, kind diag.Kind, detail, summary string, path ...any) error {
	d := diag.Errorf(kind, "source.column_rule", detail, "%s", summary).At(append([]any{"columns"}, path...)...)
	d.Address = table.Address
	return d.Err()
}

// ChangeWriter builds change rows and sends them in batches. It counts for the
// End frame what the host wants to know: operations, least and greatest
// position. It belongs to one goroutine.
type ChangeWriter struct {
	rows    *ChangeRows
	out     *RowWriter
	builder *array.RecordBuilder
	pending int
}

// Produce runs a producer of rows in a goroutine that the returned reader owns,
// as rows.Produce does: it writes every row of a range, in any order, and
// returns; what waits is sent then.
func (r *ChangeRows) Produce(ctx context.Context, produce func(ctx context.Context, w *ChangeWriter) error) FrameReader {
	return rows.Produce(ctx, r.Schema, func(ctx context.Context, out *RowWriter) error {
		out.End().Operations = map[int32]int64{}
		w := &ChangeWriter{rows: r, out: out, builder: array.NewRecordBuilder(memory.DefaultAllocator, r.full)}
		defer w.builder.Release()
		if err := produce(ctx, w); err != nil {
			return err
		}
		return w.flush()
	})
}

// Row adds one row; operation is one of plugin.OpInsert and its kin. The caller
// appends a value to the builder of every captured column, also of those that
// a rule leaves out: Captured(0) is the first. An error is the consumer's: stop
// and return it.
func (w *ChangeWriter) Row(at plugin.Position, operation int32) error {
	if w.pending == changeBatch {
		if err := w.flush(); err != nil {
			return err
		}
	}
	w.pending++
	b := w.builder
	b.Field(0).(*array.StringBuilder).Append(w.rows.instance)
	b.Field(1).(*array.StringBuilder).Append(at.Text)
	b.Field(2).AppendNull()
	b.Field(3).(*array.Int32Builder).Append(operation)
	b.Field(4).AppendNull()
	if at.HasCommit {
		b.Field(5).(*array.TimestampBuilder).Append(arrow.Timestamp(at.CommitMicros))
	} else {
		b.Field(5).AppendNull()
	}
	end := w.out.End()
	end.Operations[operation]++
	if end.Least.IsZero() || at.Compare(end.Least) < 0 {
		end.Least = at
	}
	if at.Compare(end.Greatest) > 0 {
		end.Greatest = at
	}
	return nil
}

// Captured is the builder of a captured column, counted from 0 in the order in
// which NewChangeRows got them.
func (w *ChangeWriter) Captured(column int) array.Builder {
	return w.builder.Field(len(metadata) + column)
}

func (w *ChangeWriter) flush() error {
	if w.pending == 0 {
		return nil
	}
	w.pending = 0
	full := w.builder.NewRecordBatch()
	defer full.Release()
	columns := make([]arrow.Array, len(w.rows.kept))
	for i, at := range w.rows.kept {
		columns[i] = full.Column(at)
	}
	batch := array.NewRecordBatch(w.rows.Schema, columns, full.NumRows())
	defer batch.Release()
	return w.out.Write(batch)
}
