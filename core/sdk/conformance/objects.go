package conformance

import (
	"slices"
	"sync"
	"testing"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

func (x *tablesTest) history(t *testing.T) {
	schema := schemaOf(text("k"))
	ref := x.create(t, "conformance.history", schema)
	metadata := `{"rows":1,"note":"<&> \u00e4"}`
	for range 3 {
		begun, err := x.tables.BeginWrite(t.Context(), appending(ref, schema))
		if err != nil {
			t.Fatal(err)
		}
		part, err := x.tables.WritePart(t.Context(), plugin.WritePartRequest{WriteID: begun.WriteID}, rowsOf(t, schema, []any{"x"}))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := x.tables.Commit(t.Context(), plugin.CommitRequest{WriteID: begun.WriteID, Tokens: []string{part.Token}, UserMetadata: metadata}); err != nil {
			t.Fatal(err)
		}
	}
	all, err := x.tables.History(t.Context(), plugin.HistoryRequest{Table: ref, After: -1})
	if err != nil || len(all) != 4 {
		t.Fatalf("%d commits, %v", len(all), err)
	}
	for i, c := range all {
		if i > 0 && (c.Version != all[i-1].Version+1 || c.UserMetadata != metadata || !c.DataChange) {
			t.Errorf("commit %d is %+v", i, c)
		}
	}
	if all[0].DataChange && all[0].RowsAdded > 0 {
		t.Errorf("creating the table changed data: %+v", all[0])
	}
	later, err := x.tables.History(t.Context(), plugin.HistoryRequest{Table: ref, After: all[1].Version})
	if err != nil || len(later) != 2 || later[0] != all[2] {
		t.Errorf("after version %d: %+v, %v", all[1].Version, later, err)
	}
	newest, err := x.tables.History(t.Context(), plugin.HistoryRequest{Table: ref, After: -1, Limit: 1})
	if err != nil || len(newest) != 1 || newest[0] != all[3] {
		t.Errorf("the newest of them: %+v, %v", newest, err)
	}
}

func (x *tablesTest) objects(t *testing.T) {
	ctx := t.Context()
	for _, key := range []string{"_pipectl/conformance/b", "_pipectl/conformance/a", "_pipectl/conformance/c/d"} {
		if err := x.tables.PutObject(ctx, plugin.Object{Key: key, Data: []byte(key)}, true); err != nil {
			t.Fatal(err)
		}
	}
	if err := x.tables.PutObject(ctx, plugin.Object{Key: "_pipectl/conformance/a", Data: []byte("x")}, true); !diag.Is(err, diag.KindConflict) {
		t.Errorf("putting what exists answers %v, not kind conflict", err)
	}
	if err := x.tables.PutObject(ctx, plugin.Object{Key: "_pipectl/conformance/b", Data: []byte("new")}, false); err != nil {
		t.Error(err)
	}
	// Another session sees it: objects are the sink's, not a session's.
	if obj, found, err := x.open(t).GetObject(ctx, "_pipectl/conformance/b"); err != nil || !found || string(obj.Data) != "new" {
		t.Errorf("%q, %v, %v", obj.Data, found, err)
	}
	if _, found, err := x.tables.GetObject(ctx, "_pipectl/conformance/none"); err != nil || found {
		t.Errorf("an object that is absent: found %v, %v", found, err)
	}
	keys, err := x.tables.ListObjects(ctx, "_pipectl/conformance/", "_pipectl/conformance/a")
	if err != nil || !slices.Equal(keys, []string{"_pipectl/conformance/b", "_pipectl/conformance/c/d"}) {
		t.Errorf("keys %q, %v", keys, err)
	}
	for range 2 {
		if err := x.tables.DeleteObject(ctx, "_pipectl/conformance/b"); err != nil {
			t.Errorf("deleting: %v", err)
		}
	}
	// Of rivals one wins.
	var wait sync.WaitGroup
	won := make([]error, 8)
	for i := range won {
		wait.Go(func() {
			won[i] = x.tables.PutObject(ctx, plugin.Object{Key: "_pipectl/conformance/race", Data: []byte{byte(i)}}, true)
		})
	}
	wait.Wait()
	winners := 0
	for _, err := range won {
		if err == nil {
			winners++
		} else if !diag.Is(err, diag.KindConflict) {
			t.Errorf("a rival's answer: %v", err)
		}
	}
	if winners != 1 {
		t.Errorf("%d of %d rivals put one object", winners, len(won))
	}
}
