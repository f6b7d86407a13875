package reconcile_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/core/plugin"
	fake "github.com/pipectl/pipectl/core/plugin/memory"
)

func TestKeysInFlightAccuseNobody(t *testing.T) {
	t.Parallel()
	base := func(t *testing.T) (*world, string) {
		w := orders()
		w.insert(many(1, 20)...)
		w.stream(t, "")
		w.apply(t)
		return w, w.db.Newest().Text
	}
	counts := settings{"sample": 0}
	all := settings{"sample": 1}

	t.Run("a change in bronze that is not applied yet", func(t *testing.T) {
		t.Parallel()
		w, at := base(t)
		w.insert(order(21, "new"))
		w.stream(t, at)
		expect(t, w.check(t, counts), plugin.CheckResult{Outcome: plugin.Undecided, Buckets: 1, InFlight: 1})
	})
	t.Run("a change only in the change table, and equal on the next run", func(t *testing.T) {
		t.Parallel()
		w, at := base(t)
		w.commit(fake.Delete(sourceName, order(4, "note 4")))
		got := w.check(t, counts)
		expect(t, got, plugin.CheckResult{Outcome: plugin.Undecided, Buckets: 1, InFlight: 1})
		if len(got.findings) != 1 || got.findings[0].Kind != "IN_FLIGHT" || got.findings[0].Key != "" {
			t.Errorf("findings %+v", got.findings)
		}
		w.stream(t, at)
		w.apply(t)
		expect(t, w.check(t, counts), plugin.CheckResult{Outcome: plugin.Equal, Buckets: 1, Match: 1})
	})
	t.Run("an update: counts match, its row is in flight", func(t *testing.T) {
		t.Parallel()
		w, _ := base(t)
		w.commit(fake.Update(sourceName, order(4, "note 4"), order(4, "other")))
		got := w.check(t, all)
		expect(t, got, plugin.CheckResult{Outcome: plugin.Undecided, Buckets: 1, Match: 1, Hashed: 1, Failures: map[string]int64{"IN_FLIGHT": 1}})
		if f := got.findings[0]; f.Key != `{"id":4}` || !slices.Equal(f.Columns, []string{"note"}) {
			t.Errorf("finding %+v", f)
		}
	})
	t.Run("a commit seen by the count, after the position was read", func(t *testing.T) {
		t.Parallel()
		w, _ := base(t)
		w.faults.Hook = func(p fake.Point) error {
			if p.Call == "Source.Aggregate" && !p.After && w.db.Newest().Text == w.ledger.Views[silverName].Position.Applied {
				w.insert(order(21, "late"))
			}
			return nil
		}
		expect(t, w.check(t, counts), plugin.CheckResult{Outcome: plugin.Undecided, Buckets: 1, InFlight: 1})
	})
	t.Run("a commit seen by the reading of rows", func(t *testing.T) {
		t.Parallel()
		w, _ := base(t)
		done := false
		w.faults.Hook = func(p fake.Point) error {
			if p.Call == "Source.Read" && !p.After && !done {
				done = true
				w.insert(order(21, "late"))
				w.commit(fake.Delete(sourceName, order(5, "note 5")), fake.Update(sourceName, order(6, "note 6"), order(6, "late")))
			}
			return nil
		}
		expect(t, w.check(t, all), plugin.CheckResult{Outcome: plugin.Undecided, Buckets: 1, Match: 1, Hashed: 1, Failures: map[string]int64{"IN_FLIGHT": 2}})
	})
	t.Run("a damaged key beside one in flight", func(t *testing.T) {
		t.Parallel()
		w, _ := base(t)
		w.commit(fake.Update(sourceName, order(4, "note 4"), order(4, "other")))
		w.apply(t, edited(7, "note", "tampered"), edited(4, "note", "note 4"))
		view := w.ledger.Views[silverName]
		view.Position.Applied = strings.Replace(view.Position.Applied, "00000002", "00000001", 1)
		w.ledger.Views[silverName] = view
		got := w.check(t, all)
		expect(t, got, plugin.CheckResult{Outcome: plugin.Different, Buckets: 1, Match: 1, Hashed: 1, Failures: map[string]int64{"IN_FLIGHT": 1, "RECORD_DIFF": 1}})
	})
	t.Run("moved keys leave an equal bucket equal", func(t *testing.T) {
		t.Parallel()
		w, _ := base(t)
		w.commit(fake.Insert(sourceName, order(30, "x")))
		w.commit(fake.Delete(sourceName, order(30, "x")))
		expect(t, w.check(t, all), plugin.CheckResult{Outcome: plugin.Equal, Buckets: 1, Match: 1, Hashed: 1})
	})
	t.Run("a bucket with damage that nothing moved in differs", func(t *testing.T) {
		t.Parallel()
		w, _ := base(t)
		w.apply(t, without(2))
		w.insert(order(200_000, "far"))
		got := w.check(t, settings{"sample": 0, "bucket_rows": 20})
		expect(t, got, plugin.CheckResult{Outcome: plugin.Different, Buckets: 2, InFlight: 1, Mismatch: 1, Hashed: 1, Failures: map[string]int64{"MISSING_TARGET": 1}})
	})
	t.Run("nothing applied yet: all is in flight", func(t *testing.T) {
		t.Parallel()
		w := orders()
		w.insert(many(1, 5)...)
		w.put(t, silverName, w.silverSchema(), plugin.WriteOverwrite, nil)
		w.ledger.Views[silverName] = plugin.LedgerView{Position: plugin.TargetPosition{Version: new(int64)}}
		expect(t, w.check(t, counts), plugin.CheckResult{Outcome: plugin.Undecided, Buckets: 1, InFlight: 1})
	})
	t.Run("purged changes do not arrive any more", func(t *testing.T) {
		t.Parallel()
		w, _ := base(t)
		w.insert(order(21, "lost"))
		w.db.Purge(sourceName, w.db.Newest())
		w.commit()
		got := w.check(t, counts)
		expect(t, got, plugin.CheckResult{Outcome: plugin.Different, Buckets: 1, Mismatch: 1, Hashed: 1, Failures: map[string]int64{"MISSING_TARGET": 1}})
		if len(got.Diagnostics) == 0 || got.Diagnostics[0].Code != "reconcile.changes_lost" {
			t.Errorf("diagnostics %v", got.Diagnostics)
		}
	})
}

