package ledger

import (
	"slices"
	"testing"

	"github.com/pipectl/pipectl/core/plugin"
)

func TestNamesOfASwitchAreRemembered(t *testing.T) {
	t.Parallel()
	l := newLake()
	if got, err := l.Instances(ctx, "bronze.orders"); err != nil || len(got) != 0 {
		t.Errorf("without a table: %q, %v", got, err)
	}
	for n, detail := range []string{
		`{"start_lsn": "0x1", "not_captured": [], "text": "dbo_orders -> Orders_2", "old": "dbo_orders", "new": "Orders_2"}`,
		`{"start_lsn": "0x1", "not_captured": ["note"], "text": "Orders_2 -> orders_3; no longer captured, read as NULL: note"}`,
		`orders_3 -> orders_4`,
		`orders_4 -> orders_5; no longer captured, read as NULL: a, b`,
		`nothing that is known`,
		`a -> b -> c`,
		`{"start_lsn": 1}`,
		``,
	} {
		b := batchNumber("orders", int64(n), 1)
		b.Target = "bronze.orders"
		b.Events = []plugin.Event{{Name: "capture_instance_switched", Position: position("0x1", ""), Detail: detail}}
		if err := l.RecordBatches(ctx, b); err != nil {
			t.Fatal(err)
		}
	}
	other := batchNumber("items", 0, 1)
	other.Target = "bronze.items"
	other.Events = []plugin.Event{
		{Name: "capture_instance_switched", Position: position("0x1", ""), Detail: `{"old": "items_1", "new": "items_2"}`},
		{Name: "schema_change", Position: position("0x1", ""), Detail: `x -> y`},
	}
	if err := l.RecordBatches(ctx, other); err != nil {
		t.Fatal(err)
	}
	got, err := l.Instances(ctx, "bronze.orders", "bronze.none")
	if want := []string{"dbo_orders", "orders_2", "orders_3", "orders_4", "orders_5"}; err != nil || !slices.Equal(got["bronze.orders"], want) || len(got) != 1 {
		t.Errorf("%q, not %q: %v", got, want, err)
	}
	if got, err := l.Instances(ctx); err != nil || len(got) != 0 {
		t.Errorf("of no table: %q, %v", got, err)
	}
}
