package deltatable_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"golang.org/x/sync/errgroup"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
	"github.com/pipectl/pipectl/plugins/sink-delta/deltatable"
	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// TestConcurrentWriters: eight appenders and two mergers at once, each with a
// table handle of its own, lose nothing and write nothing twice.
func TestConcurrentWriters(t *testing.T) {
	t.Parallel()
	schema := schemaOf(field("id", arrow.PrimitiveTypes.Int64), field("lsn", arrow.PrimitiveTypes.Int64), field("v", arrow.BinaryTypes.String))
	for _, properties := range []map[string]string{nil, {"delta.enableDeletionVectors": "true"}} {
		t.Run(fmt.Sprint(properties), func(t *testing.T) {
			t.Parallel()
			st := memoryStore()
			mem := checkedMemory(t)
			opts := func() deltatable.Options {
				o := options(mem)
				o.Retry = deltalog.Retry{Budget: 1 << 50, Base: 1, Max: 1} // no waiting: the clock is the test's
				return o
			}
			mustCreate(t, st, schema, properties, opts())
			const appenders, rounds, mergers, mergedKeys = 8, 4, 2, 3
			var want []row
			var g errgroup.Group
			for a := range int64(appenders) {
				for n := range int64(rounds) {
					want = append(want, row{1000 + a*100 + n, int64(1), "appended"})
				}
				g.Go(func() error {
					table, err := deltatable.Open(context.Background(), st, "silver/orders", opts())
					if err != nil {
						return err
					}
					for n := range int64(rounds) {
						spec := appendSpec(schema)
						spec.Txns = []deltatable.Txn{{AppID: fmt.Sprint("appender-", a), Version: n}}
						if _, err := write(context.Background(), t, mem, table, spec, []row{{1000 + a*100 + n, int64(1), "appended"}}); err != nil {
							return fmt.Errorf("appender %d: %w", a, err)
						}
					}
					return nil
				})
			}
			for m := range int64(mergers) {
				g.Go(func() error {
					table, err := deltatable.Open(context.Background(), st, "silver/orders", opts())
					if err != nil {
						return err
					}
					for n := range int64(rounds) {
						var source []row
						for k := range int64(mergedKeys) {
							source = append(source, row{k, n*mergers + m, fmt.Sprintf("merged %d.%d", n, m), "U"})
						}
						spec := deltatable.WriteSpec{Mode: deltatable.Merge, Schema: withAction(schema),
							Merge: &deltatable.MergeSpec{Keys: []string{"id"}, Guard: "lsn", Action: "_action"}}
						if _, err := write(context.Background(), t, mem, table, spec, source); err != nil {
							return fmt.Errorf("merger %d: %w", m, err)
						}
					}
					return nil
				})
			}
			if err := g.Wait(); err != nil {
				t.Fatal(err)
			}
			for k := range int64(mergedKeys) { // the greatest lsn wins, whoever came last
				want = append(want, row{k, int64(rounds*mergers - 1), fmt.Sprintf("merged %d.%d", rounds-1, mergers-1)})
			}
			table, err := deltatable.Open(t.Context(), st, "silver/orders", opts())
			if err != nil {
				t.Fatal(err)
			}
			wantRows(t, table, schema, want)
		})
	}
}

// TestMergeRecomputesAfterConflict: another merge commits between reading and
// committing; the second attempt sees its rows.
func TestMergeRecomputesAfterConflict(t *testing.T) {
	t.Parallel()
	schema := schemaOf(field("id", arrow.PrimitiveTypes.Int64), field("lsn", arrow.PrimitiveTypes.Int64), field("v", arrow.BinaryTypes.String))
	for _, properties := range []map[string]string{nil, {"delta.enableDeletionVectors": "true"}} {
		mem := checkedMemory(t)
		disk := memoryStore()
		faulty := store.NewFaulty(disk)
		table := mustCreate(t, faulty, schema, properties, options(mem))
		mustWrite(t, mem, table, appendSpec(schema), []row{{int64(1), int64(1), "a"}, {int64(2), int64(1), "b"}})
		merge := deltatable.WriteSpec{Mode: deltatable.Merge, Schema: withAction(schema),
			Merge: &deltatable.MergeSpec{Keys: []string{"id"}, Guard: "lsn", Action: "_action"}}
		other, err := deltatable.Open(t.Context(), disk, "silver/orders", options(memory.DefaultAllocator))
		if err != nil {
			t.Fatal(err)
		}
		done := false
		faulty.Before(func(c store.Call) {
			if c.Op == store.OpPutIfAbsent && strings.HasSuffix(c.Path, "2.json") && !done {
				done = true
				// Newer than the merge under test for one key, older for the other.
				mustWrite(t, memory.DefaultAllocator, other, merge, []row{{int64(1), int64(9), "newer", "U"}, {int64(2), int64(2), "older", "U"}, {int64(3), int64(2), "other's", "U"}})
			}
		})
		got := mustWrite(t, mem, table, merge, []row{{int64(1), int64(5), "A", "U"}, {int64(2), int64(5), nil, "D"}, {int64(3), int64(5), "C", "U"}})
		if !done || got.Version != 3 || got.Updated != 1 || got.Deleted != 1 || got.Inserted != 0 {
			t.Errorf("%v: %s at version %d", properties, describe(got), got.Version)
		}
		wantRows(t, table, schema, []row{{int64(1), int64(9), "newer"}, {int64(3), int64(5), "C"}})
	}
}