// A snapshot taken for a switch can be stamped above the stream's position:
// the change tables are read from the newest change in bronze all the same.
func TestAWholeSnapshotIsNoPositionOfBronze(t *testing.T) {
	t.Parallel()
	w := orders()
	w.insert(many(1, 20)...)
	w.stream(t, "")
	w.apply(t)
	w.commit(fake.Delete(sourceName, order(4, "note 4")))
	top := w.commit()
	var snapshot []fake.Row
	for _, m := range w.db.Rows(sourceName) {
		m["_start_lsn"], m["_snapshot"], m["_operation"] = top.Text, top.Text, int64(0)
		snapshot = append(snapshot, fake.Row(m))
	}
	w.put(t, bronzeName, w.bronzeSchema(), plugin.WriteAppend, snapshot)
	expect(t, w.check(t, settings{"sample": 0}), plugin.CheckResult{Outcome: plugin.Undecided, Buckets: 1, InFlight: 1})
	// A chunked snapshot does count: its stream began at it.
	for _, r := range snapshot {
		r["_chunk"] = int64(0)
	}
	w.put(t, bronzeName, w.bronzeSchema(), plugin.WriteOverwrite, snapshot)
	expect(t, w.check(t, settings{"sample": 0}), plugin.CheckResult{Outcome: plugin.Different, Buckets: 1, Mismatch: 1, Hashed: 1, Failures: map[string]int64{"MISSING_SOURCE": 1}})
}

func TestANullKeyInFlightIsReportedAsNull(t *testing.T) {
	t.Parallel()
	fields := orders().fields
	w := newWorld([]string{"note", "id"}, fields...)
	src := &scripted{fields: fields, key: w.key, newest: lsnOf(5), rows: []fake.Row{{"id": 1, "amount": "1.00"}, {"id": 2, "note": "b"}}}
	w.source = src
	w.put(t, silverName, w.silverSchema(), plugin.WriteOverwrite, []fake.Row{{"id": 1, "amount": "2.00"}, {"id": 2, "note": "b"}})
	w.ledger.Views[silverName] = plugin.LedgerView{Position: plugin.TargetPosition{Applied: lsnOf(4)}}
	got := w.check(t, settings{"sample": 1})
	expect(t, got, plugin.CheckResult{Outcome: plugin.Different, Buckets: 1, Match: 1, Hashed: 1, Failures: map[string]int64{"RECORD_DIFF": 1}})
	src.log = []logged{{lsn: lsnOf(5), op: 4, row: src.rows[0]}}
	got = w.check(t, settings{"sample": 1})
	expect(t, got, plugin.CheckResult{Outcome: plugin.Undecided, Buckets: 1, Match: 1, Hashed: 1, Failures: map[string]int64{"IN_FLIGHT": 1}})
	if f := got.findings[0]; f.Key != `{"note":null,"id":1}` {
		t.Errorf("finding %+v", f)
	}
}

// The ledger is read before silver is pinned, the source's position before its
// rows, bronze after them.
func TestTheOrderOfReading(t *testing.T) {
	t.Parallel()
	w := orders()
	w.insert(many(1, 20)...)
	w.stream(t, "")
	w.apply(t, without(3))
	w.check(t, settings{"sample": 1})
	var order []string
	for _, p := range w.faults.Points() {
		if name := strings.TrimPrefix(strings.TrimPrefix(p.Call, "Source."), "Tables."); !p.After && !strings.HasSuffix(name, ".Recv") {
			order = append(order, name)
		}
	}
	want := []string{
		"Ledger.ReadLedger", "GetTables", // control, then silver
		"Latest", "Aggregate", "Scan", "Aggregate", // position, bounds, silver's keys, counts
		"GetTables", "Latest", "Scan", // bronze, then the position up to which changes are read
		"Latest", "Read", "GetTables", "Latest", // position, rows, then bronze again
		"Scan", "Scan", // silver's rows, keys in flight
	}
	if !slices.Equal(order, want) {
		t.Errorf("order\n%v, want\n%v", order, want)
	}
}
