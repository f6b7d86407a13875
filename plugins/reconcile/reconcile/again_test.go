package reconcile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	fake "github.com/pipectl/pipectl/core/plugin/memory"
)

// codes is a table of 100 rows with a text key, and a silver that is equal but
// for what damage makes of it.
func codes(t *testing.T, damage func([]fake.Row) []fake.Row) (*world, *scripted) {
	t.Helper()
	w := newWorld([]string{"code"}, column("code", words), column("note", words))
	src := &scripted{fields: w.fields, key: w.key, newest: lsnOf(9)}
	for i := range 100 {
		src.rows = append(src.rows, fake.Row{"code": fmt.Sprintf("k%02d", i), "note": "x"})
	}
	w.source = src
	w.ledger.Views[silverName] = plugin.LedgerView{Position: plugin.TargetPosition{Applied: lsnOf(9)}}
	w.put(t, silverName, w.silverSchema(), plugin.WriteOverwrite, damage(slices.Clone(src.rows)))
	return w, src
}

func noted(i int) func([]fake.Row) []fake.Row {
	return func(list []fake.Row) []fake.Row {
		list[i] = fake.Row{"code": list[i]["code"], "note": "changed"}
		return list
	}
}

func intact(list []fake.Row) []fake.Row { return list }

// rangesOf are the ranges in which keys were found, as a host asks for them.
func rangesOf(o outcome) []plugin.KeyRange {
	var out []plugin.KeyRange
	for _, f := range o.findings {
		if at := (plugin.KeyRange{Lo: f.Lo, Hi: f.Hi}); f.Key != "" && !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	return out
}

// differsAt makes looks until the random choice has found the difference.
func differsAt(t *testing.T, w *world, s settings) outcome {
	t.Helper()
	for range 200 {
		if first := w.check(t, s); first.Outcome == plugin.Different {
			return first
		}
	}
	t.Fatal("the difference is never found")
	return outcome{}
}

// What a first look found in a random range is found by each later look that is
// asked for that range, whatever else it would have chosen.
func TestALaterLookReadsTheSameRangesAgain(t *testing.T) {
	t.Parallel()
	text, _ := codes(t, noted(42))
	whole := orders()
	whole.insert(many(1, 1000)...)
	whole.stream(t, "")
	whole.apply(t, edited(420, "note", "changed"))
	for name, c := range map[string]struct {
		w *world
		s settings
	}{
		"text keys":                      {text, settings{"bucket_rows": 10, "sample": 0.1}},
		"text keys cut anew":             {text, settings{"bucket_rows": 7, "sample": 0.1}},
		"integer keys, looked at whole":  {whole, settings{"bucket_rows": 100, "sample": 0.1}},
		"integer keys in other buckets":  {whole, settings{"bucket_rows": 130, "sample": 0.1}},
		"text keys, all ranges compared": {text, settings{"bucket_rows": 10, "sample": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			w := *c.w
			w.settle = true
			cut := settings{"bucket_rows": 100, "sample": 0.5}
			if w.source != nil {
				cut = settings{"bucket_rows": 10, "sample": 0.5}
			}
			first := differsAt(t, &w, cut)
			w.again = rangesOf(first)
			for range 5 {
				if later := w.check(t, c.s); later.Outcome != plugin.Different || !later.LookedAgain || fmt.Sprint(later.Failures) != "map[RECORD_DIFF:1]" {
					t.Fatalf("later look: %+v", later.CheckResult)
				}
			}
		})
	}
}

// A later look that finds all of it equal says that it looked.
func TestALaterLookSettlesWhatItReadAgain(t *testing.T) {
	t.Parallel()
	w, src := codes(t, noted(42))
	first := differsAt(t, w, settings{"bucket_rows": 10, "sample": 0.5})
	w.again = rangesOf(first)
	w.put(t, silverName, w.silverSchema(), plugin.WriteOverwrite, src.rows)
	src.reads = nil
	later := w.check(t, settings{"bucket_rows": 10, "sample": 0.1})
	if later.Outcome != plugin.Equal || !later.LookedAgain || later.AllRowsCompared {
		t.Fatalf("%+v", later.CheckResult)
	}
	if want := [][2]string{{w.again[0].Lo, w.again[0].Hi}}; !slices.Equal(src.reads, want) {
		t.Errorf("read %v, want %v alone", src.reads, want)
	}
	w.again = nil
	if plain := w.check(t, settings{"bucket_rows": 10, "sample": 0.1}); plain.LookedAgain {
		t.Error("a first look says it looked again")
	}
}

// A key that silver holds twice is found where its range is, so that a later
// look need not read the whole table.
func TestAKeyHeldTwiceHasARange(t *testing.T) {
	t.Parallel()
	w, _ := codes(t, func(list []fake.Row) []fake.Row { return append(list[:99:99], list[42]) })
	first := differsAt(t, w, settings{"bucket_rows": 10, "sample": 0.5, "sample_seed": 3})
	if first.Failures["MISSING_SOURCE"] == 0 {
		first = differsAt(t, w, settings{"bucket_rows": 10, "sample": 0.9})
	}
	for _, f := range first.findings {
		if f.Kind == "MISSING_SOURCE" && (f.Lo != `"k40"` || f.Hi != `"k50"`) {
			t.Errorf("found from %q to %q", f.Lo, f.Hi)
		}
	}
}

// Only where every row was compared does a result say so.
func TestAllRowsWereCompared(t *testing.T) {
	t.Parallel()
	text, _ := codes(t, intact)
	number := orders()
	number.insert(many(1, 100)...)
	number.stream(t, "")
	number.apply(t)
	null := declared()
	null.insert(append(many(1, 100), keyless("one"))...)
	null.stream(t, "")
	null.apply(t)
	for name, c := range map[string]struct {
		w    *world
		s    settings
		want bool
	}{
		"text keys, all ranges":           {text, settings{"bucket_rows": 10, "sample": 1}, true},
		"text keys, one range":            {text, settings{"sample": 0.01}, true},
		"text keys, one of two ranges":    {text, settings{"bucket_rows": 50, "sample": 0.5}, false},
		"text keys, counted only":         {text, settings{"sample": 0}, false},
		"integer keys, all buckets":       {number, settings{"bucket_rows": 10, "sample": 1}, true},
		"integer keys, some buckets":      {number, settings{"bucket_rows": 10, "sample": 0.5}, false},
		"integer keys, counted only":      {number, settings{"sample": 0}, false},
		"a row without a key":             {null, settings{"bucket_rows": 10, "sample": 1}, true},
		"a row without a key, not chosen": {null, settings{"bucket_rows": 10, "sample": 0.5}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.w.check(t, c.s); got.Outcome != plugin.Equal || got.AllRowsCompared != c.want {
				t.Errorf("%+v", got.CheckResult)
			}
		})
	}
	number.keys = []string{`{"id":3}`}
	if got := number.check(t, settings{"sample": 1}); got.AllRowsCompared || !got.LookedAgain {
		t.Errorf("a look at one key: %+v", got.CheckResult)
	}
}

