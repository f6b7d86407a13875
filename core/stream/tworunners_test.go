package stream_test

import (
	"strings"
	"testing"

	"github.com/pipectl/pipectl/core/plugin/memory"
)

func TestTwoRunnersWriteABatchOnce(t *testing.T) {
	t.Parallel()
	// The second runner, which holds no lock any more, comes to the commit after
	// the first one made it.
	w := newWorld()
	w.create(t)
	w.insert(1, 1, 2)
	done := false
	faults := &memory.Faults{Hook: func(p memory.Point) error {
		if p.Call == "Tables.Commit" && !p.After && !done {
			done = true
			w.forget(t, "/locks/")
			if _, err := w.run(nil); err != nil {
				t.Errorf("the first runner: %v", err)
			}
		}
		return nil
	}}
	if _, err := w.run(faults); err != nil {
		t.Fatal(err)
	}
	if rows, told := len(w.lake.Rows(bronze)), len(w.factsOf("")); rows != 2 || told != 1 || !done {
		t.Errorf("%d rows, %d facts", rows, told)
	}
}

// Two runners may look for the end of the same batch at different times. What the
// first one stored counts for both: the second carries that out, and never the
// batch that it had in mind, of which the checkpoint would tell more or less than
// was written.
func TestTheOffsetThatIsStoredWins(t *testing.T) {
	t.Parallel()
	history := func() *world {
		w := newWorld()
		w.create(t)
		w.insert(1, 1, 2)
		w.insert(70, 3)
		return w
	}
	late := func(w *world) { w.insert(140, 4) }
	for name, tt := range map[string]struct {
		// before comes after the one runner looked and before the other one does.
		before func(*world)
		// other are the options of the runner that stores first, and of a life in
		// which it is alone.
		other []option
	}{
		"a later end":    {late, nil},
		"an earlier end": {func(*world) {}, []option{maxCommits(1)}},
	} {
		for _, killed := range []bool{true, false} {
			end := "and finished"
			if killed {
				end = "and was killed"
			}
			t.Run(name+" "+end, func(t *testing.T) {
				t.Parallel()
				alone := history()
				tt.before(alone)
				alone.mustRun(t, tt.other...)

				w, stored := history(), false
				other := &memory.Faults{Hook: func(p memory.Point) error {
					if killed && p.After && p.Call == "Tables.PutObject" && strings.Contains(p.Detail, "/offsets/") {
						return memory.ErrKill
					}
					return nil
				}}
				got, err := w.run(&memory.Faults{Hook: func(p memory.Point) error {
					if stored || p.After || p.Call != "Tables.PutObject" || !strings.Contains(p.Detail, "/offsets/") {
						return nil
					}
					stored = true
					tt.before(w)
					w.forget(t, "/locks/") // which the runner believes that it holds
					if _, err := w.run(other, tt.other...); killed != (err != nil) {
						t.Errorf("the runner that stores first: %v", err)
					}
					w.forget(t, "/locks/")
					return nil
				}})
				if err != nil || !stored || got.End != w.db.Newest() {
					t.Errorf("ended at %v of %v (stored: %v), %v", got.End.Text, w.db.Newest().Text, stored, err)
				}
				if err := w.orderHolds(); err != nil {
					t.Error(err)
				}
				w.later()
				w.mustRun(t) // a run that begins from what is stored
				if err := w.outcome().compare(alone.outcome()); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
