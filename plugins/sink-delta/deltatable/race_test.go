package deltatable_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltatable"
	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// patientClock notes how long it was asked to wait in all.
type patientClock struct {
	*testClock
	waited time.Duration
}

func (c *patientClock) Sleep(ctx context.Context, d time.Duration) error {
	c.waited += d
	return c.testClock.Sleep(ctx, d)
}

// TestAppendsHardlyWaitForEachOther: writers that began on one version and
// append under keys of their own lose nothing to each other but numbers.
func TestAppendsHardlyWaitForEachOther(t *testing.T) {
	t.Parallel()
	const writers = 15
	mem := checkedMemory(t)
	st := memoryStore()
	clock := &patientClock{testClock: newTestClock()}
	opts := options(mem)
	opts.Clock, opts.Random = clock, func() float64 { return 1 } // the longest waits that there are
	mustCreate(t, st, plain, nil, opts)
	var (
		begun  [writers]*deltatable.Write
		tokens [writers]string
		want   []row
	)
	for i := range begun {
		table, err := deltatable.Open(t.Context(), st, "silver/orders", opts)
		if err != nil {
			t.Fatal(err)
		}
		spec := appendSpec(plain)
		spec.Txns = []deltatable.Txn{{AppID: fmt.Sprint("stream-", i, "#facts"), Version: 1}}
		if begun[i], err = table.Begin(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
		part, err := begun[i].Part(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, row{int64(i), "facts"})
		rec := batchOf(t, mem, plain, want[i:])
		err = part.Write(rec)
		rec.Release()
		if err != nil {
			t.Fatal(err)
		}
		done, err := part.Close()
		if err != nil {
			t.Fatal(err)
		}
		tokens[i] = done.Token
	}
	for i, w := range begun {
		if got, err := w.Commit(t.Context(), tokens[i:i+1], ""); err != nil || got.Version != int64(i+1) {
			t.Fatalf("writer %d: version %d, %v", i, got.Version, err)
		}
	}
	if most := writers * 25 * time.Millisecond; clock.waited > most {
		t.Errorf("%d appends waited %v for each other, more than %v", writers, clock.waited, most)
	}
	table, err := deltatable.Open(t.Context(), st, "silver/orders", opts)
	if err != nil {
		t.Fatal(err)
	}
	wantRows(t, table, plain, want)
}

// TestAConflictIsGivenTime: what must be worked out anew waits half a second
// before it gets in the other's way again.
func TestAConflictIsGivenTime(t *testing.T) {
	t.Parallel()
	mem := checkedMemory(t)
	disk := memoryStore()
	faulty := store.NewFaulty(disk)
	clock := &patientClock{testClock: newTestClock()}
	opts := options(mem)
	opts.Clock, opts.Random = clock, func() float64 { return 1 }
	table := mustCreate(t, faulty, plain, nil, opts)
	mustWrite(t, mem, table, appendSpec(plain), []row{{int64(1), "a"}})
	other, err := deltatable.Open(t.Context(), disk, "silver/orders", options(mem))
	if err != nil {
		t.Fatal(err)
	}
	merge := deltatable.WriteSpec{Mode: deltatable.Merge, Schema: withAction(plain), Merge: &deltatable.MergeSpec{Keys: []string{"id"}, Action: "_action"}}
	lost := 0
	faulty.Before(func(c store.Call) {
		if c.Op == store.OpPutIfAbsent && lost < 2 {
			lost++
			mustWrite(t, mem, other, merge, []row{{int64(1), fmt.Sprint("other's ", lost), "U"}})
		}
	})
	mustWrite(t, mem, table, merge, []row{{int64(1), "ours", "U"}})
	if want := 1500 * time.Millisecond; clock.waited != want {
		t.Errorf("two conflicts waited %v, want %v", clock.waited, want)
	}
	wantRows(t, table, plain, []row{{int64(1), "ours"}})
}