// The one row without a key is compared where all others are.
func TestARowWithoutAKeyIsCompared(t *testing.T) {
	t.Parallel()
	w := declared()
	w.insert(append(many(1, 10), keyless("one"))...)
	w.stream(t, "")
	w.apply(t, func(list []fake.Row) []fake.Row {
		for _, r := range list {
			if r["id"] == nil {
				r["note"] = "other"
			}
		}
		return list
	})
	first := w.check(t, settings{"sample": 1, "bucket_rows": 5})
	if first.Outcome != plugin.Different || !slices.Equal(first.keys("RECORD_DIFF"), []string{`{"id":null}`}) {
		t.Fatalf("%+v %+v", first.CheckResult, first.findings)
	}
	w.keys, w.again = first.keys("RECORD_DIFF"), rangesOf(first)
	if later := w.check(t, settings{"sample": 0.01}); later.Outcome != plugin.Different || !later.LookedAgain {
		t.Fatalf("later look: %+v", later.CheckResult)
	}
	w.apply(t)
	if later := w.check(t, settings{"sample": 0.01}); later.Outcome != plugin.Equal || !later.LookedAgain {
		t.Fatalf("later look: %+v", later.CheckResult)
	}
}

// The newest rows of a report tell how the table stood at the last look.
func TestALookThatFindsNothingIsReported(t *testing.T) {
	t.Parallel()
	w := orders()
	w.insert(many(1, 20)...)
	w.stream(t, "")
	w.apply(t, edited(3, "note", "changed"))
	s := settings{"bucket_rows": 100, "sample": 1, "report": reportName}
	w.settle = true
	first := w.check(t, s)
	w.apply(t)
	w.keys, w.again = first.keys("RECORD_DIFF"), rangesOf(first)
	before := len(w.lake.Rows(reportName))
	later := w.check(t, s)
	added := w.lake.Rows(reportName)[before:]
	if later.Outcome != plugin.Equal || len(added) != 1 {
		t.Fatalf("%s, %d rows", later.Outcome, len(added))
	}
	row := added[0]
	if row["run_id"] != later.RunID || row["status"] != nil || row["failure_type"] != nil || row["source_lsn"] == nil || row["detail"] != `{"keys_equal":1}` {
		t.Errorf("%v", row)
	}
}

// A check never makes its report: one that is gone took what it held along.
func TestAReportThatIsGoneIsNotMadeAnew(t *testing.T) {
	t.Parallel()
	w := orders()
	w.insert(order(1, "a"))
	w.stream(t, "")
	w.apply(t)
	w.reportGone = true
	_, err := w.try(settings{"report": reportName})
	if !diag.Is(err, diag.KindStale) || !strings.Contains(err.Error(), "ops.reconcile does not exist any more") || slices.Contains(w.lake.TableNames(), reportName) {
		t.Errorf("%v, tables %v", err, w.lake.TableNames())
	}
}

// A table that was emptied on both sides is equal, and its report says so.
func TestEmptyTablesAreReported(t *testing.T) {
	t.Parallel()
	w := orders()
	w.insert(order(1, "a"))
	w.commit(fake.Delete(sourceName, order(1, "a")))
	w.stream(t, "")
	w.apply(t)
	got := w.check(t, settings{"report": reportName})
	rows := w.lake.Rows(reportName)
	if got.Outcome != plugin.Equal || got.Buckets != 0 || len(rows) != 1 || rows[0]["status"] != "MATCH" || rows[0]["source_rows"] != int64(0) {
		t.Errorf("%+v, report %v", got.CheckResult, rows)
	}
}
