package deltalog

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

const day = 24 * time.Hour

// aged is a table in memory whose objects are dated by the test's clock.
type aged struct {
	tb    testing.TB
	clock *testClock
	st    store.Store
	table *Table
}

func newAged(tb testing.TB, wrap func(store.Store) store.Store) *aged {
	tb.Helper()
	clock := newTestClock()
	a := &aged{tb: tb, clock: clock, st: store.NewMemory(clock.Now)}
	if wrap != nil {
		a.st = wrap(a.st)
	}
	a.table = mustCreate(tb, a.st, CreateSpec{Properties: map[string]string{PropDeletionVectors: "true"}}, WithClock(clock))
	return a
}

// pass lets time pass.
func (a *aged) pass(d time.Duration) { _ = a.clock.Sleep(context.Background(), d) }

// file writes an object that a data file or a vector would be.
func (a *aged) file(name string) {
	a.tb.Helper()
	if err := a.st.Put(context.Background(), "orders/"+name, []byte(name)); err != nil {
		a.tb.Fatal(err)
	}
}

// add writes a file and commits it.
func (a *aged) add(names ...string) {
	a.tb.Helper()
	tx := a.table.Begin(mustSnapshot(a.tb, a.table))
	for _, n := range names {
		a.file(n)
		tx.AddFile(testFile(EncodePath(n), 1, 10))
	}
	mustCommit(a.tb, tx)
}

func (a *aged) live(name string) *Add {
	a.tb.Helper()
	for f := range mustSnapshot(a.tb, a.table).Files(nil) {
		if f.Path == EncodePath(name) {
			return f
		}
	}
	a.tb.Fatalf("%s is not in the table", name)
	return nil
}

func (a *aged) remove(name string) {
	a.tb.Helper()
	f := a.live(name)
	tx := a.table.Begin(mustSnapshot(a.tb, a.table))
	tx.RemoveFile(f, true)
	mustCommit(a.tb, tx)
}

// vector gives a file a new deletion vector, whose file's name it returns.
func (a *aged) vector(name string, rows int64) string {
	a.tb.Helper()
	one := int32(1)
	dv := &DeletionVector{StorageType: "u", PathOrInlineDV: encodeZ85([]byte(fmt.Sprintf("%-16.16s", fmt.Sprint(name, rows)))), Offset: &one, SizeInBytes: 30, Cardinality: rows}
	file, err := dv.file()
	if err != nil {
		a.tb.Fatal(err)
	}
	a.file(file)
	tx := a.table.Begin(mustSnapshot(a.tb, a.table))
	tx.ReplaceDeletionVector(a.live(name), dv)
	mustCommit(a.tb, tx)
	return file
}

// names are all objects in the table's folder that are not its log.
func (a *aged) names() (out []string) {
	a.tb.Helper()
	for info, err := range a.st.List(context.Background(), "orders/", "") {
		if err != nil {
			a.tb.Fatal(err)
		}
		if name := strings.TrimPrefix(info.Path, "orders/"); !strings.HasPrefix(name, logDir+"/") {
			out = append(out, name)
		}
	}
	return out
}

func (a *aged) vacuum(o VacuumOptions) []string {
	a.tb.Helper()
	var deleted []string
	o.Each = func(info store.Info) error {
		deleted = append(deleted, strings.TrimPrefix(info.Path, "orders/"))
		return nil
	}
	r, err := a.table.Vacuum(context.Background(), o)
	if err != nil {
		a.tb.Fatal(err)
	}
	if r.Deleted != int64(len(deleted)) || (r.Bytes > 0) != (r.Deleted > 0) {
		a.tb.Errorf("%+v, and %d were told", r, len(deleted))
	}
	return deleted
}

// history makes a table in which each kind of object is there, old enough to be deleted and not.
func history(tb testing.TB, wrap func(store.Store) store.Store) (a *aged, garbage []string) {
	a = newAged(tb, wrap)
	a.add("a.parquet", "b.parquet", "c d.parquet", "day=1/e.parquet")
	first := a.vector("b.parquet", 1)
	for _, name := range []string{"left.parquet", "_day=1/left.parquet", "_other/x", ".hidden", "day=1/.part.tmp", "_change_data/x.parquet", "_delta_log_backup"} {
		a.file(name)
	}
	a.pass(day)
	a.remove("a.parquet")
	a.vector("b.parquet", 2)
	a.pass(day)
	a.remove("c d.parquet")
	a.vector("b.parquet", 3)
	a.pass(6*day + 12*time.Hour) // the second day is not a week ago
	a.file("young.parquet")
	garbage = []string{"_day=1/left.parquet", "a.parquet", first, "left.parquet"}
	slices.Sort(garbage)
	return a, garbage
}

