package memory_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	arrowmemory "github.com/apache/arrow-go/v18/arrow/memory"
	"go.uber.org/goleak"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/plugin/rows"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func field(name string, t arrow.DataType) arrow.Field {
	return arrow.Field{Name: name, Type: t, Nullable: true}
}

var targetSchema = arrow.NewSchema([]arrow.Field{
	field("k", arrow.BinaryTypes.String), field("g", arrow.PrimitiveTypes.Int64), field("v", arrow.BinaryTypes.String), field("w", arrow.BinaryTypes.String),
}, nil)

// record builds a batch of text and int columns from rows of Go values; nil is NULL.
func record(t *testing.T, schema *arrow.Schema, list ...[]any) plugin.FrameReader {
	t.Helper()
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	for _, row := range list {
		for i, v := range row {
			switch v := v.(type) {
			case nil:
				b.Field(i).AppendNull()
			case int:
				b.Field(i).(*array.Int64Builder).Append(int64(v))
			case string:
				b.Field(i).(*array.StringBuilder).Append(v)
			}
		}
	}
	return rows.FromBatches(schema, b.NewRecordBatch())
}

func create(t *testing.T, tables plugin.Tables, name string, schema *arrow.Schema) {
	t.Helper()
	if _, err := tables.ApplyTable(context.Background(), plugin.ApplyTableRequest{Spec: plugin.TableSpec{Table: plugin.TableRef{Name: name}, Schema: schema}}); err != nil {
		t.Fatal(err)
	}
}

// write carries out one write of one part.
func write(t *testing.T, tables plugin.Tables, req plugin.BeginWriteRequest, frames plugin.FrameReader) (plugin.CommitResult, error) {
	t.Helper()
	ctx := context.Background()
	begun, err := tables.BeginWrite(ctx, req)
	if err != nil || begun.Already {
		return plugin.CommitResult{Outcome: plugin.Already, Version: begun.Version}, err
	}
	part, err := tables.WritePart(ctx, plugin.WritePartRequest{WriteID: begun.WriteID}, frames)
	if err != nil {
		return plugin.CommitResult{}, err
	}
	return tables.Commit(ctx, plugin.CommitRequest{WriteID: begun.WriteID, Tokens: []string{part.Token}, UserMetadata: "m"})
}

