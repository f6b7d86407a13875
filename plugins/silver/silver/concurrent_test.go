package silver_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	fake "github.com/pipectl/pipectl/core/plugin/memory"
)

// insert, change and remove are one commit of one row each.
func (w *world) insert(t failer, id int32, note string) {
	t.Helper()
	w.lsn++
	w.state[id] = note
	w.write(t, logRow{lsn: w.lsn, command: 1, op: plugin.OpInsert, id: id, note: note, chunk: -1})
}

func (w *world) change(t failer, id int32, note string) {
	t.Helper()
	w.lsn++
	before := w.state[id]
	w.state[id] = note
	w.write(t, logRow{lsn: w.lsn, command: 1, op: plugin.OpUpdateBefore, id: id, note: before, chunk: -1},
		logRow{lsn: w.lsn, command: 1, op: plugin.OpUpdateAfter, id: id, note: note, chunk: -1})
}

func (w *world) remove(t failer, id int32) {
	t.Helper()
	w.lsn++
	before := w.state[id]
	delete(w.state, id)
	w.write(t, logRow{lsn: w.lsn, command: 1, op: plugin.OpDelete, id: id, note: before, chunk: -1})
}

// lose changes the source without a trace in bronze, as a purged gap does; then
// a whole snapshot shows the table as it is.
func (w *world) lose(t failer, change func()) {
	t.Helper()
	w.lsn++
	change()
	w.snapshot(t)
}

func (w *world) snapshot(t failer) {
	t.Helper()
	w.lsn++
	w.write(t, w.snapshotRows()...)
	view := w.ledger.Views[silverName]
	view.Snapshot = lsn(w.lsn)
	w.ledger.Views[silverName] = view
}

// two runs of silver that do not know of each other, as when one lost its lock.
var twoRuns = map[string]struct {
	// before is what there is when run A begins.
	before func(t *testing.T, w *world)
	// between happens after A has begun and before B begins.
	between func(t *testing.T, w *world)
}{
	"both build silver first": {
		before:  func(t *testing.T, w *world) { w.insert(t, 1, "a") },
		between: func(t *testing.T, w *world) { w.insert(t, 2, "b") },
	},
	"both are incremental: a row comes": {
		before:  func(t *testing.T, w *world) { w.built(t); w.change(t, 1, "b") },
		between: func(t *testing.T, w *world) { w.insert(t, 5, "e") },
	},
	"both are incremental: a row goes that A has as changed": {
		before:  func(t *testing.T, w *world) { w.built(t); w.change(t, 1, "b") },
		between: func(t *testing.T, w *world) { w.remove(t, 1) },
	},
	"both are incremental: a row goes that A has as new": {
		before:  func(t *testing.T, w *world) { w.built(t); w.insert(t, 5, "e") },
		between: func(t *testing.T, w *world) { w.remove(t, 5) },
	},
	"both are incremental: A has nothing to do": {
		before:  func(t *testing.T, w *world) { w.built(t) },
		between: func(t *testing.T, w *world) { w.remove(t, 1); w.insert(t, 1, "again") },
	},
	"both rebuild": {
		before: func(t *testing.T, w *world) {
			w.built(t)
			w.lose(t, func() { delete(w.state, 1); w.state[7] = "g" })
		},
		between: func(t *testing.T, w *world) { w.insert(t, 8, "h"); w.remove(t, 2) },
	},
	"both rebuild from snapshots of their own": {
		before: func(t *testing.T, w *world) {
			w.built(t)
			w.lose(t, func() { delete(w.state, 1); w.state[7] = "g" })
		},
		between: func(t *testing.T, w *world) { w.lose(t, func() { delete(w.state, 7); w.state[9] = "i" }) },
	},
	"A is incremental, B rebuilds": {
		before:  func(t *testing.T, w *world) { w.built(t); w.insert(t, 5, "e") },
		between: func(t *testing.T, w *world) { w.lose(t, func() { delete(w.state, 5); delete(w.state, 1) }) },
	},
	"A is incremental, B rebuilds from a table that was emptied": {
		before:  func(t *testing.T, w *world) { w.built(t); w.insert(t, 5, "e") },
		between: func(t *testing.T, w *world) { w.lose(t, func() { clear(w.state) }) },
	},
}

func (w *world) built(t *testing.T) {
	t.Helper()
	w.insert(t, 1, "a")
	w.insert(t, 2, "b")
	if _, err := w.apply(&fake.Faults{}); err != nil {
		t.Fatal(err)
	}
}

