package reconcile_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/pipectl/pipectl/core/plugin"
	fake "github.com/pipectl/pipectl/core/plugin/memory"
)

// Whatever the table and whatever happens to silver: every damaged key is
// found when its bucket is compared, each as what it is, and nothing else is;
// with or without temporary files.
func TestEveryDamagedKeyIsFoundAndNothingElse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		w := orders()
		w.dir = dir
		w.budget = rapid.SampledFrom([]int64{0, 0, 0, 0, 0, 0, 0, 0, 0, 1}).Draw(t, "budget")
		keys := rapid.SliceOfNDistinct(rapid.OneOf(
			rapid.Int64Range(-50, 50), rapid.Int64Range(-1_000_000, 1_000_000),
			rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64, math.MaxInt64 - 1}),
		), 0, 60, rapid.ID).Draw(t, "keys")
		var list []fake.Row
		for _, k := range keys {
			list = append(list, row(k, "as it is"))
		}
		w.insert(list...)
		w.stream(t, "")
		want := map[string]string{}
		w.apply(t, func(list []fake.Row) []fake.Row {
			var out []fake.Row
			for _, r := range list {
				switch rapid.SampledFrom([]string{"keep", "keep", "keep", "drop", "edit", "null"}).Draw(t, "damage") {
				case "keep":
					out = append(out, r)
				case "drop":
					want[key(r)] = "MISSING_TARGET"
				case "edit":
					r["note"] = rapid.SampledFrom([]string{"", "other", "as it is "}).Draw(t, "note")
					want[key(r)] = "RECORD_DIFF"
					out = append(out, r)
				case "null":
					r["amount"] = nil
					want[key(r)] = "RECORD_DIFF"
					out = append(out, r)
				}
			}
			for _, k := range rapid.SliceOfNDistinct(rapid.Int64Range(-2_000_000, 2_000_000), 0, 5, rapid.ID).Draw(t, "added") {
				if !slices.Contains(keys, k) {
					want[key(row(k, ""))] = "MISSING_SOURCE"
					out = append(out, row(k, "made up"))
				}
			}
			return out
		})
		got := w.check(t, settings{"sample": 1, "bucket_rows": rapid.SampledFrom([]int{1, 7, 1000}).Draw(t, "bucket_rows")})
		found := map[string]string{}
		for _, f := range got.findings {
			if f.Key != "" {
				found[f.Key] = f.Kind
			}
		}
		if fmt.Sprint(found) != fmt.Sprint(want) {
			t.Fatalf("found\n%v\nwant\n%v", found, want)
		}
		outcome := plugin.Equal
		if len(want) > 0 {
			outcome = plugin.Different
		}
		if got.Outcome != outcome || got.InFlight != 0 || got.Hashed != got.Buckets {
			t.Fatalf("%+v", got.CheckResult)
		}
	})
}

func row(key int64, note string) fake.Row {
	return fake.Row{"id": key, "note": note, "amount": "1.50"}
}

func key(r fake.Row) string { return fmt.Sprintf(`{"id":%d}`, r["id"]) }

// Commits that are not in bronze yet, and those in bronze that silver has not
// applied, never become failures, in any mixture and whichever key.
func TestChangesOnTheirWayAreNeverFailures(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string][]string{"one integer": {"id"}, "two columns": {"id", "part"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			rapid.Check(t, func(t *rapid.T) { onTheirWay(t, keys, dir) })
		})
	}
}

func onTheirWay(t *rapid.T, keys []string, dir string) {
	w := newWorld(keys, column("id", number), column("part", number), column("note", words))
	w.dir = dir
	w.budget = rapid.SampledFrom([]int64{0, 0, 0, 0, 0, 0, 0, 0, 0, 1}).Draw(t, "budget")
	state := map[int64]fake.Row{}
	change := func() {
		id := rapid.Int64Range(-8, 8).Draw(t, "id")
		now, there := state[id]
		next := fake.Row{"id": id, "part": id % 3, "note": fmt.Sprint(rapid.IntRange(0, 5).Draw(t, "note"))}
		switch {
		case !there:
			w.commit(fake.Insert(sourceName, next))
			state[id] = next
		case rapid.Bool().Draw(t, "delete"):
			w.commit(fake.Delete(sourceName, now))
			delete(state, id)
		default:
			w.commit(fake.Update(sourceName, now, next))
			state[id] = next
		}
	}
	moves := func(what string) int {
		n := rapid.IntRange(0, 8).Draw(t, what)
		for range n {
			change()
		}
		return n
	}
	moves("applied")
	w.commit()
	w.stream(t, "")
	w.apply(t)
	applied := w.db.Newest().Text
	behind := moves("in bronze") // silver stays where it is
	w.stream(t, applied)
	behind += moves("captured only")

	late := rapid.IntRange(0, 2).Draw(t, "late")
	w.faults.Hook = func(p fake.Point) error { // and some while the check reads
		if p.Call == "Source.Read" && !p.After && late > 0 {
			late--
			change()
			behind++
		}
		return nil
	}
	got := w.check(t, settings{"sample": 1, "bucket_rows": rapid.SampledFrom([]int{1, 5, 1000}).Draw(t, "bucket_rows")})
	for kind := range got.Failures {
		if kind != "IN_FLIGHT" {
			t.Fatalf("%+v\n%+v", got.CheckResult, got.findings)
		}
	}
	if got.Outcome == plugin.Different || got.Mismatch > 0 || behind == 0 && got.Outcome != plugin.Equal {
		t.Fatalf("%+v\n%+v", got.CheckResult, got.findings)
	}
	w.faults.Hook = nil
	w.stream(t, w.bronzeEnd())
	w.apply(t)
	if got := w.check(t, settings{"sample": 1}); got.Outcome != plugin.Equal {
		t.Fatalf("after it settled: %+v", got.CheckResult)
	}
}

// bronzeEnd is the newest change in bronze, "" when there is none.
func (w *world) bronzeEnd() string {
	top := ""
	for _, r := range w.lake.Rows(bronzeName) {
		top = max(top, r["_start_lsn"].(string))
	}
	return top
}
