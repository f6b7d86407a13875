package deltatable_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
	"github.com/pipectl/pipectl/plugins/sink-delta/deltatable"
	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

var crashSchema = schemaOf(field("id", arrow.PrimitiveTypes.Int64), field("lsn", arrow.PrimitiveTypes.Int64), field("v", arrow.BinaryTypes.String))

// crashCase is a write whose every storage call is made to fail once.
type crashCase struct {
	name       string
	properties map[string]string
	partition  []string
	spec       deltatable.WriteSpec
	rows       [][]row
	want       []row
}

func crashCases() []crashCase {
	before := []row{{int64(1), int64(1), "one"}, {int64(2), int64(1), "two"}, {int64(3), int64(1), "three"}, {int64(4), int64(1), "four"}}
	changes := [][]row{
		{{int64(1), int64(2), "ONE", "U"}, {int64(2), int64(2), nil, "D"}},
		{{int64(3), int64(0), "late", "U"}, {int64(9), int64(2), "nine", "U"}},
	}
	merged := []row{{int64(1), int64(2), "ONE"}, before[2], before[3], {int64(9), int64(2), "nine"}}
	merge := deltatable.WriteSpec{Mode: deltatable.Merge, Schema: withAction(crashSchema),
		Merge: &deltatable.MergeSpec{Keys: []string{"id"}, Guard: "lsn", Action: "_action"}}
	gone := deltatable.WriteSpec{Mode: deltatable.Delete, Where: where("id", deltalog.OpIn, deltalog.IntValue(1), deltalog.IntValue(3))}
	left := []row{before[1], before[3]}
	more := []row{{int64(5), int64(2), "five"}, {int64(6), int64(2), "six"}}
	return []crashCase{
		{"append", nil, nil, deltatable.WriteSpec{Mode: deltatable.Append, Schema: crashSchema, Txns: []deltatable.Txn{{AppID: "app", Version: 7}}},
			[][]row{more[:1], more[1:]}, append(slices.Clone(before), more...)},
		{"overwrite", nil, nil, deltatable.WriteSpec{Mode: deltatable.Overwrite, Schema: crashSchema, Txns: []deltatable.Txn{{AppID: "app", Version: 7}}},
			[][]row{more}, more},
		{"merge by rewriting", nil, nil, merge, changes, merged},
		{"merge by deletion vectors", map[string]string{"delta.enableDeletionVectors": "true"}, nil, merge, changes, merged},
		{"append to partitions", nil, []string{"v"}, deltatable.WriteSpec{Mode: deltatable.Append, Schema: crashSchema, Txns: []deltatable.Txn{{AppID: "app", Version: 7}}},
			[][]row{more[:1], more[1:]}, append(slices.Clone(before), more...)},
		{"overwrite of partitions", nil, []string{"v"}, deltatable.WriteSpec{Mode: deltatable.Overwrite, Schema: crashSchema, Txns: []deltatable.Txn{{AppID: "app", Version: 7}}},
			[][]row{more}, more},
		{"merge of partitions by rewriting", nil, []string{"lsn"}, merge, changes, merged},
		{"merge of partitions by deletion vectors", map[string]string{"delta.enableDeletionVectors": "true"}, []string{"lsn"}, merge, changes, merged},
		{"delete by rewriting", nil, nil, gone, nil, left},
		{"delete by deletion vectors", map[string]string{"delta.enableDeletionVectors": "true"}, nil, gone, nil, left},
		{"delete from partitions", nil, []string{"lsn"}, gone, nil, left},
	}
}

