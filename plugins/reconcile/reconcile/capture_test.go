package reconcile_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pipectl/pipectl/core/plugin"
	fake "github.com/pipectl/pipectl/core/plugin/memory"
)

// A row is changed, and the source's capture reads that three seconds after the look began. A look that may wait for
// capture sees that the key is in flight; one that may not, or not for long enough, can only say that it differs.
func TestALookWaitsForCaptureToPassWhatItRead(t *testing.T) {
	t.Parallel()
	const late = 3 * time.Second
	for name, tc := range map[string]struct {
		await time.Duration
		// silver and source are the rows of each, by key.
		silver, source []fake.Row
		unknown        bool
		outcome        plugin.Outcome
		least, most    time.Duration
	}{
		"a change":                         {10 * time.Second, []fake.Row{orderOf(1, "old"), orderOf(2, "b")}, []fake.Row{orderOf(1, "new"), orderOf(2, "b")}, false, plugin.Undecided, late, late + time.Second},
		"a row more":                       {10 * time.Second, []fake.Row{orderOf(2, "b")}, []fake.Row{orderOf(1, "new"), orderOf(2, "b")}, false, plugin.Undecided, late, late + time.Second},
		"a row less":                       {10 * time.Second, []fake.Row{orderOf(1, "old"), orderOf(2, "b")}, []fake.Row{orderOf(2, "b")}, false, plugin.Undecided, late, late + time.Second},
		"a difference of another key":      {10 * time.Second, []fake.Row{orderOf(1, "new"), orderOf(2, "b")}, []fake.Row{orderOf(1, "new"), orderOf(2, "c")}, false, plugin.Different, late, late + time.Second},
		"nothing differs":                  {10 * time.Second, []fake.Row{orderOf(1, "new")}, []fake.Row{orderOf(1, "new")}, false, plugin.Equal, 0, 0},
		"it may not wait":                  {0, []fake.Row{orderOf(1, "old")}, []fake.Row{orderOf(1, "new")}, false, plugin.Different, 0, 0},
		"it may not wait for so long":      {2 * time.Second, []fake.Row{orderOf(1, "old")}, []fake.Row{orderOf(1, "new")}, false, plugin.Different, 2 * time.Second, 2 * time.Second},
		"a source that does not know that": {10 * time.Second, []fake.Row{orderOf(1, "old")}, []fake.Row{orderOf(1, "new")}, true, plugin.Different, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				fields := orders().fields
				w := newWorld([]string{"id"}, fields...)
				src := &scripted{fields: fields, key: w.key, newest: lsnOf(4), rows: tc.source}
				w.source, w.await = src, tc.await
				w.put(t, silverName, w.silverSchema(), plugin.WriteOverwrite, slices.Clone(tc.silver))
				w.ledger.Views[silverName] = plugin.LedgerView{Position: plugin.TargetPosition{Applied: lsnOf(4)}}
				began := time.Now()
				if !tc.unknown {
					src.captured = func() time.Duration {
						if time.Since(began) < late {
							return time.Hour // the commit before
						}
						src.newest, src.log = lsnOf(5), []logged{{lsn: lsnOf(5), op: 4, row: orderOf(1, "new")}}
						return 0
					}
				}
				got := w.check(t, settings{"sample": 1})
				if got.Outcome != tc.outcome {
					t.Errorf("%+v, want %s", got, tc.outcome)
				}
				if took := time.Since(began); took < tc.least || took > tc.most {
					t.Errorf("took %s, want %s to %s", took, tc.least, tc.most)
				}
			})
		})
	}
}

func orderOf(id int, note string) fake.Row { return fake.Row{"id": id, "amount": "1.00", "note": note} }
