package reconcile_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/plugin"
	fake "github.com/pipectl/pipectl/core/plugin/memory"
)

// keyless is a row whose declared key is NULL.
func keyless(note string) fake.Row { return fake.Row{"note": note} }

// declared is a table whose block declares a key that the source allows to be
// NULL: the source itself tells its rows apart by their note.
func declared() *world {
	w := newWorld([]string{"note"}, column("id", number), column("note", words), column("amount", &arrow.Decimal128Type{Precision: 10, Scale: 2}))
	w.key, w.declared = []string{"id"}, []string{"id"}
	return w
}

func TestRowsWithANullKeyAreCounted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		source, silver int
		want           plugin.CheckResult
	}{
		"none":               {0, 0, plugin.CheckResult{Outcome: plugin.Equal, Buckets: 1, Match: 1}},
		"one on both sides":  {1, 1, plugin.CheckResult{Outcome: plugin.Equal, Buckets: 2, Match: 2}},
		"lost in silver":     {3, 1, plugin.CheckResult{Outcome: plugin.Different, Buckets: 2, Match: 1, Mismatch: 1}},
		"all lost in silver": {2, 0, plugin.CheckResult{Outcome: plugin.Different, Buckets: 2, Match: 1, Mismatch: 1}},
		"only in silver":     {0, 1, plugin.CheckResult{Outcome: plugin.Different, Buckets: 2, Match: 1, Mismatch: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := declared()
			list := many(1, 10)
			for i := range c.source {
				list = append(list, keyless(fmt.Sprint("keyless ", i)))
			}
			w.insert(list...)
			w.stream(t, "")
			w.apply(t, func(held []fake.Row) []fake.Row {
				var out []fake.Row
				for _, row := range held {
					if row["id"] != nil {
						out = append(out, row)
					}
				}
				for range c.silver {
					out = append(out, keyless("x"))
				}
				return out
			})
			got := w.check(t, settings{"sample": 0})
			expect(t, got, c.want)
			if got.SourceRows != int64(10+c.source) || got.SilverRows != int64(10+c.silver) {
				t.Errorf("%d rows at the source, %d in silver", got.SourceRows, got.SilverRows)
			}
			warned := false
			for _, d := range got.Diagnostics {
				warned = warned || d.Code == "reconcile.null_keys"
			}
			if warned != (c.source+c.silver > 0) {
				t.Errorf("warned %v: %v", warned, got.Diagnostics)
			}
		})
	}
}

func TestANullKeyThatSilverHasNotSeenYetIsInFlight(t *testing.T) {
	t.Parallel()
	w := declared()
	w.insert(many(1, 10)...)
	w.stream(t, "")
	w.apply(t)
	w.insert(keyless("new"))
	expect(t, w.check(t, settings{"sample": 0}), plugin.CheckResult{Outcome: plugin.Undecided, Buckets: 2, Match: 1, InFlight: 1})
}
