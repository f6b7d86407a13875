package conformance

import (
	"testing"

	"github.com/pipectl/pipectl/core/plugin"
)

// merge holds the rule of plugin.Merge, one case a sentence.
func (x *tablesTest) merge(t *testing.T) {
	target := schemaOf(text("k"), integer("g"), text("v"), text("w"))
	source := schemaOf(text("k"), integer("g"), text("v"), text("a"))
	announced := schemaOf(text("k"), integer("g"), text("v"))
	guarded := plugin.Merge{Keys: []string{"k"}, Guard: "g", Action: "a"}
	free := plugin.Merge{Keys: []string{"k"}, Action: "a"}
	before := []string{"k=NULL g=NULL v=null w=w2", "k=x g=1 v=old w=w1"}
	for i, tc := range []struct {
		name   string
		merge  plugin.Merge
		source [][]any
		want   []string
		result plugin.CommitResult
	}{
		{"U updates a match above the guard and keeps columns that it lacks", guarded, [][]any{{"x", 2, "new", "U"}},
			[]string{before[0], "k=x g=2 v=new w=w1"}, plugin.CommitResult{Outcome: plugin.Committed, Updated: 1}},
		{"a guard that is not greater changes nothing, and nothing is committed", guarded, [][]any{{"x", 1, "new", "U"}},
			before, plugin.CommitResult{Outcome: plugin.Nothing}},
		{"NULL is the lowest guard, and NULL keys are equal", guarded, [][]any{{nil, 0, "new", "U"}},
			[]string{"k=NULL g=0 v=new w=w2", before[1]}, plugin.CommitResult{Outcome: plugin.Committed, Updated: 1}},
		{"NULL is not above NULL", guarded, [][]any{{nil, nil, "new", "U"}},
			before, plugin.CommitResult{Outcome: plugin.Nothing}},
		{"D deletes a match above the guard", guarded, [][]any{{"x", 2, nil, "D"}},
			before[:1], plugin.CommitResult{Outcome: plugin.Committed, Deleted: 1}},
		{"D without a match is dropped", guarded, [][]any{{"y", 2, nil, "D"}},
			before, plugin.CommitResult{Outcome: plugin.Nothing}},
		{"U without a match inserts, columns that it lacks NULL", guarded, [][]any{{"y", 2, "new", "U"}},
			append([]string{"k=y g=2 v=new w=NULL"}, before...), plugin.CommitResult{Outcome: plugin.Committed, Inserted: 1}},
		{"without a guard a match is always changed", free, [][]any{{"x", 0, "new", "U"}},
			[]string{before[0], "k=x g=0 v=new w=w1"}, plugin.CommitResult{Outcome: plugin.Committed, Updated: 1}},
		{"update columns are all that U sets", plugin.Merge{Keys: []string{"k"}, Action: "a", UpdateColumns: []string{"v"}}, [][]any{{"x", 5, "new", "U"}},
			[]string{before[0], "k=x g=1 v=new w=w1"}, plugin.CommitResult{Outcome: plugin.Committed, Updated: 1}},
		{"rows in no part are deleted when asked", plugin.Merge{Keys: []string{"k"}, Guard: "g", Action: "a", DeleteAbsent: true}, [][]any{{"x", 1, "same", "U"}},
			before[1:], plugin.CommitResult{Outcome: plugin.Committed, Deleted: 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ref := x.create(t, "conformance.merge"+string(rune('a'+i)), target)
			start, err := x.write(t, appending(ref, target), rowsOf(t, target, []any{"x", 1, "old", "w1"}, []any{nil, nil, "null", "w2"}))
			if err != nil {
				t.Fatal(err)
			}
			got, err := x.write(t, plugin.BeginWriteRequest{Table: ref, Mode: plugin.WriteMerge, Schema: announced, BaseVersion: -1, Merge: &tc.merge}, rowsOf(t, source, tc.source...))
			if err != nil {
				t.Fatal(err)
			}
			want := tc.result
			want.Version = start.Version
			if want.Outcome == plugin.Committed {
				want.Version++
			}
			if got != want {
				t.Errorf("result %+v, want %+v", got, want)
			}
			same(t, "rows", x.rows(t, ref), tc.want)
		})
	}
	t.Run("two source rows of one key are an error and change nothing", func(t *testing.T) {
		ref := x.create(t, "conformance.merge", target)
		if res, err := x.write(t, plugin.BeginWriteRequest{Table: ref, Mode: plugin.WriteMerge, Schema: announced, BaseVersion: -1, Merge: &guarded},
			rowsOf(t, source, []any{"x", 1, "a", "U"}, []any{"x", 2, "b", "U"})); err == nil {
			t.Errorf("result %+v", res)
		}
		same(t, "rows", x.rows(t, ref), nil)
	})
	t.Run("a merge that changes nothing records its txns", func(t *testing.T) {
		ref := x.create(t, "conformance.mergetxn", target)
		req := plugin.BeginWriteRequest{Table: ref, Mode: plugin.WriteMerge, Schema: announced, BaseVersion: 0, Merge: &guarded, Txns: []plugin.Txn{{AppID: "merges", Version: 0}}}
		slow, err := x.tables.BeginWrite(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		part, err := x.tables.WritePart(t.Context(), plugin.WritePartRequest{WriteID: slow.WriteID}, rowsOf(t, source, []any{"x", 1, "gone again", "U"}))
		if err != nil {
			t.Fatal(err)
		}
		if res, err := x.write(t, req, rowsOf(t, source, []any{"x", 2, nil, "D"})); err != nil || res.Inserted+res.Updated+res.Deleted != 0 {
			t.Fatalf("result %+v, %v", res, err)
		}
		// What was begun before it must not bring the row back.
		if res, err := x.tables.Commit(t.Context(), plugin.CommitRequest{WriteID: slow.WriteID, Tokens: []string{part.Token}}); err != nil || res.Outcome != plugin.Already {
			t.Errorf("a merge with the same txn answers %+v, %v, not already", res, err)
		}
		same(t, "rows", x.rows(t, ref), nil)
	})
}
