package deltalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pipectl/pipectl/plugins/sink-delta/internal/golden"
	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// daily makes a table with a commit each day, from version 1 to n, a checkpoint every third day and a log of six days.
func daily(tb testing.TB, n int, opts ...Option) *aged {
	tb.Helper()
	clock := newTestClock()
	a := &aged{tb: tb, clock: clock, st: store.NewMemory(clock.Now)}
	a.table = mustCreate(tb, a.st, CreateSpec{Properties: map[string]string{PropCheckpointInterval: "3", PropLogRetention: "interval 6 days"}}, append([]Option{WithClock(clock)}, opts...)...)
	for i := 1; i <= n; i++ {
		a.pass(day)
		a.add(fmt.Sprintf("f%03d.parquet", i))
	}
	return a
}

// copied is the same table in a store of its own, its objects as old.
func (a *aged) copied() *aged {
	a.tb.Helper()
	var at time.Time
	c := &aged{tb: a.tb, clock: newTestClock(), st: store.NewMemory(func() time.Time { return at })}
	for info, err := range a.st.List(context.Background(), "", "") {
		if err != nil {
			a.tb.Fatal(err)
		}
		data, err := a.st.Get(context.Background(), info.Path)
		if err != nil {
			a.tb.Fatal(err)
		}
		at = info.Modified
		if err := c.st.Put(context.Background(), info.Path, data); err != nil {
			a.tb.Fatal(err)
		}
	}
	at = a.clock.Now()
	c.clock.now = at
	c.table = reopen(a.tb, c.st, "orders", c.clock)
	return c
}

// log are the names in the log's folder.
func (a *aged) log() (out []string) {
	a.tb.Helper()
	for info, err := range a.st.List(context.Background(), "orders/_delta_log/", "") {
		if err != nil {
			a.tb.Fatal(err)
		}
		out = append(out, strings.TrimPrefix(info.Path, "orders/_delta_log/"))
	}
	return out
}

// version describes a version as one that opens the table anew has it, "" where it was cleaned up.
func (a *aged) version(v int64) string {
	a.tb.Helper()
	fresh, err := newTable(a.st, "orders", testOptions(WithClock(a.clock)))
	if err != nil {
		a.tb.Fatal(err)
	}
	s, err := fresh.SnapshotAt(context.Background(), v)
	if errors.Is(err, ErrVersionNotFound) {
		return ""
	}
	if err != nil {
		a.tb.Fatalf("version %d: %v", v, err)
	}
	return describe(s)
}

func (a *aged) versions(newest int64) (out []string) {
	a.tb.Helper()
	for v := range newest + 1 {
		out = append(out, a.version(v))
	}
	return out
}

