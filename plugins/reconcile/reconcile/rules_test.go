package reconcile_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	fake "github.com/pipectl/pipectl/core/plugin/memory"
)

func TestEqualTablesAreEqual(t *testing.T) {
	t.Parallel()
	w := orders()
	w.insert(many(1, 100)...)
	w.stream(t, "")
	w.apply(t)
	got := w.check(t, settings{"bucket_rows": 30, "sample": 1, "report": reportName})
	expect(t, got, plugin.CheckResult{Outcome: plugin.Equal, Buckets: 4, Match: 4, Hashed: 4})
	if got.SourceRows != 100 || got.SilverRows != 100 || len(got.findings) != 0 {
		t.Errorf("%+v", got)
	}
	if n := len(w.lake.Rows(reportName)); n != 4 {
		t.Errorf("%d report rows", n)
	}
}

func TestADamagedSilverIsExplained(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		damage  func([]fake.Row) []fake.Row
		rows    int // per bucket, 30 when 0
		sample  float64
		want    plugin.CheckResult
		kind    string
		key     string
		columns []string
	}{
		"a key only at the source is missing in the target": {
			damage: without(17), kind: "MISSING_TARGET", key: `{"id":17}`,
			want: plugin.CheckResult{Outcome: plugin.Different, Buckets: 4, Match: 3, Mismatch: 1, Hashed: 1, Failures: map[string]int64{"MISSING_TARGET": 1}},
		},
		"a key only in silver beyond the source's greatest has a bucket of its own": {
			rows: 25, damage: with(fake.Row{"id": int64(1000), "note": "x", "_start_lsn": "0x1"}), kind: "MISSING_SOURCE", key: `{"id":1000}`,
			want: plugin.CheckResult{Outcome: plugin.Different, Buckets: 5, Match: 4, Mismatch: 1, Hashed: 1, Failures: map[string]int64{"MISSING_SOURCE": 1}},
		},
		"a key only in silver below the source's smallest": {
			damage: with(fake.Row{"id": int64(-5000), "note": "x"}), kind: "MISSING_SOURCE", key: `{"id":-5000}`,
			want: plugin.CheckResult{Outcome: plugin.Different, Buckets: 4, Match: 3, Mismatch: 1, Hashed: 1, Failures: map[string]int64{"MISSING_SOURCE": 1}},
		},
		"another value is not seen by counts": {
			damage: edited(17, "note", "tampered"),
			want:   plugin.CheckResult{Outcome: plugin.Equal, Buckets: 4, Match: 4},
		},
		"another value is found when its bucket is sampled": {
			damage: edited(17, "note", "tampered"), sample: 1, kind: "RECORD_DIFF", key: `{"id":17}`, columns: []string{"note"},
			want: plugin.CheckResult{Outcome: plugin.Different, Buckets: 4, Match: 4, Hashed: 4, Failures: map[string]int64{"RECORD_DIFF": 1}},
		},
		"NULL is not the empty text": {
			damage: edited(17, "note", nil), sample: 1, kind: "RECORD_DIFF", key: `{"id":17}`, columns: []string{"note"},
			want: plugin.CheckResult{Outcome: plugin.Different, Buckets: 4, Match: 4, Hashed: 4, Failures: map[string]int64{"RECORD_DIFF": 1}},
		},
		"a key that silver holds twice": {
			damage: with(order(17, "note 17")), kind: "MISSING_SOURCE", key: `{"id":17}`,
			want: plugin.CheckResult{Outcome: plugin.Different, Buckets: 4, Match: 3, Mismatch: 1, Hashed: 1, Failures: map[string]int64{"MISSING_SOURCE": 1}},
		},
		"a NULL key that only silver has is counted apart": {
			damage: with(fake.Row{"note": "x"}), sample: 1,
			want: plugin.CheckResult{Outcome: plugin.Different, Buckets: 5, Match: 4, Mismatch: 1, Hashed: 4},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := orders()
			w.insert(many(1, 100)...)
			w.stream(t, "")
			w.apply(t, c.damage)
			got := w.check(t, settings{"bucket_rows": cmp.Or(c.rows, 30), "sample": c.sample})
			expect(t, got, c.want)
			if c.kind == "" {
				return
			}
			if keys := got.keys(c.kind); !slices.Equal(keys, []string{c.key}) {
				t.Errorf("keys %v, want %s", keys, c.key)
			}
			last := got.findings[len(got.findings)-1]
			if !slices.Equal(last.Columns, c.columns) || last.Detail == "" {
				t.Errorf("finding %+v, want columns %v", last, c.columns)
			}
		})
	}
}