func TestMerge(t *testing.T) {
	t.Parallel()
	source := arrow.NewSchema([]arrow.Field{
		field("k", arrow.BinaryTypes.String), field("g", arrow.PrimitiveTypes.Int64), field("v", arrow.BinaryTypes.String), field("a", arrow.BinaryTypes.String),
	}, nil)
	announced := arrow.NewSchema(source.Fields()[:3], nil)
	row := func(k, g, v, w any) map[string]any { return map[string]any{"k": k, "g": g, "v": v, "w": w} }
	for name, tc := range map[string]struct {
		merge  plugin.Merge
		source []any
		want   []map[string]any
		result plugin.CommitResult
	}{
		"U updates a match above the guard and keeps columns it lacks": {
			plugin.Merge{Keys: []string{"k"}, Guard: "g", Action: "a"}, []any{"x", 2, "new", "U"},
			[]map[string]any{row("x", int64(2), "new", "w1"), row(nil, nil, "null", "w2")}, plugin.CommitResult{Updated: 1},
		},
		"a guard that is not greater changes nothing": {
			plugin.Merge{Keys: []string{"k"}, Guard: "g", Action: "a"}, []any{"x", 1, "new", "U"},
			[]map[string]any{row("x", int64(1), "old", "w1"), row(nil, nil, "null", "w2")}, plugin.CommitResult{Outcome: plugin.Nothing},
		},
		"NULL is the lowest guard": {
			plugin.Merge{Keys: []string{"k"}, Guard: "g", Action: "a"}, []any{nil, 0, "new", "U"},
			[]map[string]any{row("x", int64(1), "old", "w1"), row(nil, int64(0), "new", "w2")}, plugin.CommitResult{Updated: 1},
		},
		"NULL keys are equal and NULL is not above NULL": {
			plugin.Merge{Keys: []string{"k"}, Guard: "g", Action: "a"}, []any{nil, nil, "new", "U"},
			[]map[string]any{row("x", int64(1), "old", "w1"), row(nil, nil, "null", "w2")}, plugin.CommitResult{Outcome: plugin.Nothing},
		},
		"D deletes a match": {
			plugin.Merge{Keys: []string{"k"}, Guard: "g", Action: "a"}, []any{"x", 2, nil, "D"},
			[]map[string]any{row(nil, nil, "null", "w2")}, plugin.CommitResult{Deleted: 1},
		},
		"D without a match is dropped": {
			plugin.Merge{Keys: []string{"k"}, Guard: "g", Action: "a"}, []any{"y", 2, nil, "D"},
			[]map[string]any{row("x", int64(1), "old", "w1"), row(nil, nil, "null", "w2")}, plugin.CommitResult{Outcome: plugin.Nothing},
		},
		"U without a match inserts, absent columns NULL": {
			plugin.Merge{Keys: []string{"k"}, Guard: "g", Action: "a"}, []any{"y", 2, "new", "U"},
			[]map[string]any{row("x", int64(1), "old", "w1"), row(nil, nil, "null", "w2"), row("y", int64(2), "new", nil)}, plugin.CommitResult{Inserted: 1},
		},
		"update columns name what U sets": {
			plugin.Merge{Keys: []string{"k"}, Action: "a", UpdateColumns: []string{"v"}}, []any{"x", 0, "new", "U"},
			[]map[string]any{row("x", int64(1), "new", "w1"), row(nil, nil, "null", "w2")}, plugin.CommitResult{Updated: 1},
		},
		"delete absent deletes what is in no part": {
			plugin.Merge{Keys: []string{"k"}, Guard: "g", Action: "a", DeleteAbsent: true}, []any{"x", 1, "same", "U"},
			[]map[string]any{row("x", int64(1), "old", "w1")}, plugin.CommitResult{Deleted: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lake := memory.NewLake()
			tables := lake.Open()
			create(t, tables, "silver.t", targetSchema)
			ref := plugin.TableRef{Name: "silver.t"}
			if _, err := write(t, tables, plugin.BeginWriteRequest{Table: ref, Mode: plugin.WriteAppend, Schema: targetSchema, BaseVersion: -1},
				record(t, targetSchema, []any{"x", 1, "old", "w1"}, []any{nil, nil, "null", "w2"})); err != nil {
				t.Fatal(err)
			}
			got, err := write(t, tables, plugin.BeginWriteRequest{Table: ref, Mode: plugin.WriteMerge, Schema: announced, BaseVersion: -1, Merge: &tc.merge}, record(t, source, tc.source))
			if err != nil {
				t.Fatal(err)
			}
			want := tc.result
			want.Version = 2
			if want.Outcome == "" {
				want.Outcome = plugin.Committed
			} else {
				want.Version = 1
			}
			if got != want {
				t.Errorf("result %+v, want %+v", got, want)
			}
			if have := lake.Rows("silver.t"); !reflect.DeepEqual(have, tc.want) {
				t.Errorf("rows %v, want %v", have, tc.want)
			}
		})
	}
	t.Run("two source rows of one key are an error", func(t *testing.T) {
		t.Parallel()
		tables := memory.NewLake().Open()
		create(t, tables, "silver.t", targetSchema)
		_, err := write(t, tables, plugin.BeginWriteRequest{Table: plugin.TableRef{Name: "silver.t"}, Mode: plugin.WriteMerge, Schema: announced, BaseVersion: -1,
			Merge: &plugin.Merge{Keys: []string{"k"}, Action: "a"}}, record(t, source, []any{"x", 1, "a", "U"}, []any{"x", 2, "b", "D"}))
		if !diag.Is(err, diag.KindInternal) {
			t.Fatalf("error %v", err)
		}
	})
}

