package sdk_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/rows"
	"github.com/pipectl/pipectl/core/sdk"
)

var changeColumns = []arrow.Field{
	{Name: "id", Type: arrow.PrimitiveTypes.Int64},
	{Name: "note", Type: arrow.BinaryTypes.String},
}

func commitAt(text string) plugin.Position {
	return plugin.At(text, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
}

func fieldNames(s *arrow.Schema) []string {
	var out []string
	for _, f := range s.Fields() {
		out = append(out, f.Name)
	}
	return out
}

func TestChangeRowsFollowColumnRulesAndProjection(t *testing.T) {
	t.Parallel()
	metadata := []string{"_capture_instance", "_start_lsn", "_seqval", "_operation", "_command_id", "_commit_ts"}
	for name, tc := range map[string]struct {
		rules   []plugin.ColumnRule
		columns []string
		want    []string
		path    string
	}{
		"all":                       {want: []string{"id", "note"}},
		"a dropped column":          {rules: []plugin.ColumnRule{{Name: "note", Drop: true}}, want: []string{"id"}},
		"a projection":              {columns: []string{"note"}, want: []string{"note"}},
		"metadata alone":            {columns: []string{}, want: nil},
		"a projection keeps a drop": {rules: []plugin.ColumnRule{{Name: "note", Drop: true}}, columns: []string{"note"}, want: nil},
		"an unknown column":         {rules: []plugin.ColumnRule{{Name: "nota", Drop: true}}, path: "columns.nota"},
		"another type":              {rules: []plugin.ColumnRule{{Name: "note", As: "long"}}, path: "columns.note.as"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := sdk.NewChangeRows(changeColumns, plugin.SourceTable{Columns: tc.rules}, tc.columns, "orders")
			if tc.path != "" {
				if err == nil || diag.FromError(err)[0].Path.String() != tc.path {
					t.Fatalf("error %v, want one at %s", err, tc.path)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := fieldNames(r.Schema); !reflect.DeepEqual(got, append(append([]string{}, metadata...), tc.want...)) {
				t.Errorf("columns %q", got)
			}
			for _, f := range r.Schema.Fields() {
				if !f.Nullable {
					t.Errorf("column %s is not nullable", f.Name)
				}
			}
			if changeColumns[0].Nullable {
				t.Error("the author's fields were changed")
			}
		})
	}
}

func TestChangeWriterSendsEveryRowAndCountsThem(t *testing.T) {
	t.Parallel()
	const n = 20_000 // more than one batch
	r, err := sdk.NewChangeRows(changeColumns, plugin.SourceTable{}, nil, "orders")
	if err != nil {
		t.Fatal(err)
	}
	stream := r.Produce(t.Context(), func(_ context.Context, w *sdk.ChangeWriter) error {
		for i := range int64(n) {
			at, operation := commitAt("b"), plugin.OpInsert
			switch i {
			case 7:
				at, operation = commitAt("a"), plugin.OpDelete
			case 8:
				at = plugin.Position{Text: "c"}
			}
			if err := w.Row(at, operation); err != nil {
				return err
			}
			w.Captured(0).(*array.Int64Builder).Append(i)
			w.Captured(1).AppendNull()
		}
		return nil
	})
	reader, err := rows.NewReader(stream, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	next := int64(0)
	end, err := reader.ForEach(func(b arrow.RecordBatch) error {
		ids, times := b.Column(6).(*array.Int64), b.Column(5)
		for i := range ids.Len() {
			if ids.Value(i) != next {
				t.Fatalf("row %d has id %d", next, ids.Value(i))
			}
			if times.IsNull(i) != (next == 8) {
				t.Errorf("row %d: the commit time is null: %v", next, times.IsNull(i))
			}
			next++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := plugin.End{Batches: end.Batches, Rows: n, Operations: map[int32]int64{plugin.OpInsert: n - 1, plugin.OpDelete: 1},
		Least: commitAt("a"), Greatest: plugin.Position{Text: "c"}}
	if !reflect.DeepEqual(end, want) {
		t.Errorf("end %+v, want %+v", end, want)
	}
	if end.Batches < 2 {
		t.Errorf("%d rows came in %d batch", n, end.Batches)
	}
}

func TestAProducersErrorEndsItsRows(t *testing.T) {
	t.Parallel()
	r, err := sdk.NewChangeRows(changeColumns, plugin.SourceTable{}, nil, "orders")
	if err != nil {
		t.Fatal(err)
	}
	cause := errors.New("purged")
	reader, err := rows.NewReader(r.Produce(t.Context(), func(context.Context, *sdk.ChangeWriter) error { return cause }), memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reader.ForEach(func(arrow.RecordBatch) error { return nil }); !errors.Is(err, cause) {
		t.Errorf("error %v", err)
	}
}

func TestIntReadsWholeNumbersOnly(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		value cty.Value
		want  int64
		fails bool
	}{
		"whole":    {cty.NumberIntVal(-3), -3, false},
		"fraction": {cty.NumberFloatVal(1.5), 0, true},
		"null":     {cty.NullVal(cty.Number), 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, err := sdk.Int(cty.ObjectVal(map[string]cty.Value{"keys": tc.value}), "keys")
			if n != tc.want || (err != nil) != tc.fails {
				t.Fatalf("%d, %v", n, err)
			}
			if err != nil && diag.FromError(err)[0].Path.String() != "keys" {
				t.Errorf("the error points at %s", diag.FromError(err)[0].Path)
			}
		})
	}
}