func TestDifferingColumnsComeInSchemaOrder(t *testing.T) {
	t.Parallel()
	w := orders()
	w.insert(many(1, 10)...)
	w.apply(t, edited(3, "amount", "9.99"), edited(3, "note", "x"))
	got := w.check(t, settings{"sample": 1, "report": reportName})
	if f := got.findings; len(f) != 1 || !slices.Equal(f[0].Columns, []string{"note", "amount"}) {
		t.Fatalf("%+v", f)
	}
	want := fmt.Sprintf(`{"silver_start_lsn":"%s","columns":"note, amount"}`, got.SilverApplied)
	if row := w.lake.Rows(reportName)[1]; row["detail"] != want || row["failure_type"] != "RECORD_DIFF" || row["status"] != nil {
		t.Errorf("report row %v", row)
	}
}

func TestSampleZeroReadsNoRows(t *testing.T) {
	t.Parallel()
	w := orders()
	w.insert(many(1, 100)...)
	w.apply(t)
	expect(t, w.check(t, settings{"sample": 0, "bucket_rows": 10}), plugin.CheckResult{Outcome: plugin.Equal, Buckets: 10, Match: 10})
	for _, p := range w.faults.Points() {
		if p.Call == "Source.Read" {
			t.Error("rows were read")
		}
	}
}

func TestTheSampleIsRoundedUpAndRepeatable(t *testing.T) {
	t.Parallel()
	hashed := func(seed int) []any {
		w := orders()
		w.insert(many(1, 300)...)
		w.apply(t)
		got := w.check(t, settings{"sample": 0.1, "bucket_rows": 10, "sample_seed": seed, "report": reportName})
		expect(t, got, plugin.CheckResult{Outcome: plugin.Equal, Buckets: 30, Match: 30, Hashed: 3})
		var out []any
		for _, r := range w.lake.Rows(reportName) {
			if r["hashed"] == true {
				out = append(out, r["bucket_lo"])
			}
		}
		return out
	}
	if a, b, c := hashed(7), hashed(7), hashed(8); !slices.Equal(a, b) || slices.Equal(a, c) {
		t.Errorf("seed 7: %v and %v, seed 8: %v", a, b, c)
	}
}

func TestEmptyTablesHaveNoBuckets(t *testing.T) {
	t.Parallel()
	w := orders()
	w.commit()
	w.apply(t)
	expect(t, w.check(t, settings{"sample": 1, "report": reportName}), plugin.CheckResult{Outcome: plugin.Equal})
}

func TestAnEmptiedSourceLeavesOnlySilver(t *testing.T) {
	t.Parallel()
	w := orders()
	w.commit()
	w.apply(t, with(order(5, "x")), with(order(-3_000_000, "y")))
	got := w.check(t, settings{"bucket_rows": 1})
	expect(t, got, plugin.CheckResult{Outcome: plugin.Different, Buckets: 2, Mismatch: 2, Hashed: 2, Failures: map[string]int64{"MISSING_SOURCE": 2}})
}

