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

func TestInstants(t *testing.T) {
	t.Parallel()
	l := newLake()
	batch := batchNumber("a", 0, 5)
	batch.Counts.Least, batch.Counts.Greatest = position("0x1", "2026-03-01T08:00:00.000"), position("0x2", "2026-03-01T09:00:00.000")
	other := batchNumber("b", 0, 5)
	other.Counts.Least, other.Counts.Greatest = position("0x1", "2026-03-01T08:00:00.000"), position("0x2", "2026-03-01T10:00:00.000")
	if err := l.RecordBatches(ctx, batch, other); err != nil {
		t.Fatal(err)
	}
	stamp := position("0x3", "2026-03-01T11:00:00.000")
	if err := l.Bootstrapped(ctx, SnapshotCompletion{AppID: "c", KeyApp: "c", Target: "bronze.c", Stamp: stamp}); err != nil {
		t.Fatal(err)
	}
	at := func(table, position string) TablePosition { return TablePosition{table, position} }
	got, err := l.Instants(ctx, at("bronze.a", "0x2"), at("bronze.b", "0x2"), at("bronze.c", "0x3"), at("bronze.d", "0x2"))
	if err != nil || len(got) != 3 || got[at("bronze.a", "0x2")] != batch.Counts.Greatest || got[at("bronze.b", "0x2")] != other.Counts.Greatest || got[at("bronze.c", "0x3")] != stamp {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := l.Instants(ctx, at("bronze.a", "0x1")); err != nil || len(got) != 0 {
		t.Errorf("a position in the middle of a batch: %v, %v", got, err)
	}
	if got, err := l.Instants(ctx); err != nil || len(got) != 0 {
		t.Errorf("nothing: %v, %v", got, err)
	}
}
