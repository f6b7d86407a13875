package ledger

import (
	"slices"
	"testing"

	"github.com/pipectl/pipectl/core/plugin"
)

func TestWriters(t *testing.T) {
	t.Parallel()
	l := newLake()
	if got, err := l.Writers(ctx, "bronze.orders"); err != nil || len(got) != 0 {
		t.Errorf("without a table: %q, %v", got, err)
	}
	batch := func(target, id string, n, rows int64) Batch {
		b := batchNumber(id, n, rows)
		b.Target = target
		return b
	}
	event := batch("bronze.orders", "only-an-event", 0, 0)
	event.Events = []plugin.Event{{Name: "schema_change", Position: position("0x1", "")}}
	for _, b := range []Batch{
		batch("bronze.orders", "rows", 0, 0), batch("bronze.orders", "rows", 1, 5), batch("bronze.orders", "rows", 2, 0),
		batch("bronze.orders", "no-rows", 0, 0), batch("bronze.items", "elsewhere", 0, 5), event,
	} {
		if err := l.RecordBatches(ctx, b); err != nil {
			t.Fatal(err)
		}
	}
	none, some := int64(0), int64(3)
	for id, rows := range map[string]*int64{"empty-snapshot": &none, "snapshot": &some, "found-snapshot": nil} {
		if err := l.Bootstrapped(ctx, SnapshotCompletion{AppID: id, KeyApp: id, Target: "bronze.orders", Stamp: position("0x1", ""), Rows: rows}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.OpenFull(ctx, SnapshotOpening{AppID: "opened-only", Target: "bronze.orders", Stamp: position("0x1", "")}); err != nil {
		t.Fatal(err)
	}
	got, err := l.Writers(ctx, "bronze.orders")
	if want := []string{"found-snapshot", "rows", "snapshot"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, not %q: %v", got, want, err)
	}
}