// A silver that nothing was applied to yet tells nothing of its source, whether
// its table is still to come or was made empty beforehand.
func TestASilverThatWasNeverBuiltIsNoProof(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*world){
		"without a table": func(*world) {},
		"an empty table":  func(w *world) { w.put(t, silverName, w.silverSchema(), plugin.WriteOverwrite, nil) },
	} {
		w := orders()
		w.insert(many(1, 3)...)
		prepare(w)
		got, err := w.try(settings{"sample": 1})
		if diag.KindOf(err) != diag.KindDifferent || !diag.HasCode(err, "reconcile.no_silver") || len(got.findings) != 0 {
			t.Errorf("%s: error %v, findings %v", name, err, got.findings)
		}
	}
}

// A run that found nothing to apply leaves its mark, and then an empty silver is
// what the source is compared with.
func TestASilverThatFoundNothingIsCompared(t *testing.T) {
	t.Parallel()
	w := orders()
	w.put(t, silverName, w.silverSchema(), plugin.WriteOverwrite, nil)
	w.ledger.Views[silverName] = plugin.LedgerView{Position: plugin.TargetPosition{Version: new(int64)}}
	expect(t, w.check(t, settings{}), plugin.CheckResult{Outcome: plugin.Equal})
	w.insert(many(1, 3)...)
	if got := w.check(t, settings{}); got.Outcome == plugin.Equal {
		t.Errorf("%+v", got)
	}
}

func TestAColumnThatSilverLacksCountsAsNull(t *testing.T) {
	t.Parallel()
	w := orders()
	w.insert(fake.Row{"id": 1, "note": "a"}, fake.Row{"id": 2, "note": "b", "amount": "1.00"})
	fields := w.fields
	w.fields = fields[:2]
	w.apply(t, func(list []fake.Row) []fake.Row { return list })
	w.fields = fields
	got := w.check(t, settings{"sample": 1})
	if keys := got.keys("RECORD_DIFF"); !slices.Equal(keys, []string{`{"id":2}`}) {
		t.Errorf("%+v", got.findings)
	}
}

func TestAColumnOfAnotherTypeIsAnError(t *testing.T) {
	t.Parallel()
	w := orders()
	w.insert(fake.Row{"id": 1, "note": "a"})
	fields := slices.Clone(w.fields)
	w.fields[1] = column("note", number)
	w.put(t, silverName, w.silverSchema(), plugin.WriteOverwrite, []fake.Row{{"id": 1, "note": 3}})
	w.fields = fields
	if _, err := w.try(settings{"sample": 1}); diag.KindOf(err) != diag.KindSchemaChanged {
		t.Errorf("error %v", err)
	}
}

// Integer keys at the ends of int64: no width, sum or edge overflows.
func TestAHugeSpanOfKeys(t *testing.T) {
	t.Parallel()
	w := orders()
	for _, id := range []int{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, math.MaxInt64 - 1, math.MaxInt64} {
		w.insert(fake.Row{"id": id, "note": "x"})
	}
	w.apply(t, edited(math.MinInt64, "note", "y"), edited(math.MaxInt64, "note", "z"))
	got := w.check(t, settings{"bucket_rows": 1, "sample": 1, "report": reportName})
	expect(t, got, plugin.CheckResult{Outcome: plugin.Different, Buckets: 4, Match: 4, Hashed: 4, Failures: map[string]int64{"RECORD_DIFF": 2}})
	first, last := w.lake.Rows(reportName)[0], w.lake.Rows(reportName)[3]
	if first["source_key_sum"] != "-18446744073709551615" || last["source_key_sum"] != "18446744073709551613" {
		t.Errorf("sums %v and %v", first["source_key_sum"], last["source_key_sum"])
	}
	// The edges are multiples of the width, which lie outside int64.
	if first["bucket_lo"] != "-9223372036854800000" || last["bucket_hi"] != "9223372036854800000" {
		t.Errorf("bounds %v and %v", first["bucket_lo"], last["bucket_hi"])
	}
}

