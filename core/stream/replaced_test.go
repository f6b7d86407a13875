package stream_test

import (
	"testing"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin/memory"
)

// A table that comes in the place of bronze while a run works is not the one
// whose batches the run knows of: it gets no row, for it would have those of the
// later batches only and look whole.
func TestABronzeThatIsReplacedInTheMiddleGetsNoRows(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		call    string // bronze is replaced before the n-th of them
		n       int
		options []option
	}{
		"before a batch":                    {"Source.PlanBatch", 1, nil},
		"between two batches":               {"Source.PlanBatch", 2, []option{maxCommits(1)}},
		"while the rows of a batch come":    {"Source.Read", 1, nil},
		"before the commit of a batch":      {"Tables.Commit", 1, nil},
		"before a snapshot":                 {"Source.OpenSnapshot", 1, []option{bootstrap, appID("orders-v2")}},
		"while the rows of a snapshot come": {"Source.Read", 1, []option{bootstrap, appID("orders-v2")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := started(t)
			w.insert(5, 3)
			w.insert(6, 4)
			left := tt.n
			facts := 0
			_, err := w.run(&memory.Faults{Hook: func(p memory.Point) error {
				if p.Call != tt.call || p.After {
					return nil
				}
				if left--; left == 0 {
					w.lake.DropTable(bronze)
					w.create(t)
					facts = len(w.factsOf(""))
				}
				return nil
			}}, tt.options...)
			if !diag.Is(err, diag.KindStale) || left > 0 {
				t.Errorf("replaced: %v, %v", left <= 0, err)
			}
			if rows := w.lines(bronze); len(rows) != 0 {
				t.Errorf("the new table got rows: %v", rows)
			}
			if got := len(w.factsOf("")); got != facts {
				t.Errorf("the facts tell of %d batches, and of %d when the table was replaced", got, facts)
			}
			w.later()
			w.mustFail(t, diag.KindStale, "stream.rows_lost")
		})
	}
}