func TestVacuumDeletesWhatNoVersionNeeds(t *testing.T) {
	t.Parallel()
	a, garbage := history(t, nil)
	before := a.names()
	dry := a.vacuum(VacuumOptions{DryRun: true})
	slices.Sort(dry)
	if !slices.Equal(dry, garbage) || !slices.Equal(a.names(), before) {
		t.Fatalf("a dry run names\n%q, not\n%q, and leaves\n%q of\n%q", dry, garbage, a.names(), before)
	}
	deleted := a.vacuum(VacuumOptions{})
	slices.Sort(deleted)
	want := slices.DeleteFunc(before, func(n string) bool { return slices.Contains(garbage, n) })
	if !slices.Equal(deleted, garbage) || !slices.Equal(a.names(), want) {
		t.Fatalf("deletes\n%q, not\n%q, and leaves\n%q, not\n%q", deleted, garbage, a.names(), want)
	}
	if again := a.vacuum(VacuumOptions{}); again != nil {
		t.Errorf("a second one deletes %q", again)
	}
	a.pass(8 * day)
	if later := a.vacuum(VacuumOptions{}); len(later) != 3 || !slices.Contains(later, "young.parquet") || !slices.Contains(later, "c d.parquet") {
		t.Errorf("a week later: %q", later)
	}
	for _, name := range []string{"b.parquet", "day=1/e.parquet"} {
		if !slices.Contains(a.names(), name) {
			t.Errorf("%s is gone", name)
		}
	}
}

func TestARetentionOfItsOwn(t *testing.T) {
	t.Parallel()
	a, _ := history(t, nil)
	ctx := t.Context()
	if _, err := a.table.Vacuum(ctx, VacuumOptions{Retention: time.Hour}); !errors.Is(err, ErrRetention) || !strings.Contains(err.Error(), PropDeletedFileRetention) {
		t.Errorf("a shorter one: %v", err)
	}
	if _, err := a.table.Vacuum(ctx, VacuumOptions{Retention: -time.Hour, Force: true}); !errors.Is(err, ErrRetention) {
		t.Errorf("a negative one: %v", err)
	}
	// What was removed within a longer one is needed, though no checkpoint remembers it.
	a.pass(12 * day)
	a.remove("day=1/e.parquet")
	a.pass(12 * day)
	if err := a.table.Checkpoint(ctx, mustSnapshot(t, a.table)); err != nil {
		t.Fatal(err)
	}
	again, err := Open(ctx, a.st, "orders", testOptions(WithClock(a.clock))...)
	if err != nil {
		t.Fatal(err)
	}
	a.table = again
	if got := a.vacuum(VacuumOptions{Retention: 30 * day}); slices.Contains(got, "day=1/e.parquet") || !slices.Contains(got, "a.parquet") {
		t.Errorf("a longer one deletes %q", got)
	}
	a.pass(time.Hour)
	if got := a.vacuum(VacuumOptions{Retention: time.Minute, Force: true}); !slices.Contains(got, "young.parquet") || slices.Contains(got, "b.parquet") {
		t.Errorf("a minute, forced, deletes %q", got)
	}
}

// A table that this package may not write to is not vacuumed either: a feature that it does not know may have files
// of its own (Delta protocol, vacuumProtocolCheck).
func TestVacuumOfATableThatMayNotBeWritten(t *testing.T) {
	t.Parallel()
	a := newAged(t, nil)
	p := *mustSnapshot(t, a.table).protocol
	p.WriterFeatures = append(slices.Clone(p.WriterFeatures), "notYetInvented")
	line, err := marshal(Action{Protocol: &p})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.st.Put(t.Context(), "orders/_delta_log/"+commitName(1), line); err != nil {
		t.Fatal(err)
	}
	var unsupported *UnsupportedError
	if _, err := a.table.Vacuum(t.Context(), VacuumOptions{}); !errors.As(err, &unsupported) || !strings.Contains(err.Error(), "notYetInvented") {
		t.Errorf("%v", err)
	}
}

// hooked calls after a listing of the table's folder.
type hooked struct {
	store.Store
	listed func()
}

func (h *hooked) List(ctx context.Context, prefix, after string) iter.Seq2[store.Info, error] {
	return func(yield func(store.Info, error) bool) {
		for info, err := range h.Store.List(ctx, prefix, after) {
			if !yield(info, err) {
				return
			}
		}
		if f := h.listed; f != nil && prefix == "orders/" {
			h.listed = nil
			f()
		}
	}
}