func TestNegativeKeysAreRoundedDown(t *testing.T) {
	t.Parallel()
	w := orders()
	w.insert(fake.Row{"id": -200_001}, fake.Row{"id": -1}, fake.Row{"id": 0}, fake.Row{"id": 200_001})
	w.apply(t)
	got := w.check(t, settings{"bucket_rows": 1, "sample": 1, "report": reportName})
	expect(t, got, plugin.CheckResult{Outcome: plugin.Equal, Buckets: 4, Match: 4, Hashed: 4})
	// The width is 5: -1 is in [-5, 0), not with 0.
	rows := w.lake.Rows(reportName)
	if lo, hi := rows[1]["bucket_lo"], rows[1]["bucket_hi"]; lo != "-5" || hi != "0" {
		t.Errorf("bucket of -1: %v to %v", lo, hi)
	}
}

func date(text string) time.Time {
	d, err := time.Parse(time.DateOnly, text)
	if err != nil {
		panic(err)
	}
	return d
}

func TestDateKeysCountAsDays(t *testing.T) {
	t.Parallel()
	fields := []arrow.Field{column("day", arrow.PrimitiveTypes.Date32), column("n", number)}
	w := newWorld([]string{"day"}, fields...)
	src := &scripted{fields: fields, key: w.key, newest: lsnOf(9)}
	for _, d := range []string{"0001-01-01", "1969-12-31", "1970-01-02", "9999-12-31"} {
		src.rows = append(src.rows, fake.Row{"day": date(d), "n": 1})
	}
	w.source = src
	silver := append(slices.Clone(src.rows), fake.Row{"day": date("2020-02-29"), "n": 1})
	silver[3] = fake.Row{"day": date("9999-12-31"), "n": 2}
	w.put(t, silverName, w.silverSchema(), plugin.WriteOverwrite, silver)
	w.ledger.Views[silverName] = plugin.LedgerView{Position: plugin.TargetPosition{Applied: lsnOf(9)}}
	got := w.check(t, settings{"bucket_rows": 1, "sample": 1, "report": reportName})
	expect(t, got, plugin.CheckResult{Outcome: plugin.Different, Buckets: 5, Match: 4, Mismatch: 1, Hashed: 5,
		Failures: map[string]int64{"MISSING_SOURCE": 1, "RECORD_DIFF": 1}})
	rows := w.lake.Rows(reportName)
	if rows[0]["bucket_lo"] != `"0001-01-01"` || rows[4]["bucket_hi"] != nil || rows[1]["source_key_sum"] != "-1" || rows[2]["source_key_sum"] != "1" {
		t.Errorf("report %v", rows[:5])
	}
	if keys := got.keys("RECORD_DIFF"); !slices.Equal(keys, []string{`{"day":"9999-12-31"}`}) {
		t.Errorf("keys %v", keys)
	}
}

