package deltatable_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"golang.org/x/sync/errgroup"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
	"github.com/pipectl/pipectl/plugins/sink-delta/deltatable"
	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// started is a write with one part, which only waits for its commit.
type started struct {
	*deltatable.Write
	token string
}

func start(t failer, mem memory.Allocator, table *deltatable.Table, spec deltatable.WriteSpec, rows []row) started {
	t.Helper()
	w, err := table.Begin(context.Background(), spec)
	if err != nil {
		t.Fatal(err)
	}
	part, err := w.Part(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	rec := batchOf(t, mem, spec.Schema, rows)
	defer rec.Release()
	if err := part.Write(rec); err != nil {
		t.Fatal(err)
	}
	done, err := part.Close()
	if err != nil {
		t.Fatal(err)
	}
	return started{w, done.Token}
}

func (s started) commit() (deltatable.Result, error) {
	return s.Commit(context.Background(), []string{s.token}, "")
}

// TestAnOverwriteReplacesWhatItSaw: rows that came after an overwrite was begun
// were seen by nobody who wanted them gone, so it is a conflict. Commits that
// changed no rows are none.
func TestAnOverwriteReplacesWhatItSaw(t *testing.T) {
	t.Parallel()
	over := deltatable.WriteSpec{Mode: deltatable.Overwrite, Schema: plain}
	first := []row{{int64(1), "first"}}
	ours := []row{{int64(2), "ours"}}
	theirs := []row{{int64(3), "theirs"}}
	for name, c := range map[string]struct {
		other    func(t failer, table *deltatable.Table)
		conflict bool
		want     []row
	}{
		"another overwrite": {func(t failer, table *deltatable.Table) {
			mustWrite(t, memory.DefaultAllocator, table, over, theirs)
		}, true, theirs},
		"an append": {func(t failer, table *deltatable.Table) {
			mustWrite(t, memory.DefaultAllocator, table, appendSpec(plain), theirs)
		}, true, append(slices.Clone(first), theirs...)},
		"a property": {func(t failer, table *deltatable.Table) {
			s, err := table.Snapshot(context.Background())
			if err == nil {
				_, _, err = s.Alter(context.Background(), deltatable.Changes{Properties: map[string]string{"pipectl.n": "1"}})
			}
			if err != nil {
				t.Fatal(err)
			}
		}, false, ours},
	} {
		for _, late := range []bool{false, true} { // between begin and commit; within the commit
			t.Run(fmt.Sprintf("%s/%v", name, late), func(t *testing.T) {
				t.Parallel()
				mem := checkedMemory(t)
				disk := memoryStore()
				faulty := store.NewFaulty(disk)
				table := mustCreate(t, faulty, plain, nil, options(mem))
				mustWrite(t, mem, table, appendSpec(plain), first)
				other, err := deltatable.Open(t.Context(), disk, "silver/orders", options(memory.DefaultAllocator))
				if err != nil {
					t.Fatal(err)
				}
				w := start(t, mem, table, over, ours)
				done := false
				if late {
					faulty.Before(func(call store.Call) {
						if call.Op == store.OpPutIfAbsent && strings.HasSuffix(call.Path, "2.json") && !done {
							done = true
							c.other(t, other)
						}
					})
				} else {
					c.other(t, other)
				}
				_, err = w.commit()
				if late && !done {
					t.Fatal("nothing came between")
				}
				if errors.Is(err, deltalog.ErrConflict) != c.conflict || (err != nil) != c.conflict {
					t.Errorf("error %v, want a conflict: %v", err, c.conflict)
				}
				wantRows(t, table, plain, c.want)
				if err := w.Abort(t.Context()); err != nil {
					t.Fatal(err)
				}
				if files := filesIn(t, disk); c.conflict && len(files) != 2 { // the first and theirs
					t.Errorf("data files %q", files)
				}
			})
		}
	}
}

// TestOfOverwritesAtOnceOneWins: eight writers that saw the same rows.
func TestOfOverwritesAtOnceOneWins(t *testing.T) {
	t.Parallel()
	mem := checkedMemory(t)
	st := memoryStore()
	mustWrite(t, mem, mustCreate(t, st, plain, nil, options(mem)), appendSpec(plain), []row{{int64(0), "old"}})
	var writes [8]started
	for i := range writes {
		table, err := deltatable.Open(t.Context(), st, "silver/orders", options(mem))
		if err != nil {
			t.Fatal(err)
		}
		writes[i] = start(t, mem, table, deltatable.WriteSpec{Mode: deltatable.Overwrite, Schema: plain}, []row{{int64(i), "new"}})
	}
	var outcomes [len(writes)]error
	var g errgroup.Group
	for i, w := range writes {
		g.Go(func() error {
			_, outcomes[i] = w.commit()
			return nil
		})
	}
	g.Wait()
	winner := -1
	for i, err := range outcomes {
		switch {
		case err == nil && winner < 0:
			winner = i
		case err == nil:
			t.Errorf("writers %d and %d both overwrote what was there", winner, i)
		case !errors.Is(err, deltalog.ErrConflict):
			t.Errorf("writer %d: %v", i, err)
		}
	}
	if winner < 0 {
		t.Fatal("nobody won")
	}
	table, err := deltatable.Open(t.Context(), st, "silver/orders", options(mem))
	if err != nil {
		t.Fatal(err)
	}
	wantRows(t, table, plain, []row{{int64(winner), "new"}})
}