// Whatever two runs do to each other, and wherever one of them dies, silver
// equals the source when the other has ended, and no position goes back: a run
// commits only on the version and the position that it began with.
//
// A stops at each of its calls; there B begins. B stops, or dies, at each of
// its own; A goes on to its end, then B.
func TestTwoRunsNeverUndoEachOther(t *testing.T) {
	t.Parallel()
	for name, tc := range twoRuns {
		for _, dies := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, B dies %v", name, dies), func(t *testing.T) {
				t.Parallel()
				for a := 1; ; a++ {
					reachedA := false
					for b := 1; ; b++ {
						r := &race{t: t, w: newWorld(), between: tc.between, a: a, b: b, dies: dies}
						r.w.budget = 0
						tc.before(t, r.w)
						r.run()
						reachedA = r.begunB != nil
						if !reachedA || !r.stoppedB {
							break
						}
					}
					if !reachedA {
						return
					}
				}
			})
		}
	}
}

// race is two runs, of which A stops at its point a, and B at its point b.
type race struct {
	t       *testing.T
	w       *world
	between func(t *testing.T, w *world)
	a, b    int
	dies    bool

	begunB   chan struct{} // closed when B has ended
	stoppedB bool
	resume   chan struct{}
	errB     error
	merged   bool // B has committed to silver
}

func (r *race) run() {
	r.t.Helper()
	countA := 0
	faults := &fake.Faults{Hook: func(p fake.Point) error {
		if passed(p) {
			return nil
		}
		if countA++; countA == r.a {
			r.between(r.t, r.w)
			r.beginB()
		}
		return nil
	}}
	_, errA := r.w.apply(faults)
	r.settled("A", errA)
	if r.begunB == nil {
		return
	}
	close(r.resume)
	<-r.begunB
	if !r.dies || !r.stoppedB {
		r.settled("B", r.errB)
		r.same("after both")
	} else if r.merged {
		r.same("after A, B having died between its merge and its position")
	}
	r.settled("C", diag.Errorf(diag.KindConflict, "", "", "begin").Err())
	r.same("after one more")
	if got := r.w.ledger.Views[silverName].Position.Applied; got != lsn(r.w.lsn) {
		r.fatal("position %s, want %s", got, lsn(r.w.lsn))
	}
	last := ""
	for _, step := range r.w.ledger.Advances() {
		if step.Position.Applied < last {
			r.fatal("the position went back from %s to %s", last, step.Position.Applied)
		}
		last = step.Position.Applied
	}
}

// beginB starts B and comes back when it has stopped or ended.
func (r *race) beginB() {
	r.begunB, r.resume = make(chan struct{}), make(chan struct{})
	stopped := make(chan struct{})
	countB := 0
	faults := &fake.Faults{Hook: func(p fake.Point) error {
		r.merged = r.merged || p.Call == "Tables.Commit" && p.After
		if passed(p) {
			return nil
		}
		if countB++; countB != r.b {
			return nil
		}
		r.stoppedB = true
		if r.dies {
			return fake.ErrKill
		}
		close(stopped)
		<-r.resume
		return nil
	}}
	go func() {
		defer close(r.begunB)
		_, r.errB = r.w.apply(faults)
	}()
	select {
	case <-stopped:
	case <-r.begunB:
	}
}

// passed leaves out points at which nothing new can happen: between batches of
// rows, and after a call, which is before the next one.
func passed(p fake.Point) bool { return p.After || strings.HasSuffix(p.Call, ".Recv") }

// settled repeats a run that lost, as the host does.
func (r *race) settled(who string, err error) {
	r.t.Helper()
	for try := 0; diag.Is(err, diag.KindConflict) && try < 3; try++ {
		_, err = r.w.apply(&fake.Faults{})
	}
	if err != nil {
		r.fatal("run %s: %v", who, err)
	}
}

func (r *race) same(when string) {
	r.t.Helper()
	if got := r.w.silver(); !maps.Equal(got, r.w.state) {
		r.fatal("%s: silver %v, source %v", when, got, r.w.state)
	}
}

func (r *race) fatal(format string, args ...any) {
	r.t.Helper()
	r.t.Fatal(fmt.Sprintf("A stopped at its point %d, B at %d: ", r.a, r.b), fmt.Sprintf(format, args...))
}