// crashBase is a table of four rows in two files, one commit before its
// checkpoint, so that the write under test writes one too. The checkpoint is
// not compressed: encoders of zstd would take most of the time.
func crashBase(t *testing.T, c crashCase) (*store.Memory, []string) {
	t.Helper()
	st := memoryStore()
	properties := maps.Clone(c.properties)
	if properties == nil {
		properties = map[string]string{}
	}
	properties["delta.parquet.compression.codec"] = "uncompressed"
	table := createPartitioned(t, st, crashSchema, c.partition, properties, options(memory.DefaultAllocator))
	app := deltatable.WriteSpec{Mode: deltatable.Append, Schema: crashSchema}
	mustWrite(t, memory.DefaultAllocator, table, app, []row{{int64(1), int64(1), "one"}, {int64(2), int64(1), "two"}})
	mustWrite(t, memory.DefaultAllocator, table, app, []row{{int64(3), int64(1), "three"}, {int64(4), int64(1), "four"}})
	for i := range 7 {
		s, err := table.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Alter(t.Context(), deltatable.Changes{Properties: map[string]string{"pipectl.n": fmt.Sprint(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	return st, rowsIn(t, table)
}

// TestKilledAtEveryCall: whenever a process dies during a write, the table has
// all of its rows or none.
func TestKilledAtEveryCall(t *testing.T) {
	t.Parallel()
	for _, c := range crashCases() {
		for _, effect := range []store.Effect{store.Kill, store.KillAfter, store.Fail, store.Ambiguous} {
			t.Run(fmt.Sprintf("%s/effect %d", c.name, effect), func(t *testing.T) {
				t.Parallel()
				base, before := crashBase(t, c)
				after := linesOf(t, crashSchema, c.want)
				outcomes := map[string]int{}
				for n := 1; ; n++ {
					mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
					disk := base.Clone()
					faulty := store.NewFaulty(disk, store.Fault{Nth: n, Effect: effect})
					err := crashWrite(t.Context(), t, faulty, mem, c)
					if left := mem.CurrentAlloc(); left != 0 {
						t.Errorf("call %d: %d bytes of Arrow memory were not released", n, left)
					}
					table, openErr := deltatable.Open(t.Context(), disk, "silver/orders", options(memory.DefaultAllocator))
					if openErr != nil {
						t.Fatalf("call %d: the table cannot be opened: %v", n, openErr)
					}
					got := rowsIn(t, table)
					isOld, isNew := slices.Equal(got, before), slices.Equal(got, after)
					switch {
					case !isOld && !isNew:
						t.Fatalf("call %d, %v: the table has neither the old nor the new rows:\n%s", n, err, strings.Join(got, ""))
					case err == nil && !isNew:
						t.Fatalf("call %d: the write reported success, the table has the old rows", n)
					}
					outcomes[fmt.Sprintf("new=%v err=%v", isNew, err != nil)]++
					// Writing it again, as the next run does, ends with the new rows.
					if _, err := write(t.Context(), t, memory.DefaultAllocator, table, c.spec, c.rows...); err != nil {
						t.Fatalf("call %d: writing again: %v", n, err)
					}
					if got := rowsIn(t, table); !slices.Equal(got, after) {
						t.Fatalf("call %d: after writing again the table has\n%s", n, strings.Join(got, ""))
					}
					if len(faulty.Calls()) < n {
						break // the fault was never reached: all calls have had theirs
					}
				}
				t.Log(outcomes)
				if outcomes["new=false err=true"] == 0 || outcomes["new=true err=false"] == 0 {
					t.Errorf("outcomes %v: the faults did not cover the write", outcomes)
				}
			})
		}
	}
}

// crashWrite does the write of the case on st.
func crashWrite(ctx context.Context, t *testing.T, st store.Store, mem memory.Allocator, c crashCase) error {
	table, err := deltatable.Open(ctx, st, "silver/orders", options(mem))
	if err != nil {
		return err
	}
	_, err = write(ctx, t, mem, table, c.spec, c.rows...)
	return err
}

// TestFailedWriteLeavesNoFiles: a write that fails and is aborted removes its
// data files and deletion vectors.
func TestFailedWriteLeavesNoFiles(t *testing.T) {
	t.Parallel()
	for _, c := range crashCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			disk, _ := crashBase(t, c)
			before := filesIn(t, disk)
			// The commit itself is refused for good.
			faulty := store.NewFaulty(disk, store.Fault{Op: store.OpPutIfAbsent, Path: "_delta_log", Effect: store.Fail, Err: store.ErrPermission})
			if err := crashWrite(t.Context(), t, faulty, memory.DefaultAllocator, c); err == nil {
				t.Fatal("the write succeeded without a commit")
			}
			if after := filesIn(t, disk); !slices.Equal(before, after) {
				t.Errorf("files before:\n%q\nafter:\n%q", before, after)
			}
		})
	}
}
