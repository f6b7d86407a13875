package deltatable_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
	"github.com/pipectl/pipectl/plugins/sink-delta/deltatable"
	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// liveFiles are the files of the newest version.
func liveFiles(t failer, table *deltatable.Table) (files []*deltalog.Add) {
	t.Helper()
	s, err := table.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for a := range s.Log().Files(nil) {
		files = append(files, a)
	}
	return files
}

// TestOptimizeModel: whatever was done to a table, an optimize changes none of
// its rows, leaves no more files than it must, and finds nothing to do again.
func TestOptimizeModel(t *testing.T) {
	t.Parallel()
	schema := schemaOf(field("id", arrow.PrimitiveTypes.Int64), field("p", arrow.BinaryTypes.String), field("v", arrow.BinaryTypes.String))
	rapid.Check(t, func(t *rapid.T) {
		mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
		opts := options(mem)
		spec := deltatable.Spec{Schema: schema, Properties: map[string]string{}}
		if rapid.Bool().Draw(t, "deletion vectors") {
			spec.Properties["delta.enableDeletionVectors"] = "true"
		}
		if rapid.Bool().Draw(t, "mapping") {
			spec.Properties["delta.columnMapping.mode"] = "name"
		}
		if rapid.Bool().Draw(t, "partitioned") {
			spec.PartitionColumns = []string{"p"}
		}
		table, _, err := deltatable.CreateIfAbsent(context.Background(), memoryStore(), "t", spec, opts)
		if err != nil {
			t.Fatal(err)
		}
		id := rapid.Int64Range(0, 20)
		for range rapid.IntRange(0, 8).Draw(t, "steps") {
			switch rapid.IntRange(0, 2).Draw(t, "step") {
			case 0:
				var rows []row
				for range rapid.IntRange(1, 8).Draw(t, "rows") {
					rows = append(rows, row{id.Draw(t, "id"), rapid.SampledFrom([]any{nil, "", "a", "b"}).Draw(t, "p"), strings.Repeat("x", rapid.IntRange(0, 200).Draw(t, "width"))})
				}
				mustWrite(t, mem, table, appendSpec(schema), rows)
			case 1:
				if _, err := deleteWhere(context.Background(), table, where("id", deltalog.OpLt, deltalog.IntValue(id.Draw(t, "below")))); err != nil {
					t.Fatal(err)
				}
			case 2:
				if _, err := table.Optimize(context.Background(), deltatable.OptimizeSpec{}); err != nil {
					t.Fatal(err)
				}
			}
		}
		o := deltatable.OptimizeSpec{
			TargetSize: rapid.SampledFrom([]int64{0, 1, 2000, 4000}).Draw(t, "target"), MinFiles: rapid.SampledFrom([]int{0, 3}).Draw(t, "files"),
			PurgeAbove: rapid.SampledFrom([]float64{0, -1, 0.5}).Draw(t, "purge"),
		}
		before := rowsIn(t, table)
		o.DryRun = true
		would, err := table.Optimize(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		o.DryRun = false
		did, err := table.Optimize(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		if would.RemovedFiles != did.RemovedFiles || would.RemovedBytes != did.RemovedBytes || would.Commits != 0 || did.Lost != 0 {
			t.Fatalf("%+v was told, %+v done", would, did)
		}
		if after := rowsIn(t, table); !slices.Equal(before, after) {
			t.Fatalf("rows before:\n%safter:\n%s", strings.Join(before, ""), strings.Join(after, ""))
		}
		if o.TargetSize == 0 && o.MinFiles == 0 { // one file for each partition
			seen := map[string]int{}
			for _, a := range liveFiles(t, table) {
				key := fmt.Sprint(len(a.PartitionValues))
				for _, v := range a.PartitionValues {
					if key = "null"; v != nil {
						key = *v
					}
				}
				if seen[key]++; seen[key] > 1 {
					t.Fatalf("partition %s has more than one file", key)
				}
			}
		}
		again, err := table.Optimize(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		// With a target, what came out smaller than it was thought may be packed further.
		if o.TargetSize == 0 && again.Commits != 0 {
			t.Fatalf("once more: %+v", again)
		}
		if n := mem.CurrentAlloc(); n != 0 {
			t.Fatalf("%d bytes of Arrow memory were not released", n)
		}
	})
}

// smallFiles is a table of three files of two rows, with deletion vectors, and
// the rows that it has.
func smallFiles(t *testing.T, mem memory.Allocator) (*store.Memory, *deltatable.Table) {
	t.Helper()
	st := memoryStore()
	table := mustCreate(t, st, crashSchema, map[string]string{"delta.enableDeletionVectors": "true"}, options(mem))
	for i := range int64(3) {
		mustWrite(t, mem, table, appendSpec(crashSchema), []row{{2 * i, int64(1), "a"}, {2*i + 1, int64(1), "b"}})
	}
	if _, err := deleteWhere(t.Context(), table, where("id", deltalog.OpEq, deltalog.IntValue(1))); err != nil {
		t.Fatal(err)
	}
	return st, table
}

// TestOptimizeKilledAtEveryCall: whenever an optimize dies, the table has its
// rows, and the next one ends the work.
func TestOptimizeKilledAtEveryCall(t *testing.T) {
	t.Parallel()
	base, table := smallFiles(t, memory.DefaultAllocator)
	want := rowsIn(t, table)
	for _, effect := range []store.Effect{store.Kill, store.KillAfter, store.Fail, store.Ambiguous} {
		t.Run(fmt.Sprint("effect ", effect), func(t *testing.T) {
			t.Parallel()
			outcomes := map[string]int{}
			for n := 1; ; n++ {
				mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
				disk := base.Clone()
				faulty := store.NewFaulty(disk, store.Fault{Nth: n, Effect: effect})
				err := optimizeOn(t.Context(), faulty, mem)
				if left := mem.CurrentAlloc(); left != 0 {
					t.Errorf("call %d: %d bytes of Arrow memory were not released", n, left)
				}
				after, openErr := deltatable.Open(t.Context(), disk, "silver/orders", options(memory.DefaultAllocator))
				if openErr != nil {
					t.Fatalf("call %d: the table cannot be opened: %v", n, openErr)
				}
				if got := rowsIn(t, after); !slices.Equal(got, want) {
					t.Fatalf("call %d, %v: the table has\n%s", n, err, strings.Join(got, ""))
				}
				files := len(liveFiles(t, after))
				outcomes[fmt.Sprintf("files=%d err=%v", files, err != nil)]++
				if err == nil && files != 1 {
					t.Fatalf("call %d: success, and %d files", n, files)
				}
				if err := optimizeOn(t.Context(), disk, memory.DefaultAllocator); err != nil {
					t.Fatalf("call %d: once more: %v", n, err)
				}
				if got := rowsIn(t, after); !slices.Equal(got, want) || len(liveFiles(t, after)) != 1 {
					t.Fatalf("call %d: after another optimize the table has\n%s", n, strings.Join(got, ""))
				}
				if len(faulty.Calls()) < n {
					break
				}
			}
			if outcomes["files=3 err=true"] == 0 || outcomes["files=1 err=false"] == 0 {
				t.Errorf("outcomes %v: the faults did not cover the optimize", outcomes)
			}
		})
	}
}

func optimizeOn(ctx context.Context, st store.Store, mem memory.Allocator) error {
	table, err := deltatable.Open(ctx, st, "silver/orders", options(mem))
	if err != nil {
		return err
	}
	_, err = table.Optimize(ctx, deltatable.OptimizeSpec{})
	return err
}

// TestOptimizeBesideWriters: what another writer does between the rewriting and
// its commit is kept, and decides what of the rewriting can be.
func TestOptimizeBesideWriters(t *testing.T) {
	t.Parallel()
	more := []row{{int64(9), int64(2), "nine"}}
	left := func(gone int64) (rows []row) {
		for id := range int64(6) {
			if id != 1 && id != gone {
				rows = append(rows, row{id, int64(1), string("ab"[id%2])})
			}
		}
		return rows
	}
	for name, c := range map[string]struct {
		other func(t *testing.T, table *deltatable.Table)
		want  []row
		files int
		lost  int
		err   error
	}{
		"an append": {func(t *testing.T, table *deltatable.Table) {
			mustWrite(t, memory.DefaultAllocator, table, appendSpec(crashSchema), more)
		}, append(left(1), more...), 2, 0, nil},
		"a delete in one of its files": {func(t *testing.T, table *deltatable.Table) {
			if _, err := deleteWhere(t.Context(), table, where("id", deltalog.OpEq, deltalog.IntValue(4))); err != nil {
				t.Fatal(err)
			}
		}, left(4), 3, 3, nil},
		"an overwrite": {func(t *testing.T, table *deltatable.Table) {
			mustWrite(t, memory.DefaultAllocator, table, deltatable.WriteSpec{Mode: deltatable.Overwrite, Schema: crashSchema}, more)
		}, more, 1, 3, nil},
		"another optimize": {func(t *testing.T, table *deltatable.Table) {
			if _, err := table.Optimize(t.Context(), deltatable.OptimizeSpec{}); err != nil {
				t.Fatal(err)
			}
		}, left(1), 1, 3, nil},
		"a change of properties": {func(t *testing.T, table *deltatable.Table) {
			s, err := table.Snapshot(t.Context())
			if err == nil {
				_, _, err = s.Alter(t.Context(), deltatable.Changes{Properties: map[string]string{"a": "b"}})
			}
			if err != nil {
				t.Fatal(err)
			}
		}, left(1), 3, 0, deltalog.ErrMetadataChanged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mem := checkedMemory(t)
			disk, _ := smallFiles(t, mem)
			faulty := store.NewFaulty(disk)
			table, err := deltatable.Open(t.Context(), faulty, "silver/orders", options(mem))
			if err != nil {
				t.Fatal(err)
			}
			done := false
			faulty.Before(func(call store.Call) {
				if done || call.Op != store.OpPutIfAbsent || !strings.Contains(call.Path, "_delta_log") {
					return
				}
				done = true
				other, err := deltatable.Open(t.Context(), disk, "silver/orders", options(mem))
				if err != nil {
					t.Fatal(err)
				}
				c.other(t, other)
			})
			got, err := table.Optimize(t.Context(), deltatable.OptimizeSpec{})
			if !done || !errors.Is(err, c.err) || got.Lost != c.lost {
				t.Fatalf("%+v, %v", got, err)
			}
			faulty.Before(nil)
			wantRows(t, table, crashSchema, c.want)
			files := liveFiles(t, table)
			if len(files) != c.files {
				t.Errorf("%d files, want %d", len(files), c.files)
			}
			// What was rewritten in vain is not left behind.
			named := map[string]bool{}
			for version := range got.Version + 3 {
				s, err := table.SnapshotAt(t.Context(), version)
				if errors.Is(err, deltalog.ErrVersionNotFound) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				for a := range s.Log().Files(nil) {
					named[table.Log().Object(a.Path)] = true
				}
			}
			for _, path := range filesIn(t, disk) {
				if strings.HasSuffix(path, ".parquet") && !named[path] {
					t.Errorf("%s was left behind", path)
				}
			}
		})
	}
}

// TestAMergeBesideAnOptimize: a merge whose files were rewritten looks for its
// rows again.
func TestAMergeBesideAnOptimize(t *testing.T) {
	t.Parallel()
	for _, vectors := range []string{"true", "false"} {
		t.Run("deletion vectors "+vectors, func(t *testing.T) {
			t.Parallel()
			mem := checkedMemory(t)
			disk := memoryStore()
			mustCreate(t, disk, crashSchema, map[string]string{"delta.enableDeletionVectors": vectors}, options(mem))
			faulty := store.NewFaulty(disk)
			table, err := deltatable.Open(t.Context(), faulty, "silver/orders", options(mem))
			if err != nil {
				t.Fatal(err)
			}
			for i := range int64(3) {
				mustWrite(t, mem, table, appendSpec(crashSchema), []row{{i, int64(1), "a"}})
			}
			done := false
			faulty.Before(func(call store.Call) {
				if done || call.Op != store.OpPutIfAbsent || !strings.Contains(call.Path, "_delta_log") {
					return
				}
				done = true
				if err := optimizeOn(t.Context(), disk, mem); err != nil {
					t.Fatal(err)
				}
			})
			merge := deltatable.WriteSpec{Mode: deltatable.Merge, Schema: withAction(crashSchema), Merge: &deltatable.MergeSpec{Keys: []string{"id"}, Action: "_action"}}
			mustWrite(t, mem, table, merge, []row{{int64(1), int64(2), "b", "U"}, {int64(2), int64(2), nil, "D"}})
			if !done {
				t.Fatal("no optimize came between")
			}
			wantRows(t, table, crashSchema, []row{{int64(0), int64(1), "a"}, {int64(1), int64(2), "b"}})
		})
	}
}

// TestOptimizeChecksItsSpec: what cannot be meant is told.
func TestOptimizeChecksItsSpec(t *testing.T) {
	t.Parallel()
	_, table := smallFiles(t, checkedMemory(t))
	for _, o := range []deltatable.OptimizeSpec{{TargetSize: -1}, {MinFiles: 1}, {PurgeAbove: 1}} {
		if got, err := table.Optimize(t.Context(), o); err == nil {
			t.Errorf("%+v: %+v", o, got)
		}
	}
}