func TestOtherKeysAreCountedAsAWhole(t *testing.T) {
	t.Parallel()
	fields := []arrow.Field{column("code", words), column("line", number), column("v", arrow.PrimitiveTypes.Float64)}
	build := func(keys ...string) (*world, *scripted) {
		w := newWorld(keys, fields...)
		src := &scripted{fields: fields, key: keys, newest: lsnOf(9)}
		for i := range 30 {
			src.rows = append(src.rows, fake.Row{"code": fmt.Sprintf("k%02d", i), "line": i, "v": float64(i)})
		}
		src.rows = append(src.rows, fake.Row{"line": -1, "v": math.NaN()}) // a NULL in the key
		w.source = src
		w.ledger.Views[silverName] = plugin.LedgerView{Position: plugin.TargetPosition{Applied: lsnOf(9)}}
		return w, src
	}
	for name, c := range map[string]struct {
		keys   []string
		damage func([]fake.Row) []fake.Row
		uncut  bool
		set    settings
		want   plugin.CheckResult
	}{
		"equal, all ranges": {
			set:  settings{"bucket_rows": 8, "sample": 1},
			want: plugin.CheckResult{Outcome: plugin.Equal, Buckets: 1, Match: 1, Hashed: 4},
		},
		"equal, a share of the ranges": {
			set:  settings{"bucket_rows": 8, "sample": 0.3},
			want: plugin.CheckResult{Outcome: plugin.Equal, Buckets: 1, Match: 1, Hashed: 2},
		},
		"counts only": {
			set:  settings{"bucket_rows": 8, "sample": 0},
			want: plugin.CheckResult{Outcome: plugin.Equal, Buckets: 1, Match: 1},
		},
		"one value and one key": {
			set: settings{"bucket_rows": 8, "sample": 1},
			damage: func(l []fake.Row) []fake.Row {
				l[3] = fake.Row{"code": "k03", "line": 3, "v": 0.5}
				return append(l, fake.Row{"code": "new", "line": 0, "v": 1.0})
			},
			want: plugin.CheckResult{Outcome: plugin.Different, Buckets: 1, Mismatch: 1, Hashed: 4, Failures: map[string]int64{"RECORD_DIFF": 1, "MISSING_SOURCE": 1}},
		},
		"one range needs no bounds, so any key is compared": {
			uncut: true, set: settings{"sample": 0.01},
			damage: func(l []fake.Row) []fake.Row { return l[1:] },
			want:   plugin.CheckResult{Outcome: plugin.Different, Buckets: 1, Mismatch: 1, Hashed: 1, Failures: map[string]int64{"MISSING_TARGET": 1}},
		},
		"a key without a castable bound: no row compare": {
			uncut: true, set: settings{"bucket_rows": 8, "sample": 1},
			want: plugin.CheckResult{Outcome: plugin.Equal, Buckets: 1, Match: 1},
		},
	} {
		for _, keys := range [][]string{{"code"}, {"code", "line"}} {
			t.Run(fmt.Sprint(name, keys), func(t *testing.T) {
				t.Parallel()
				w, src := build(keys...)
				src.uncut = c.uncut
				list := slices.Clone(src.rows)
				if c.damage != nil {
					list = c.damage(list)
				}
				w.put(t, silverName, w.silverSchema(), plugin.WriteOverwrite, list)
				got := w.check(t, c.set)
				expect(t, got, c.want)
				if c.uncut && c.want.Hashed == 0 && len(got.Diagnostics) != 1 {
					t.Errorf("no warning that rows were not compared: %v", got.Diagnostics)
				}
			})
		}
	}
}

func TestAWholeTableBucketHasNoBoundsAndNoSums(t *testing.T) {
	t.Parallel()
	w := newWorld([]string{"code"}, column("code", words))
	w.source = &scripted{fields: w.fields, key: w.key, newest: lsnOf(9), rows: []fake.Row{{"code": "a"}}}
	w.put(t, silverName, w.silverSchema(), plugin.WriteOverwrite, []fake.Row{{"code": "a"}})
	w.check(t, settings{"report": reportName})
	row := w.lake.Rows(reportName)[0]
	for _, name := range []string{"bucket_lo", "bucket_hi", "source_key_sum", "silver_key_sum", "silver_lsn"} {
		if row[name] != nil {
			t.Errorf("%s is %v", name, row[name])
		}
	}
	if row["source_rows"] != int64(1) || row["hashed"] != true {
		t.Errorf("row %v", row)
	}
}

// A key of a sampled range that silver lacks is found; one that only silver
// holds is not, since its place among the ranges is the source's to tell.
func TestSampledRangesFindWhatTheSourceHolds(t *testing.T) {
	t.Parallel()
	w := newWorld([]string{"code"}, column("code", words))
	src := &scripted{fields: w.fields, key: w.key, newest: lsnOf(9)}
	for i := range 100 {
		src.rows = append(src.rows, fake.Row{"code": fmt.Sprintf("k%02d", i)})
	}
	w.source = src
	w.put(t, silverName, w.silverSchema(), plugin.WriteOverwrite, append(slices.Clone(src.rows[2:]), fake.Row{"code": "x"}, fake.Row{"code": "y"}))
	w.ledger.Views[silverName] = plugin.LedgerView{Position: plugin.TargetPosition{Applied: lsnOf(9)}}
	found := false
	for seed := range 8 {
		got := w.check(t, settings{"bucket_rows": 50, "sample": 0.5, "sample_seed": seed})
		if got.Mismatch != 0 || len(got.keys("MISSING_SOURCE")) != 0 {
			t.Fatalf("%+v", got)
		}
		found = found || len(got.keys("MISSING_TARGET")) == 2
	}
	if !found {
		t.Error("no sample found the missing keys")
	}
}

