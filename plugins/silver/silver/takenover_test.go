package silver_test

import (
	"maps"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/plugin"
	fake "github.com/pipectl/pipectl/core/plugin/memory"
)

// theirs makes the target as another program would, with a row in it.
func (w *world) theirs(t *testing.T) {
	t.Helper()
	tables := w.lake.Open()
	defer tables.Close()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, {Name: "note", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil)
	if _, err := tables.ApplyTable(t.Context(), plugin.ApplyTableRequest{Spec: plugin.TableSpec{Table: target, Schema: schema, Layout: plugin.LayoutMerge}}); err != nil {
		t.Fatal(err)
	}
	w.foreign(t)
}

// Rows that were there before the first build are none of the source's: the first
// call takes them away, also when bronze has no row to build from, and before the
// verdict is given.
func TestATakenOverSilverKeepsNoRowOfItsFormerWriter(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"", "Tables.Commit", "Ledger.Advance"} {
		w := newWorld()
		w.lsn = 5
		w.write(t) // bronze is there, and so is its verdict
		w.theirs(t)
		if call != "" {
			var faults fake.Faults
			faults.KillBefore(call, 1)
			if _, err := w.apply(&faults); err == nil {
				t.Fatal("not killed")
			}
			if verdict := w.ledger.Views[silverName].Verdict; verdict != nil && len(w.silver()) > 0 {
				t.Errorf("before %s: verdict %d over %v", call, *verdict, w.silver())
			}
		}
		result, err := w.apply(&fake.Faults{})
		if err != nil || len(w.silver()) != 0 || result.Verdict == nil || result.Position.Foreign != nil {
			t.Fatalf("before %s: %+v, %v, silver %v", call, result, err, w.silver())
		}
		commits := len(w.lake.History(silverName))
		if result, err = w.apply(&fake.Faults{}); err != nil || result.Rebuilt || len(w.lake.History(silverName)) != commits {
			t.Errorf("nothing to do: %+v, %v, %d commits, had %d", result, err, len(w.lake.History(silverName)), commits)
		}
		// What comes in between goes, too: nothing was applied yet.
		w.foreign(t)
		if result, err = w.apply(&fake.Faults{}); err != nil || len(w.silver()) != 0 || result.Position.Foreign != nil || len(result.Diagnostics) != 0 {
			t.Errorf("rows once more: %+v, %v, silver %v", result, err, w.silver())
		}
		w.change(t, 1, "a")
		if _, err := w.apply(&fake.Faults{}); err != nil || !maps.Equal(w.silver(), w.state) {
			t.Errorf("after a first change: %v, silver %v, source %v", err, w.silver(), w.state)
		}
	}
}
