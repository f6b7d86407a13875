package silver_test

import (
	"context"
	"maps"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	fake "github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/plugins/silver/silver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Whatever the history, wherever a run dies, silver equals the source as of
// bronze's head after the next run that ends, and no verdict is ahead of it.
func TestSilverEqualsTheSource(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		gap := false
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"commit", "commit", "lose", "snapshot", "read again", "apply"}).Draw(t, "step") {
			case "commit":
				changes := w.commit(t)
				if gap {
					continue // changes after a gap reach bronze only after a snapshot
				}
				w.write(t, changes...)
			case "lose":
				if len(w.commit(t)) > 0 {
					gap = true
				}
			case "snapshot":
				w.lsn++
				w.write(t, w.snapshotRows()...)
				if len(w.state) == 0 || rapid.Bool().Draw(t, "event") {
					view := w.ledger.Views[silverName]
					view.Snapshot = lsn(w.lsn)
					w.ledger.Views[silverName] = view
				}
				gap = false
			case "read again":
				// Bronze is emptied after silver was built, and the source has come no
				// further: the position is that of the rows before, the values are not.
				if gap || len(w.state) == 0 {
					continue
				}
				if rapid.Bool().Draw(t, "at a snapshot") {
					w.lsn++
					w.write(t, w.snapshotRows()...)
				}
				w.applyUntilItEnds(t)
				for id := range w.state {
					w.state[id] += rapid.SampledFrom([]string{"", "!"}).Draw(t, "changed")
				}
				if rapid.Bool().Draw(t, "in another table") {
					w.anew()
				} else {
					w.empty(t)
				}
				w.write(t, w.snapshotRows()...)
			case "apply":
				if gap {
					continue
				}
				w.applyUntilItEnds(t)
				if got := w.silver(); w.lake.Rows(bronzeName) != nil && !maps.Equal(got, w.state) {
					t.Fatalf("silver %v, source %v", got, w.state)
				}
			}
		}
	})
}

// A snapshot that was read again while the source stood still has the position
// of the one before. It is told by its number, and only once.
func TestASnapshotThatWasReadAgainAtItsPositionCounts(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.state[1], w.state[2] = "a", "b"
	w.snapshot(t)
	apply := func(rebuilt bool, want map[int32]string) {
		t.Helper()
		tables := w.lake.Open()
		defer tables.Close()
		if plan, err := w.planOver(t, tables); err != nil || strings.HasPrefix(plan.Pending, "changes") == rebuilt && plan.Pending != "" {
			t.Fatalf("planned %q, %v", plan.Pending, err)
		}
		if result, err := w.apply(&fake.Faults{}); err != nil || result.Rebuilt != rebuilt {
			t.Fatalf("%+v, %v", result, err)
		}
		if got := w.silver(); !maps.Equal(got, want) {
			t.Fatalf("silver %v, want %v", got, want)
		}
	}
	before := maps.Clone(w.state)
	apply(true, before)
	apply(false, before)
	w.state[1] = "with a value that was left out"
	delete(w.state, 2)
	w.empty(t)
	apply(false, before) // bronze without rows takes nothing from silver
	w.write(t, w.snapshotRows()...)
	apply(true, w.state)
	apply(false, w.state)
	w.change(t, 1, "c")
	apply(false, w.state)
	apply(false, w.state)
}

// A bronze that was made anew counts its snapshots from the start again. Its first
// is not one that silver has had of another table; nor is that of a bronze which
// an older release has written read again because a newer one looks at it.
func TestASnapshotOfABronzeThatWasMadeAnewCounts(t *testing.T) {
	t.Parallel()
	for name, older := range map[string]bool{"": false, "first written by an older release": true} {
		w := newWorld()
		w.older = older
		w.state[1], w.state[2] = "a", "b"
		w.snapshot(t)
		apply := func(rebuilt bool) {
			t.Helper()
			if result, err := w.apply(&fake.Faults{}); err != nil || result.Rebuilt != rebuilt {
				t.Fatalf("%s: %+v, %v", name, result, err)
			}
			if got := w.silver(); !maps.Equal(got, w.state) {
				t.Fatalf("%s: silver %v, want %v", name, got, w.state)
			}
		}
		apply(true)
		apply(false)
		w.older = false
		for _, value := range []string{"corrected", "and once more"} {
			w.anew()
			w.state[1] = value
			delete(w.state, 2)
			w.write(t, w.snapshotRows()...)
			apply(true)
			apply(false)
		}
		w.change(t, 1, "c")
		apply(false)
		w.snapshot(t)
		apply(true)
		apply(false)
	}
}

func TestARunWithoutWorkCommitsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.lsn = 5
	w.write(t, logRow{lsn: 5, command: 1, op: plugin.OpInsert, id: 1, note: "a", chunk: -1})
	for i, want := range []bool{true, false} {
		result, err := w.apply(&fake.Faults{})
		if err != nil {
			t.Fatal(err)
		}
		if result.Rebuilt != want || result.Position.Applied != lsn(5) {
			t.Fatalf("run %d: %+v", i, result)
		}
	}
	writes := 0
	for _, c := range w.lake.History(silverName) {
		if c.DataChange {
			writes++
		}
	}
	if writes != 1 {
		t.Fatalf("%d commits of rows in silver, want 1", writes)
	}
}

func TestAnEmptiedTablesSnapshotEmptiesSilver(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.lsn = 5
	w.write(t, logRow{lsn: 5, command: 1, op: plugin.OpInsert, id: 1, note: "a", chunk: -1})
	if _, err := w.apply(&fake.Faults{}); err != nil {
		t.Fatal(err)
	}
	// The snapshot left no row in bronze; only its event shows it.
	view := w.ledger.Views[silverName]
	view.Snapshot = lsn(9)
	w.ledger.Views[silverName] = view
	result, err := w.apply(&fake.Faults{})
	if err != nil {
		t.Fatal(err)
	}
	if len(w.silver()) != 0 || result.Deleted != 1 || result.Position.RebuiltFrom != lsn(9) {
		t.Fatalf("silver %v after %+v", w.silver(), result)
	}
}

func TestAnOpenChunkedSnapshotHoldsTheVerdict(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.lsn = 5
	w.write(t, logRow{lsn: 5, command: 1, op: plugin.OpInsert, id: 1, note: "a", chunk: -1})
	view := w.ledger.Views[silverName]
	view.Open = &plugin.OpenSnapshot{Snapshot: lsn(7), Keys: []string{"id"}}
	w.ledger.Views[silverName] = view
	result, err := w.apply(&fake.Faults{})
	if err != nil {
		t.Fatal(err)
	}
	if result.Verdict != nil || result.Position.Open != lsn(7) || result.Position.Wave != nil {
		t.Fatalf("%+v", result)
	}
	w.ledger.ChunkRows = map[string][]plugin.ChunkRow{lsn(7): {{Index: 0, Wave: 0, Stamp: lsn(8)}}}
	if _, err := w.apply(&fake.Faults{}); !diag.Is(err, diag.KindUnsupported) {
		t.Fatalf("error %v", err)
	}
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	insert := logRow{lsn: 5, command: 1, op: plugin.OpInsert, id: 1, note: "a", chunk: -1}
	for name, tc := range map[string]struct {
		before func(t *testing.T, w *world)
		req    func(*plugin.SilverRequest)
		code   string
		says   string
	}{
		"rows of a foreign instance are never skipped": {
			before: func(t *testing.T, w *world) {
				foreign := insert
				foreign.instance = "dbo_lines"
				w.write(t, insert, foreign)
			}, code: "silver.unknown_instance", says: `"dbo_lines"`},
		"a key that is not captured": {
			before: func(t *testing.T, w *world) { w.write(t, insert) },
			req:    func(r *plugin.SilverRequest) { r.Key = []string{"ID"} },
			code:   "silver.key_not_captured", says: `"ID"`},
		"no key at all": {
			before: func(t *testing.T, w *world) { w.write(t, insert) },
			req:    func(r *plugin.SilverRequest) { r.Key = nil },
			code:   "silver.no_key", says: "no unique index"},
		"chunk rows the facts do not know": {
			before: func(t *testing.T, w *world) {
				w.write(t, insert, logRow{lsn: 9, op: plugin.OpSnapshot, id: 2, snapshot: 8, chunk: 0})
			}, code: "silver.chunks_unknown", says: "chunked snapshot"},
		"chunk rows newer than the snapshot that the facts know": {
			before: func(t *testing.T, w *world) {
				w.write(t, insert, logRow{lsn: 9, op: plugin.OpSnapshot, id: 2, snapshot: 8, chunk: 0})
				view := w.ledger.Views[silverName]
				view.Snapshot = lsn(5)
				w.ledger.Views[silverName] = view
			}, code: "silver.chunks_unknown", says: "chunked snapshot"},
		"silver is gone but was applied to": {
			before: func(t *testing.T, w *world) {
				w.write(t, insert)
				if _, err := w.apply(&fake.Faults{}); err != nil {
					t.Fatal(err)
				}
				w.lake.DropTable(silverName)
			}, code: "silver.table_gone", says: lsn(5)},
		"bronze has a wider type": {
			before: func(t *testing.T, w *world) {
				w.write(t, insert)
				narrow := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int16, Nullable: true}}, nil)
				tables := w.lake.Open()
				defer tables.Close()
				if _, err := tables.ApplyTable(context.Background(), plugin.ApplyTableRequest{Spec: plugin.TableSpec{Table: plugin.TableRef{Name: silverName}, Schema: narrow, Layout: plugin.LayoutMerge}}); err != nil {
					t.Fatal(err)
				}
			}, code: "silver.type_changed", says: `Column "id" is int32 in bronze and int16`},
		"the target is a change log": {
			before: func(t *testing.T, w *world) {
				w.write(t, insert)
				w.makeChangeLog(t, silverName)
			}, code: "silver.target_is_bronze", says: "silver.orders holds changes, not current rows"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			w.lsn = 9
			tc.before(t, w)
			req := request()
			if tc.req != nil {
				tc.req(&req)
			}
			session, err := silver.New("test").OpenSilver(context.Background(), plugin.OpenRequest{Component: "current"})
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			tables := w.lake.Open()
			defer tables.Close()
			_, err = session.RunSilver(context.Background(), req, plugin.Host{Tables: tables, Ledger: w.ledger}, nil)
			list := diag.FromError(err)
			if len(list) != 1 || list[0].Code != tc.code || !strings.Contains(err.Error(), tc.says) || list[0].Detail == "" {
				t.Fatalf("error %v (%+v)", err, list)
			}
		})
	}
}