// Neighbouring buckets are read with one statement, others with one each, and
// no bound is outside what a key of 64 bits can reach.
func TestChosenRangesAreReadOnce(t *testing.T) {
	t.Parallel()
	w := orders()
	src := &scripted{fields: w.fields, key: w.key, newest: lsnOf(9)}
	for i := range 100 {
		src.rows = append(src.rows, order(i, "x"))
	}
	w.source = src
	silver := slices.Clone(src.rows)
	silver = slices.Delete(silver, 95, 96)
	silver = slices.Delete(silver, 25, 26)
	silver = slices.Delete(silver, 15, 16)
	w.put(t, silverName, w.silverSchema(), plugin.WriteOverwrite, silver)
	w.ledger.Views[silverName] = plugin.LedgerView{Position: plugin.TargetPosition{Applied: lsnOf(9)}}
	got := w.check(t, settings{"bucket_rows": 10, "sample": 0})
	expect(t, got, plugin.CheckResult{Outcome: plugin.Different, Buckets: 10, Match: 7, Mismatch: 3, Hashed: 3, Failures: map[string]int64{"MISSING_TARGET": 3}})
	if want := [][2]string{{"10", "30"}, {"90", "100"}}; !slices.Equal(src.reads, want) {
		t.Errorf("read %v, want %v", src.reads, want)
	}
	// A finding names its own bucket all the same.
	for i, lo := range []string{"10", "20", "90"} {
		if f := got.findings[3+i]; f.Lo != lo {
			t.Errorf("finding %+v, want a bucket from %s", f, lo)
		}
	}
}

func TestAKeyThatTheSourceCannotCountInBucketsIsCountedAsAWhole(t *testing.T) {
	t.Parallel()
	w := orders()
	src := &scripted{fields: w.fields, key: w.key, newest: lsnOf(9), textual: true, rows: many(1, 9)}
	w.source = src
	w.put(t, silverName, w.silverSchema(), plugin.WriteOverwrite, src.rows)
	got := w.check(t, settings{})
	expect(t, got, plugin.CheckResult{Outcome: plugin.Equal, Buckets: 1, Match: 1, Hashed: 1})
	if len(got.Diagnostics) != 1 || got.Diagnostics[0].Code != "reconcile.no_buckets" {
		t.Errorf("diagnostics %v", got.Diagnostics)
	}
}

// More findings than are put in order are all there, too.
func TestManyFindingsAreAllReported(t *testing.T) {
	t.Parallel()
	w := orders()
	w.dir, w.budget = t.TempDir(), 1<<20
	src := &scripted{fields: w.fields, key: w.key, newest: lsnOf(9), rows: many(1, 12_000)}
	w.source = src
	w.put(t, silverName, w.silverSchema(), plugin.WriteOverwrite, nil)
	w.ledger.Views[silverName] = plugin.LedgerView{Position: plugin.TargetPosition{Applied: lsnOf(9)}}
	got := w.check(t, settings{"report": reportName})
	expect(t, got, plugin.CheckResult{Outcome: plugin.Different, Buckets: 1, Mismatch: 1, Hashed: 1, Failures: map[string]int64{"MISSING_TARGET": 12_000}})
	if keys := got.keys("MISSING_TARGET"); len(keys) != 12_000 || len(slices.Compact(slices.Sorted(slices.Values(keys)))) != 12_000 {
		t.Errorf("%d findings", len(keys))
	}
	if n := len(w.lake.Rows(reportName)); n != 12_001 {
		t.Errorf("%d report rows", n)
	}
}
