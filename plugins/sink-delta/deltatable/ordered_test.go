package deltatable_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
	"github.com/pipectl/pipectl/plugins/sink-delta/deltatable"
	"github.com/pipectl/pipectl/plugins/sink-delta/internal/golden"
	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// TestNoRowBeforeWhatTakesItAway: one deletion vector that is damaged or gone
// ends a scan before the first row of any file. An ordered scan ends so for a
// data file, too.
func TestNoRowBeforeWhatTakesItAway(t *testing.T) {
	t.Parallel()
	for name, texts := range brokenFiles {
		for _, spec := range []deltatable.ScanSpec{{}, {Ordered: true}} {
			if !spec.Ordered && !strings.Contains(name, "-dv-") {
				continue
			}
			t.Run(fmt.Sprintf("%s/%v", name, spec.Ordered), func(t *testing.T) {
				t.Parallel()
				opts := options(checkedMemory(t))
				opts.Parallel = 1
				table, err := goldenTable(t.Context(), golden.Load(t, name), opts)
				if err != nil {
					t.Fatal(err)
				}
				s, err := table.Snapshot(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				rows, err := s.Scan(t.Context(), spec)
				if err != nil {
					t.Fatal(err)
				}
				defer rows.Close()
				rec, err := rows.Next(t.Context())
				if rec != nil {
					rec.Release()
					t.Fatalf("%d rows came", rec.NumRows())
				}
				for _, text := range texts {
					if err == nil || errors.Is(err, io.EOF) || !strings.Contains(err.Error(), text) {
						t.Errorf("the error says nothing of %q: %v", text, err)
					}
				}
			})
		}
	}
}

// TestOrderedScan: file after file as the log has them, each time.
func TestOrderedScan(t *testing.T) {
	t.Parallel()
	mem := checkedMemory(t)
	opts := options(mem)
	opts.Parallel = 4
	table := mustCreate(t, memoryStore(), plain, map[string]string{"delta.enableDeletionVectors": "true"}, opts)
	for i := range int64(12) {
		mustWrite(t, mem, table, appendSpec(plain), []row{{i, "kept"}, {100 + i, "gone"}})
	}
	merge := deltatable.WriteSpec{Mode: deltatable.Merge, Schema: withAction(plain), Merge: &deltatable.MergeSpec{Keys: []string{"id"}, Action: "_action"}}
	mustWrite(t, mem, table, merge, []row{{int64(103), nil, "D"}, {int64(107), nil, "D"}})
	s, err := table.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var want []int64
	for add := range s.Log().Files(nil) {
		stats, err := deltalog.ParseStats(add.Stats, s.Log().Schema())
		if err != nil {
			t.Fatal(err)
		}
		i := stats.Columns[0].Min.Int()
		if want = append(want, i); add.DeletionVector == nil {
			want = append(want, 100+i)
		}
	}
	for range 5 {
		rows, err := s.Scan(t.Context(), deltatable.ScanSpec{Columns: []string{"id"}, Ordered: true})
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for {
			rec, err := rows.Next(t.Context())
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, rec.Column(0).(*array.Int64).Int64Values()...)
			rec.Release()
		}
		rows.Close()
		if !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}

// TestVectorsAreReadOnce: what a scan looked at before its first row it does
// not fetch again.
func TestVectorsAreReadOnce(t *testing.T) {
	t.Parallel()
	mem := checkedMemory(t)
	faulty := store.NewFaulty(memoryStore())
	table := mustCreate(t, faulty, plain, map[string]string{"delta.enableDeletionVectors": "true"}, options(mem))
	mustWrite(t, mem, table, appendSpec(plain), []row{{int64(1), "a"}, {int64(2), "b"}, {int64(3), "c"}})
	merge := deltatable.WriteSpec{Mode: deltatable.Merge, Schema: withAction(plain), Merge: &deltatable.MergeSpec{Keys: []string{"id"}, Action: "_action"}}
	mustWrite(t, mem, table, merge, []row{{int64(2), nil, "D"}})
	reads := func(read func()) (n int) {
		from := len(faulty.Calls())
		read()
		for _, c := range faulty.Calls()[from:] {
			if strings.Contains(c.Path, "deletion_vector") {
				n++
			}
		}
		return n
	}
	once := reads(func() {
		if _, err := table.Log().ReadDeletionVector(t.Context(), live(t, table)[0].DeletionVector); err != nil {
			t.Fatal(err)
		}
	})
	n := reads(func() { wantRows(t, table, plain, []row{{int64(1), "a"}, {int64(3), "c"}}) })
	if n != once || once == 0 {
		t.Errorf("the scan made %d calls for the deletion vector, reading it takes %d", n, once)
	}
}