// makeChangeLog makes a table as a stream makes it.
func (w *world) makeChangeLog(t *testing.T, name string) {
	t.Helper()
	tables := w.lake.Open()
	defer tables.Close()
	if _, err := tables.ApplyTable(t.Context(), plugin.ApplyTableRequest{Spec: plugin.TableSpec{Table: plugin.TableRef{Name: name}, Schema: bronzeSchema}}); err != nil {
		t.Fatal(err)
	}
}

// A target that two names lead to bronze is refused by the plan, too, and
// nothing is added to it.
func TestSilverIsNeverPlannedIntoAChangeLog(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.makeChangeLog(t, silverName)
	session, err := silver.New("test").OpenSilver(t.Context(), plugin.OpenRequest{Component: "current"})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	tables := w.lake.Open()
	defer tables.Close()
	_, err = session.PlanSilver(t.Context(), request(), plugin.Host{Tables: tables, Ledger: w.ledger})
	if list := diag.FromError(err); len(list) != 1 || list[0].Code != "silver.target_is_bronze" {
		t.Fatalf("error %v", err)
	}
}

func TestNoBronzeIsAWarningAndNoTable(t *testing.T) {
	t.Parallel()
	w := newWorld()
	result, err := w.apply(&fake.Faults{})
	if err != nil || result.BronzeFound || len(result.Diagnostics) != 1 || w.lake.Rows(silverName) != nil {
		t.Fatalf("%+v %v", result, err)
	}
}

func TestRowsOfEveryInstanceOfTheTableApply(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.lsn = 6
	w.write(t, logRow{instance: "DBO_Orders", lsn: 5, command: 1, op: plugin.OpInsert, id: 1, note: "old", chunk: -1},
		logRow{instance: "dbo_orders_v2", lsn: 6, command: 1, op: plugin.OpUpdateAfter, id: 1, note: "new", chunk: -1})
	if _, err := w.apply(&fake.Faults{}); err != nil {
		t.Fatal(err)
	}
	if got := w.silver(); got[1] != "new" || len(got) != 1 {
		t.Fatalf("silver %v", got)
	}
}