func TestAWriteIsRepeatable(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	lake := memory.NewLake()
	tables := lake.Open()
	create(t, tables, "b", targetSchema)
	req := plugin.BeginWriteRequest{Table: plugin.TableRef{Name: "b"}, Mode: plugin.WriteAppend, Schema: targetSchema, BaseVersion: -1, Txns: []plugin.Txn{{AppID: "s", Version: 0}}}
	rival, err := lake.Open().BeginWrite(ctx, req)
	if err != nil || rival.Already {
		t.Fatalf("%+v, %v", rival, err)
	}
	begun, err := tables.BeginWrite(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	one, err := tables.WritePart(ctx, plugin.WritePartRequest{WriteID: begun.WriteID, Part: 0}, record(t, targetSchema, []any{"x", 1, "dead", nil}))
	if err != nil {
		t.Fatal(err)
	}
	two, err := tables.WritePart(ctx, plugin.WritePartRequest{WriteID: begun.WriteID, Part: 0, Attempt: 1}, record(t, targetSchema, []any{"x", 1, "alive", nil}))
	if err != nil || one.Token == two.Token {
		t.Fatalf("tokens %q and %q, %v", one.Token, two.Token, err)
	}
	commit := plugin.CommitRequest{WriteID: begun.WriteID, Tokens: []string{two.Token}, UserMetadata: `{"a": 1}`}
	first, err := tables.Commit(ctx, commit)
	if err != nil || first.Outcome != plugin.Committed {
		t.Fatalf("%+v, %v", first, err)
	}
	if again, err := tables.Commit(ctx, commit); err != nil || again != first {
		t.Fatalf("repeated commit answers %+v, %v; first %+v", again, err, first)
	}
	if got := lake.Rows("b"); len(got) != 1 || got[0]["v"] != "alive" {
		t.Fatalf("rows of a dead attempt arrived: %v", got)
	}
	if later, err := tables.BeginWrite(ctx, req); err != nil || !later.Already {
		t.Fatalf("%+v, %v", later, err)
	}
	states, err := tables.GetTables(ctx, plugin.GetTablesRequest{Tables: []plugin.TableRef{{Name: "b"}}, AppIDs: []string{"s", "other"}})
	if err != nil || !reflect.DeepEqual(states[0].Txns, map[string]int64{"s": 0}) {
		t.Fatalf("%+v, %v", states, err)
	}
	if h := lake.History("b"); h[1].UserMetadata != `{"a": 1}` || !h[1].DataChange || h[0].DataChange {
		t.Fatalf("history %+v", h)
	}
}

func TestABaseVersionConflictsWithData(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	lake := memory.NewLake()
	tables := lake.Open()
	create(t, tables, "b", targetSchema)
	req := plugin.BeginWriteRequest{Table: plugin.TableRef{Name: "b"}, Mode: plugin.WriteAppend, Schema: targetSchema, BaseVersion: 0}
	// A commit that changes metadata only is no conflict.
	if _, err := tables.ApplyTable(ctx, plugin.ApplyTableRequest{Spec: plugin.TableSpec{Table: req.Table, Schema: targetSchema, Description: "d"}}); err != nil {
		t.Fatal(err)
	}
	late, err := tables.BeginWrite(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := write(t, tables, req, record(t, targetSchema, []any{"x", 1, "v", nil})); err != nil {
		t.Fatal(err)
	}
	part, err := tables.WritePart(ctx, plugin.WritePartRequest{WriteID: late.WriteID}, record(t, targetSchema, []any{"y", 1, "v", nil}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tables.Commit(ctx, plugin.CommitRequest{WriteID: late.WriteID, Tokens: []string{part.Token}}); !diag.Is(err, diag.KindConflict) {
		t.Fatalf("commit: %v", err)
	}
	if _, err := tables.BeginWrite(ctx, req); !diag.Is(err, diag.KindConflict) {
		t.Fatalf("begin: %v", err)
	}
}

func TestConvergingAddsAndNeverRetypes(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	lake := memory.NewLake()
	tables := lake.Open()
	narrow := arrow.NewSchema(targetSchema.Fields()[:2], nil)
	create(t, tables, "b", narrow)
	if _, err := write(t, tables, plugin.BeginWriteRequest{Table: plugin.TableRef{Name: "b"}, Mode: plugin.WriteAppend, Schema: narrow, BaseVersion: -1}, record(t, narrow, []any{"x", 1})); err != nil {
		t.Fatal(err)
	}
	spec := plugin.TableSpec{Table: plugin.TableRef{Name: "b"}, Schema: targetSchema, Properties: map[string]string{"p.a": "1", "q": "2"}, Converge: []string{"p."}}
	plan, err := tables.PlanTable(ctx, spec)
	if err != nil || !reflect.DeepEqual(plan.Changes, []string{"add column v utf8", "add column w utf8", "set property p.a = 1"}) {
		t.Fatalf("%+v, %v", plan, err)
	}
	if _, err := tables.ApplyTable(ctx, plugin.ApplyTableRequest{Spec: spec, RequireID: "-"}); !diag.Is(err, diag.KindStale) {
		t.Fatalf("error %v", err)
	}
	done, err := tables.ApplyTable(ctx, plugin.ApplyTableRequest{Spec: spec, RequireID: plan.ID})
	if err != nil || done.Version != 2 || done.Action != plugin.TableAlter {
		t.Fatalf("%+v, %v", done, err)
	}
	if again, err := tables.ApplyTable(ctx, plugin.ApplyTableRequest{Spec: spec}); err != nil || again.Action != plugin.TableNone || again.Version != 2 {
		t.Fatalf("%+v, %v", again, err)
	}
	if got := lake.Rows("b"); !reflect.DeepEqual(got, []map[string]any{{"k": "x", "g": int64(1), "v": nil, "w": nil}}) {
		t.Fatalf("rows %v", got)
	}
	retyped := arrow.NewSchema([]arrow.Field{field("k", arrow.PrimitiveTypes.Int64)}, nil)
	if _, err := tables.PlanTable(ctx, plugin.TableSpec{Table: spec.Table, Schema: retyped}); !diag.Is(err, diag.KindSchemaChanged) {
		t.Fatalf("error %v", err)
	}
}

func TestObjects(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	tables := memory.NewLake().Open()
	for _, key := range []string{"a/2", "a/1", "b"} {
		if err := tables.PutObject(ctx, plugin.Object{Key: key, Data: []byte(key)}, true); err != nil {
			t.Fatal(err)
		}
	}
	if err := tables.PutObject(ctx, plugin.Object{Key: "b"}, true); !diag.Is(err, diag.KindConflict) {
		t.Fatalf("error %v", err)
	}
	if keys, err := tables.ListObjects(ctx, "a/", "a/1"); err != nil || !reflect.DeepEqual(keys, []string{"a/2"}) {
		t.Fatalf("%v, %v", keys, err)
	}
	if err := tables.DeleteObject(ctx, "b"); err != nil {
		t.Fatal(err)
	}
	if _, found, err := tables.GetObject(ctx, "b"); err != nil || found {
		t.Fatalf("found %v, %v", found, err)
	}
}
