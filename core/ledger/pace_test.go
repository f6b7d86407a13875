package ledger

import (
	"testing"
	"time"
)

func TestPaces(t *testing.T) {
	t.Parallel()
	l := newLake()
	record := func(app string, n, rows int64, took time.Duration) {
		b := batchNumber(app, n, rows)
		b.Duration = took
		if err := l.RecordBatches(ctx, b); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := l.Paces(ctx, l.now, "bronze.a"); err != nil || len(got) != 0 {
		t.Errorf("without a table: %v, %v", got, err)
	}
	record("a", 0, 1_000_000, time.Hour) // long ago
	l.now = l.now.Add(24 * time.Hour)
	since := l.now
	record("a", 1, 300, time.Second)
	record("a", 2, 0, time.Hour) // a batch without rows says nothing about speed
	record("a", 3, 100, time.Second)
	record("b", 0, 0, time.Second)
	record("c", 0, 5, time.Second)
	got, err := l.Paces(ctx, since, "bronze.a", "bronze.b")
	if err != nil || len(got) != 1 || got["bronze.a"] != (Pace{400, 2 * time.Second}) || got["bronze.a"].RowsPerSecond() != 200 || got["bronze.b"].RowsPerSecond() != 0 {
		t.Errorf("%v, %v", got, err)
	}
	done := SnapshotCompletion{AppID: "b", KeyApp: "b", Target: "bronze.b", Stamp: position("0x1", ""), Rows: new(int64(50)), StartedAt: new(l.now), Duration: new(5 * time.Second)}
	if err := l.Bootstrapped(ctx, done); err != nil {
		t.Fatal(err)
	}
	if got, err := l.Paces(ctx, since, "bronze.b"); err != nil || got["bronze.b"].RowsPerSecond() != 10 {
		t.Errorf("%v, %v", got, err)
	}
}
