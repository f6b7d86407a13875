package planner_test

import (
	"strings"
	"testing"

	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/state"
)

// discontinueFrom makes the source say from where on its changes lack a column.
func (w *world) discontinueFrom(name, from string) {
	w.inspected = func(r *plugin.InspectResponse) {
		for i := range r.Tables {
			r.Tables[i].Discontinued, r.Tables[i].DiscontinuedFrom = []string{name}, plugin.Position{Text: from}
		}
	}
}

// Positions before and behind all that a test reads.
const before, behind, furtherBehind = "0", "~", "~~"

// refuse stores a batch up to a position and leaves it at that, as a run does that
// refuses what it lacks.
func (w *world) refuse(end string) {
	w.t.Helper()
	log := w.log()
	_, err := w.lake().State.Stream("bronze.orders").Checkpoint(0).PutOffset(w.t.Context(), log.Newest+1, state.Offset{Start: log.Offset.End, End: plugin.Position{Text: end}})
	w.must(err)
}

// append writes rows of the stored batch to bronze, as a run does that is
// interrupted right behind them.
func (w *world) append() {
	w.t.Helper()
	bronze := w.cfg.Streams[0].Target
	states, err := w.lake().Tables.GetTables(w.t.Context(), plugin.GetTablesRequest{Tables: []plugin.TableRef{{Name: bronze}}})
	w.must(err)
	w.write(bronze, states[0].Schema, plugin.Txn{AppID: w.cfg.Streams[0].AppID, Version: w.log().Newest})
}

// A column that the source stopped to give and gives again before the stream came
// to where it ends is in every row, so it goes on; one of which rows were read
// without is refused for good.
func TestAColumnThatIsGivenAgainBeforeItsEndWasReadGoesOn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ends    []string // accepted one after the other
		between func(*world)
		goesOn  bool
	}{
		"before its end":                {ends: []string{behind}, goesOn: true},
		"before its end, and read on":   {ends: []string{behind}, between: func(w *world) { w.insert(3); w.read() }, goesOn: true},
		"behind its end":                {ends: []string{before}},
		"an end that is not known":      {ends: []string{""}},
		"an end that moved":             {ends: []string{behind, furtherBehind}, goesOn: true},
		"another end behind a read one": {ends: []string{before, behind}},
		"a column that was left out meanwhile": {ends: []string{behind}, between: func(w *world) {
			w.leaveOut("note")
			w.accept()
			w.leaveOut()
		}},
		"a column that the source lost meanwhile": {ends: []string{behind}, between: func(w *world) {
			w.reshape(without("note"))
			w.accept()
		}},
		"in a batch that was refused": {ends: []string{behind}, between: func(w *world) { w.refuse(furtherBehind) }, goesOn: true},
		"in a batch whose rows are in bronze": {ends: []string{behind}, between: func(w *world) {
			w.refuse(furtherBehind)
			w.append()
		}},
		"in a batch of a table that forgets": {ends: []string{behind}, between: func(w *world) {
			w.refuse(furtherBehind)
			w.plugin.Lake.ForgetTxns("bronze.orders")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := filled(t)
			for _, end := range c.ends {
				w.discontinueFrom("note", end)
				w.accept()
			}
			w.inspected = nil
			if c.between != nil {
				c.between(w)
			}
			w.inspected = nil
			p := w.plan()
			step := p.Step(theStream)
			if !c.goesOn {
				if changesOf(step) != "stream.column_returns note re-snapshot" || len(p.Errors()) != 1 {
					t.Errorf("%s %v", changesOf(step), p.Errors())
				}
				return
			}
			if changesOf(step) != "stream.column_continued note in place" || len(p.Errors()) > 0 || step.Accepted ||
				step.NotAccepted != "the source gives note again, and bronze.orders is to take note of it first" {
				t.Errorf("%s %v %q", changesOf(step), p.Errors(), step.NotAccepted)
			}
			if list := tablesNamed(p, "bronze.orders"); len(list) != 1 || list[0].Class != plan.ClassInPlace {
				t.Errorf("%+v", list)
			}
			w.accept()
			if p := w.plan(); p.Changed() || len(p.Errors()) > 0 || !p.Step(theStream).Accepted {
				t.Errorf("after apply: %+v", p.Steps)
			}
			w.insert(4)
			w.read()
			// Stopped once more, it waits for a person once more.
			w.discontinueFrom("note", furtherBehind)
			if step := w.plan().Step(theStream); step.Accepted || changesOf(step) != "stream.column_discontinued note destructive" {
				t.Errorf("accepted %v, %s", step.Accepted, changesOf(step))
			}
		})
	}
}

// What a run has in hand counts, though none of it is in bronze yet: its rows come
// after the plan, and nothing would tell of them once the table has forgotten that
// they lack a column.
func TestAColumnIsNotGivenAgainWhileARunMayReadRowsWithoutIt(t *testing.T) {
	t.Parallel()
	for name, atInspection := range map[string]bool{"a batch in hand": false, "a batch that is taken in hand while the plan is made": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := filled(t)
			w.discontinueFrom("note", behind)
			w.accept()
			w.inspected = nil
			var lock *state.Lock
			takeInHand := func() {
				var err error
				lock, err = w.lake().State.Lock(t.Context(), w.cfg.Streams[0].AppID, state.Holder{Run: "another", Host: "elsewhere", PID: 1})
				w.must(err)
				w.refuse(furtherBehind)
			}
			if atInspection {
				w.inspected = func(*plugin.InspectResponse) { w.inspected = nil; takeInHand() }
			} else {
				takeInHand()
			}
			p := w.plan()
			if got := changesOf(p.Step(theStream)); got != "stream.column_continued note in place" || !p.Step(theStream).Changes[0].Refused {
				t.Fatalf("%s %v", got, p.Errors())
			}
			// No row lacks it yet: nothing is to be loaded anew.
			e := errorOf(t, p, theStream)
			if e.Summary != `Run another (process 1 on elsewhere) reads changes into bronze.orders that may lack the column "note"` || !strings.HasPrefix(e.Detail, "Plan again when that batch is through") {
				t.Errorf("%s\n%s", e.Summary, e.Detail)
			}
			for _, table := range tablesNamed(p, "bronze.orders") {
				if table.Action == plugin.TableAlter {
					t.Errorf("%+v", table)
				}
			}
			// Refused by that run, none of them came.
			w.must(lock.Release(t.Context()))
			if got := changesOf(w.plan().Step(theStream)); got != "stream.column_continued note in place" || w.plan().Errors() != nil {
				t.Errorf("after the run: %s", got)
			}
			w.append()
			if p := w.plan(); changesOf(p.Step(theStream)) != "stream.column_returns note re-snapshot" || !strings.Contains(errorOf(t, p, theStream).Summary, "holds rows that were read without") {
				t.Errorf("with its rows: %s %v", changesOf(p.Step(theStream)), p.Errors())
			}
		})
	}
}
