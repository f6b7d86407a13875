package delta_test

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/rows"
	"github.com/pipectl/pipectl/plugins/sink-delta/delta"
	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

var (
	orders      = plugin.TableRef{Name: "silver.orders"}
	orderSchema = arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, {Name: "note", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
)

// merge brings one row into the table that it pins first, as a silver does, and
// reads the table then.
func merge(t *testing.T, tables plugin.Tables) error {
	t.Helper()
	ctx := t.Context()
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(append(orderSchema.Fields(), arrow.Field{Name: "do", Type: arrow.BinaryTypes.String, Nullable: true}), nil))
	defer b.Release()
	b.Field(0).(*array.Int32Builder).Append(1)
	b.Field(1).(*array.StringBuilder).Append("a")
	b.Field(2).(*array.StringBuilder).Append("U")
	batch := b.NewRecordBatch()
	defer batch.Release()

	states, err := tables.GetTables(ctx, plugin.GetTablesRequest{Tables: []plugin.TableRef{orders}})
	if err != nil || !states[0].Exists {
		return err
	}
	spec := plugin.TableSpec{Table: orders, Schema: orderSchema, Layout: plugin.LayoutMerge}
	if _, err := tables.ApplyTable(ctx, plugin.ApplyTableRequest{Spec: spec, RequireID: states[0].ID}); err != nil {
		return err
	}
	w, err := tables.BeginWrite(ctx, plugin.BeginWriteRequest{
		Table: orders, Mode: plugin.WriteMerge, Schema: orderSchema, RequireID: states[0].ID, BaseVersion: states[0].Version,
		Merge: &plugin.Merge{Keys: []string{"id"}, Action: "do"},
	})
	if err != nil {
		return err
	}
	defer tables.Abort(context.Background(), w.WriteID)
	part, err := tables.WritePart(ctx, plugin.WritePartRequest{WriteID: w.WriteID}, rows.FromBatches(batch.Schema(), batch))
	if err != nil {
		return err
	}
	if _, err := tables.Commit(ctx, plugin.CommitRequest{WriteID: w.WriteID, Tokens: []string{part.Token}}); err != nil {
		return err
	}
	frames, err := tables.Scan(ctx, plugin.ScanRequest{Table: orders, Version: -1})
	if err != nil {
		return err
	}
	reader, err := rows.NewReader(frames, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	_, err = reader.ForEach(func(arrow.RecordBatch) error { return nil })
	return err
}

// A table may be taken away between any two calls of the store. Whoever uses it
// hears that it is gone, not which of its files was missed first.
func TestATableThatIsTakenAwayInTheMiddle(t *testing.T) {
	t.Parallel()
	told := map[string]int{}
	for nth := 1; ; nth++ {
		root := t.TempDir()
		var before func(store.Call)
		p := delta.NewOver("test", store.Schemes{"file": func(_ context.Context, u *url.URL) (store.Store, error) {
			local, err := store.NewLocal(filepath.FromSlash(u.Path))
			faulty := store.NewFaulty(local)
			faulty.Before(func(c store.Call) {
				if before != nil {
					before(c)
				}
			})
			return faulty, err
		}})
		description, err := p.Describe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		body := description.Components[0].Connection.EmptyValue().AsValueMap()
		body["root"] = cty.StringVal(root)
		tables, err := p.OpenTables(t.Context(), plugin.OpenRequest{Component: "delta", Config: cty.ObjectVal(body), MemoryBudget: 16 << 20})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tables.ApplyTable(t.Context(), plugin.ApplyTableRequest{Spec: plugin.TableSpec{Table: orders, Schema: orderSchema, Layout: plugin.LayoutMerge}}); err != nil {
			t.Fatal(err)
		}
		if err := merge(t, tables); err != nil {
			t.Fatal(err)
		}
		defer tables.Close()
		calls := 0
		before = func(store.Call) {
			calls++
			if calls == nth {
				if err := os.Rename(filepath.Join(root, "silver"), filepath.Join(root, "taken")); err != nil {
					t.Error(err)
				}
			}
		}
		err = merge(t, tables)
		if calls < nth { // nothing was taken away
			break
		}
		// A write may have made the folder again: no log may be left in it.
		if logs, err := filepath.Glob(filepath.Join(root, "silver", "_delta_log", "*.json")); err != nil || len(logs) > 0 {
			t.Errorf("before call %d: %v, %v", nth, logs, err)
		}
		list := diag.FromError(err)
		if err == nil {
			told["it is gone"]++
		} else if told[list[0].Code]++; list[0].Kind != diag.KindStale || strings.Contains(list[0].Detail, "new plan") {
			t.Errorf("before call %d: %+v", nth, list)
		}
	}
	if told["it is gone"] == 0 || told["delta.stale"] == 0 || told["delta.no_table"] == 0 || len(told) != 3 {
		t.Errorf("told %v", told)
	}
}