// TestMergeTouchesOnlyWhatItMust: files without a row to change keep their
// place, with deletion vectors even the others do.
func TestMergeTouchesOnlyWhatItMust(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		properties      map[string]string
		removed, vector int
	}{
		{nil, 1, 0},
		{map[string]string{"delta.enableDeletionVectors": "true"}, 0, 1},
	} {
		mem := checkedMemory(t)
		disk := memoryStore()
		faulty := store.NewFaulty(disk)
		table := mustCreate(t, faulty, plain, c.properties, options(mem))
		for f := range int64(4) {
			mustWrite(t, mem, table, appendSpec(plain), []row{{f * 10, "a"}, {f*10 + 1, "b"}})
		}
		before := live(t, table)
		calls := len(faulty.Calls())
		merge := deltatable.WriteSpec{Mode: deltatable.Merge, Schema: withAction(plain), Merge: &deltatable.MergeSpec{Keys: []string{"id"}, Action: "_action"}}
		mustWrite(t, mem, table, merge, []row{{int64(20), "A", "U"}, {int64(99), "new", "U"}, {int64(5), "no such row", "D"}})
		read := map[string]bool{}
		for _, call := range faulty.Calls()[calls:] {
			if call.Op == store.OpGetRange && strings.HasSuffix(call.Path, ".parquet") {
				read[call.Path] = true
			}
		}
		if len(read) != 1 {
			t.Errorf("%v: read %d data files, want the one whose keys fit", c.properties, len(read))
		}
		after := live(t, table)
		removed, vectors := 0, 0
		for _, a := range before {
			if !slices.ContainsFunc(after, func(b *deltalog.Add) bool { return b.Path == a.Path }) {
				removed++
			}
		}
		for _, a := range after {
			if a.DeletionVector != nil {
				vectors++
				if n, ok := a.NumRecords(); !ok || n != 2 {
					t.Errorf("a file with a deletion vector says it has %d rows", n)
				}
			}
		}
		if removed != c.removed || vectors != c.vector {
			t.Errorf("%v: %d files removed, %d deletion vectors", c.properties, removed, vectors)
		}
		// All rows of a file: it goes, whichever way.
		mustWrite(t, mem, table, merge, []row{{int64(0), nil, "D"}, {int64(1), nil, "D"}})
		for _, a := range live(t, table) {
			if a.Path == before[0].Path {
				t.Errorf("%v: an empty file stayed", c.properties)
			}
		}
	}
}

// live are the files of the newest version, in order of their paths.
func live(t *testing.T, table *deltatable.Table) []*deltalog.Add {
	t.Helper()
	s, err := table.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := slices.Collect(s.Log().Files(nil))
	slices.SortFunc(out, func(a, b *deltalog.Add) int { return int(a.ModificationTime - b.ModificationTime) })
	return out
}

// TestMergesOfOneAppIDExcludeEachOther: a merge that changes no row still
// records its txn, so that one which was begun before it is not carried out.
func TestMergesOfOneAppIDExcludeEachOther(t *testing.T) {
	t.Parallel()
	mem := checkedMemory(t)
	table := mustCreate(t, memoryStore(), plain, nil, options(mem))
	base := int64(0)
	merge := deltatable.WriteSpec{Mode: deltatable.Merge, Schema: withAction(plain), BaseVersion: &base,
		Txns: []deltatable.Txn{{AppID: "silver", Version: 0}}, Merge: &deltatable.MergeSpec{Keys: []string{"id"}, Action: "_action"}}
	slow, err := table.Begin(t.Context(), merge)
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Abort(t.Context())
	part, err := slow.Part(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rec := batchOf(t, mem, merge.Schema, []row{{int64(1), "came and went", "U"}})
	defer rec.Release()
	if err := part.Write(rec); err != nil {
		t.Fatal(err)
	}
	done, err := part.Close()
	if err != nil {
		t.Fatal(err)
	}
	for _, rows := range [][]row{{{int64(1), nil, "D"}}, nil} {
		got := mustWrite(t, mem, table, merge, rows)
		if got.Outcome != deltatable.Committed || got.Inserted+got.Updated+got.Deleted != 0 || got.Version != base+1 {
			t.Fatalf("a merge without a change: %s", describe(got))
		}
		base++
		merge.Txns = []deltatable.Txn{{AppID: "silver", Version: base}}
	}
	got, err := slow.Commit(t.Context(), []string{done.Token}, "")
	if err != nil || got.Outcome != deltatable.Already {
		t.Fatalf("the slow merge: %s, %v", describe(got), err)
	}
	wantRows(t, table, plain, nil)
	for c, err := range table.Log().History(t.Context(), 0) {
		if err != nil || c.DataChange || c.Added+c.Removed != 0 {
			t.Errorf("version %d changes data: %+v, %v", c.Version, c, err)
		}
	}
}