func TestCleanLogKeepsWhatTheRetentionNeeds(t *testing.T) {
	t.Parallel()
	a := daily(t, 14)
	a.put("00000000000000000005.crc", "00000000000000000006.crc", "00000000000000000007.crc", "00000000000000000005.00000000000000000008.compacted.json", "notes.txt", "0-own.json")
	before := a.versions(14)
	n, err := a.table.CleanLog(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// The newest commit not after midnight six days ago is version 7, and the newest checkpoint until then that of 6.
	after := a.versions(14)
	for v := range before {
		want := before[v]
		if v < 6 {
			want = ""
		}
		if after[v] != want {
			t.Errorf("version %d:\n%s, not\n%s", v, after[v], want)
		}
	}
	log := a.log()
	for _, name := range []string{commitName(6), "00000000000000000006.checkpoint.parquet", "00000000000000000006.crc", "00000000000000000007.crc", "notes.txt", "0-own.json"} {
		if !slices.Contains(log, name) {
			t.Errorf("%s is gone", name)
		}
	}
	if log[0] != "0-own.json" || log[1] != "00000000000000000006.checkpoint.parquet" || n != 6+1+1+1 {
		t.Errorf("deleted %d, and what is left begins with %q", n, log[:3])
	}
	for c, err := range a.table.History(t.Context(), -1) {
		if err != nil || c.Version < 6 {
			t.Fatal(c, err)
		}
	}
	if n, err := a.table.CleanLog(t.Context()); n != 0 || err != nil {
		t.Errorf("a second time: %d, %v", n, err)
	}
	if got := a.versions(14); !slices.Equal(got, after) {
		t.Error("a second time changes versions")
	}
}

func (a *aged) put(names ...string) {
	a.tb.Helper()
	for _, name := range names {
		if err := a.st.Put(context.Background(), "orders/_delta_log/"+name, []byte("{}")); err != nil {
			a.tb.Fatal(err)
		}
	}
}

func TestCleanLogLeavesAlone(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]func(a *aged){
		"a table that says so": func(a *aged) {
			tx := a.table.Begin(mustSnapshot(a.tb, a.table))
			if err := tx.SetProperties(map[string]string{PropLogCleanup: "False"}); err != nil {
				a.tb.Fatal(err)
			}
			mustCommit(a.tb, tx)
		},
		"a table that keeps more": func(a *aged) {
			tx := a.table.Begin(mustSnapshot(a.tb, a.table))
			if err := tx.SetProperties(map[string]string{PropLogRetention: "interval 365 days"}); err != nil {
				a.tb.Fatal(err)
			}
			mustCommit(a.tb, tx)
		},
		"a log whose checkpoint cannot be read": func(a *aged) { a.put("00000000000000000006.checkpoint.parquet") },
		"a log whose checkpoint has no commit": func(a *aged) {
			for v := int64(3); v <= 6; v += 3 {
				if err := a.st.Delete(context.Background(), "orders/_delta_log/"+commitName(v)); err != nil {
					a.tb.Fatal(err)
				}
			}
		},
		"a log without checkpoints": func(a *aged) {
			for _, name := range a.log() {
				if strings.Contains(name, "checkpoint") {
					if err := a.st.Delete(context.Background(), "orders/_delta_log/"+name); err != nil {
						a.tb.Fatal(err)
					}
				}
			}
		},
		"a log of before the clock went ahead": func(a *aged) {
			ahead := newTestClock()
			ahead.now = a.clock.Now().Add(10 * 365 * day)
			a.table = reopen(a.tb, a.st, "orders", ahead)
			if n, err := a.table.CleanLog(context.Background()); err != nil || n != 7 {
				a.tb.Fatalf("deleted %d, %v: more than by its own clock", n, err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := daily(t, 14)
			tc(a)
			before := a.log()
			if n, err := a.table.CleanLog(t.Context()); n != 0 || err != nil || !slices.Equal(a.log(), before) {
				t.Errorf("deleted %d, %v", n, err)
			}
		})
	}
}

func reopen(tb testing.TB, st store.Store, path string, c Clock) *Table {
	tb.Helper()
	t, err := Open(context.Background(), st, path, testOptions(WithClock(c))...)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// A cleanup that dies before or after it deletes something leaves all that is to be kept, and no gap; the next one ends it.
func TestCleanLogKilledAtEveryDelete(t *testing.T) {
	t.Parallel()
	first := daily(t, 14)
	whole := first.copied()
	if _, err := whole.table.CleanLog(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, effect := range []store.Effect{store.Kill, store.KillAfter} {
		for nth := 1; ; nth++ {
			a := first.copied()
			kept := []string{a.version(6), a.version(7), a.version(14)}
			dying, err := Open(t.Context(), store.NewFaulty(a.st, store.Fault{Op: store.OpDelete, Nth: nth, Effect: effect}), "orders", testOptions(WithClock(a.clock))...)
			if err == nil {
				_, err = dying.CleanLog(t.Context())
			}
			if got := []string{a.version(6), a.version(7), a.version(14)}; !slices.Equal(got, kept) {
				t.Fatalf("killed at delete %d: a version that is to be kept is another, or gone", nth)
			}
			for _, herr := range a.table.History(t.Context(), -1) {
				if herr != nil {
					t.Fatalf("killed at delete %d: the history: %v", nth, herr)
				}
			}
			if err == nil {
				break
			}
			if _, err := a.table.CleanLog(t.Context()); err != nil || !slices.Equal(a.log(), whole.log()) {
				t.Fatalf("killed at delete %d, then done again: %q, %v", nth, a.log(), err)
			}
		}
	}
}

// Commits clean the log by themselves, and a table that is written to for years has a log of its retention.
func TestCommitsCleanTheLog(t *testing.T) {
	t.Parallel()
	a := daily(t, 61)
	log := a.log()
	if first := log[0]; first < "00000000000000000050" || len(log) > 18 {
		t.Errorf("%d names, from %s on", len(log), first)
	}
	if s := reopen(t, a.st, "orders", a.clock); mustSnapshot(t, s).NumFiles() != 61 {
		t.Error(describe(mustSnapshot(t, s)))
	}
	whole := daily(t, 61, WithoutCheckpoints())
	if n := len(whole.log()); n != 62 {
		t.Errorf("without checkpoints %d names are left", n)
	}
}

// A sidecar that no checkpoint names goes when it is a day older than the newest checkpoint.
func TestCleanLogOfSidecars(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"spark-v2ckpt-json", "spark-v2ckpt-parquet", "spark-v2ckpt-dv"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, clock, g := t.Context(), newTestClock(), golden.Load(t, name)
			st := store.NewMemory(clock.Now)
			const folder = golden.Path + "/_delta_log/_sidecars/"
			put := func(name string, data []byte) {
				if err := st.Put(ctx, name, data); err != nil {
					t.Fatal(err)
				}
			}
			put(folder+"old.parquet", []byte("x"))
			_ = clock.Sleep(ctx, 2*day)
			named := 0
			for info, err := range g.Store.List(ctx, "", "") {
				if err != nil {
					t.Fatal(err)
				}
				data, err := g.Store.Get(ctx, info.Path)
				if err != nil {
					t.Fatal(err)
				}
				put(info.Path, data)
				if strings.HasPrefix(info.Path, folder) {
					named++
				}
			}
			put(folder+"young.parquet", []byte("x"))
			_ = clock.Sleep(ctx, 30*day)
			table := reopen(t, st, golden.Path, clock)
			if n, err := table.cleanSidecars(ctx, mustSnapshot(t, table)); n != 1 || err != nil {
				t.Errorf("deleted %d, %v", n, err)
			}
			left := 0
			for info, err := range st.List(ctx, folder, "") {
				if err != nil || strings.HasSuffix(info.Path, "old.parquet") {
					t.Error(info, err)
				}
				left++
			}
			if left != named+1 || named == 0 {
				t.Errorf("%d are left of %d that are named", left, named)
			}
			again := reopen(t, st, golden.Path, clock)
			if got, want := describe(mustSnapshot(t, again)), describe(mustSnapshot(t, table)); got != want {
				t.Errorf("%s, not %s", got, want)
			}
		})
	}
}
