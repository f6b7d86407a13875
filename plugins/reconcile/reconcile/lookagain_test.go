package reconcile_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/pipectl/pipectl/core/plugin"
	fake "github.com/pipectl/pipectl/core/plugin/memory"
)

// keysOf are the keys in flight that findings name, sorted.
func keysOf(o outcome) []string {
	keys := o.keys("IN_FLIGHT")
	slices.Sort(keys)
	return keys
}

// A check that is to settle names every key in flight; a later look at those
// alone decides the table, although others have moved meanwhile.
func TestALaterLookDecidesKeysInFlight(t *testing.T) {
	t.Parallel()
	w := orders()
	w.insert(many(1, 50)...)
	w.stream(t, "")
	w.apply(t)
	at := w.db.Newest().Text
	w.commit(fake.Delete(sourceName, order(4, "note 4")))
	w.commit(fake.Update(sourceName, order(40, "note 40"), order(40, "other")))
	w.insert(order(51, "new"))

	w.settle = true
	first := w.check(t, settings{"sample": 1, "bucket_rows": 10})
	if want := []string{`{"id":40}`, `{"id":4}`, `{"id":51}`}; first.Outcome != plugin.Undecided || !slices.Equal(keysOf(first), want) {
		t.Fatalf("first look: %s, keys %v", first.Outcome, keysOf(first))
	}
	w.stream(t, at)
	w.apply(t)
	w.commit(fake.Delete(sourceName, order(7, "note 7"))) // not asked for, so it accuses nobody
	w.keys = keysOf(first)
	again := w.check(t, settings{"sample": 1})
	if again.Outcome != plugin.Equal || len(again.findings) != 0 || again.Buckets != 0 {
		t.Fatalf("later look: %+v %+v", again.CheckResult, again.findings)
	}

	w.commit(fake.Update(sourceName, order(40, "other"), order(40, "third")))
	if still := w.check(t, settings{}); still.Outcome != plugin.Undecided || !slices.Equal(keysOf(still), []string{`{"id":40}`}) {
		t.Fatalf("a key that moved again: %s %v", still.Outcome, keysOf(still))
	}
}

// Damage to a key that was in flight is found by the later look.
func TestALaterLookFindsDamage(t *testing.T) {
	t.Parallel()
	w := orders()
	w.insert(many(1, 20)...)
	w.stream(t, "")
	w.apply(t, without(3), edited(5, "note", "damaged"))
	w.keys = []string{`{"id":3}`, `{"id":5}`, `{"id":6}`}
	got := w.check(t, settings{"report": reportName})
	if got.Outcome != plugin.Different || fmt.Sprint(got.Failures) != "map[MISSING_TARGET:1 RECORD_DIFF:1]" {
		t.Fatalf("%+v", got.CheckResult)
	}
	if n := len(w.lake.Rows(reportName)); n != 2 {
		t.Errorf("%d report rows, want one a key", n)
	}
}

// Many keys are read in few reads, and only what was asked for is compared.
func TestManyKeysAreReadTogether(t *testing.T) {
	t.Parallel()
	w := orders()
	var list []fake.Row
	for id := 1; id <= 2000; id++ {
		list = append(list, order(id*10_000, "note"))
	}
	w.insert(list...)
	w.stream(t, "")
	w.apply(t, without(20_000))
	reads := 0
	w.faults.Hook = func(p fake.Point) error {
		if p.Call == "Source.Read" && !p.After {
			reads++
		}
		return nil
	}
	for id := 1; id <= 1999; id += 2 {
		w.keys = append(w.keys, fmt.Sprintf(`{"id":%d}`, id*10_000))
	}
	if got := w.check(t, settings{}); got.Outcome != plugin.Equal || reads != 256 {
		t.Fatalf("%s after %d reads", got.Outcome, reads)
	}
}

// Keys that cannot be read one by one: everything is looked at.
func TestALaterLookAtOddKeysLooksAtEverything(t *testing.T) {
	t.Parallel()
	w := orders()
	w.insert(many(1, 20)...)
	w.stream(t, "")
	w.apply(t, without(3))
	w.keys = []string{`{"id":null}`}
	if got := w.check(t, settings{}); got.Outcome != plugin.Different || got.Buckets != 1 {
		t.Fatalf("%+v", got.CheckResult)
	}
}

// Where only some ranges of a table were compared, rows in flight elsewhere
// stay undecided: equal ranges are no proof of a count that differs.
func TestSomeRangesDecideNoTableInFlight(t *testing.T) {
	t.Parallel()
	w := newWorld([]string{"code"}, column("code", words))
	src := &scripted{fields: w.fields, key: w.key, newest: lsnOf(9)}
	for i := range 100 {
		src.rows = append(src.rows, fake.Row{"code": fmt.Sprintf("k%02d", i)})
	}
	w.source = src
	w.put(t, silverName, w.silverSchema(), plugin.WriteOverwrite, append(slices.Clone(src.rows), fake.Row{"code": "gone"}))
	src.log = []logged{{lsn: lsnOf(9), op: 1, row: fake.Row{"code": "gone"}}}
	w.ledger.Views[silverName] = plugin.LedgerView{Position: plugin.TargetPosition{Applied: lsnOf(8)}}
	for _, settle := range []bool{false, true} {
		w.settle = settle
		got := w.check(t, settings{"bucket_rows": 10, "sample": 0.1})
		expect(t, got, plugin.CheckResult{Outcome: plugin.Undecided, Buckets: 1, InFlight: 1, Hashed: 1})
		if len(got.findings) != 1 || got.findings[0].Kind != "IN_FLIGHT" {
			t.Errorf("findings %+v", got.findings)
		}
		got = w.check(t, settings{"bucket_rows": 10, "sample": 1})
		expect(t, got, plugin.CheckResult{Outcome: plugin.Undecided, Buckets: 1, InFlight: 1, Hashed: 10, Failures: map[string]int64{"IN_FLIGHT": 1}})
	}
}