// A file that another writer brings back meanwhile, as a restored version does, stays.
func TestVacuumBesideARestore(t *testing.T) {
	t.Parallel()
	h := &hooked{}
	a, _ := history(t, func(s store.Store) store.Store { h.Store = s; return h })
	h.listed = func() {
		tx := a.table.Begin(mustSnapshot(t, a.table))
		tx.AddFile(testFile("a.parquet", 1, 10))
		mustCommit(t, tx)
	}
	if got := a.vacuum(VacuumOptions{}); slices.Contains(got, "a.parquet") || !slices.Contains(got, "left.parquet") {
		t.Errorf("deletes %q", got)
	}
}

// Of two clocks that are apart the one behind counts.
func TestVacuumWhenTheClockHereIsAhead(t *testing.T) {
	t.Parallel()
	a, _ := history(t, nil)
	ahead := newTestClock()
	ahead.now = a.clock.Now().Add(365 * day)
	here, err := Open(t.Context(), a.st, "orders", testOptions(WithClock(ahead))...)
	if err != nil {
		t.Fatal(err)
	}
	a.table = here
	got := a.vacuum(VacuumOptions{})
	for _, needed := range []string{"young.parquet", "b.parquet"} {
		if slices.Contains(got, needed) {
			t.Errorf("deletes %s: %q", needed, got)
		}
	}
}

// A vacuum that dies at any call of the store leaves every version whole that it was to leave, and the next one ends it.
func TestVacuumKilledAtEveryCall(t *testing.T) {
	t.Parallel()
	for nth := 1; ; nth++ {
		a, garbage := history(t, nil)
		want := slices.DeleteFunc(a.names(), func(n string) bool { return slices.Contains(garbage, n) })
		dying, err := Open(t.Context(), store.NewFaulty(a.st, store.Fault{Nth: nth, Effect: store.Kill}), "orders", testOptions(WithClock(a.clock))...)
		if err == nil {
			_, err = dying.Vacuum(t.Context(), VacuumOptions{})
		}
		for _, n := range want {
			if !slices.Contains(a.names(), n) {
				t.Fatalf("killed at call %d: %s is gone", nth, n)
			}
		}
		if err == nil {
			return // the call after the last one
		}
		a.vacuum(VacuumOptions{})
		if got := slices.DeleteFunc(a.names(), func(n string) bool { return strings.HasPrefix(n, "_vacuum-") }); !slices.Equal(got, want) {
			t.Fatalf("killed at call %d, then done again: %q, not %q", nth, got, want)
		}
	}
}

// Random histories: no version that was the newest after the cutoff lacks a file, and nothing else that is old is left.
func TestVacuumLeavesEveryYoungVersionWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		a := newAged(t, nil)
		var live []string
		type version struct {
			files []string
			until time.Time // the newest one until then; zero: it still is
		}
		versions := []version{{}}
		commit := func() {
			versions[len(versions)-1].until = a.clock.Now()
			versions = append(versions, version{files: slices.Clone(live)})
		}
		written := map[string]time.Time{}
		for i := range rapid.IntRange(1, 15).Draw(rt, "steps") {
			name := fmt.Sprintf("f%d.parquet", i)
			switch rapid.IntRange(0, 4).Draw(rt, "step") {
			case 0, 1:
				written[name] = a.clock.Now()
				a.add(name)
				live = append(live, name)
				commit()
			case 2:
				if len(live) > 0 {
					k := rapid.IntRange(0, len(live)-1).Draw(rt, "which")
					a.remove(live[k])
					live = slices.Delete(slices.Clone(live), k, k+1)
					commit()
				}
			case 3:
				written[name] = a.clock.Now()
				a.file(name)
			case 4:
				a.pass(time.Duration(rapid.IntRange(1, 100).Draw(rt, "hours")) * time.Hour)
			}
		}
		a.vacuum(VacuumOptions{})
		cutoff := a.clock.Now().Add(-7 * day)
		left := a.names()
		for v, one := range versions {
			if !one.until.IsZero() && !one.until.After(cutoff) {
				continue
			}
			for _, f := range one.files {
				if !slices.Contains(left, f) {
					rt.Fatalf("version %d, the newest until %s, lacks %s; the cutoff is %s", v, one.until, f, cutoff)
				}
			}
		}
		for _, name := range left {
			needed := slices.ContainsFunc(versions, func(v version) bool {
				return slices.Contains(v.files, name) && (v.until.IsZero() || v.until.After(cutoff.Add(-time.Second)))
			})
			if !needed && written[name].Before(cutoff.Add(-time.Second)) {
				rt.Fatalf("%s of %s is left; the cutoff is %s", name, written[name], cutoff)
			}
		}
	})
}
