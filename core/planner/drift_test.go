package planner_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/state"
)

func (w *world) leaveOut(names ...string) {
	w.cfg.Tables[0].Columns = nil
	for _, n := range names {
		w.cfg.Tables[0].Columns = append(w.cfg.Tables[0].Columns, model.ColumnRule{Name: n, Drop: true})
	}
}

// reshape changes the columns that the source says it has.
func (w *world) reshape(change func([]arrow.Field) []arrow.Field) {
	w.inspected = func(r *plugin.InspectResponse) {
		for i := range r.Tables {
			r.Tables[i].Schema = arrow.NewSchema(change(r.Tables[i].Schema.Fields()), nil)
		}
	}
}

// discontinue makes the source say that its changes lack a column.
func (w *world) discontinue(name string) {
	w.inspected = func(r *plugin.InspectResponse) {
		for i := range r.Tables {
			r.Tables[i].Discontinued = []string{name}
		}
	}
}

func without(name string) func([]arrow.Field) []arrow.Field {
	return func(fields []arrow.Field) (out []arrow.Field) {
		for _, f := range fields {
			if f.Name != name {
				out = append(out, f)
			}
		}
		return out
	}
}

func retyped(name string, typ arrow.DataType) func([]arrow.Field) []arrow.Field {
	return func(fields []arrow.Field) []arrow.Field {
		for i := range fields {
			if fields[i].Name == name {
				fields[i].Type = typ
			}
		}
		return fields
	}
}

// Each change of a column has its class; those that rows in the table cannot
// follow are refused, and change nothing.
func TestClassesOfChanges(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before  func(*world) // before anything is read
		then    func(*world)
		changes string
		class   plan.Class // of bronze's table
		refused string     // code of the stream's error
		says    string
	}{
		"nothing": {then: func(*world) {}},
		"a column that the source gains": {then: func(w *world) {
			w.plugin.Database.AddColumn("orders", arrow.Field{Name: "region", Type: arrow.BinaryTypes.String, Nullable: true})
		}, changes: "stream.column_added region in place", class: plan.ClassInPlace},
		"a column that the source gains, under a watch": {then: func(w *world) {
			w.plugin.Database.AddColumn("orders", arrow.Field{Name: "region", Type: arrow.BinaryTypes.String, Nullable: true})
			_, err := w.lake().State.Lock(w.t.Context(), "bronze.orders", state.Holder{Run: "watch"})
			w.must(err)
		}, changes: "stream.column_added region restart", class: plan.ClassRestart},
		"a column that is left out": {then: func(w *world) { w.leaveOut("note") },
			changes: "stream.column_left_out note destructive", class: plan.ClassDestructive},
		"a column that the source loses": {then: func(w *world) { w.reshape(without("note")) },
			changes: "stream.column_gone note destructive", class: plan.ClassDestructive},
		"a column that the source has and gives no more": {then: func(w *world) { w.discontinue("note") },
			changes: "stream.column_discontinued note destructive", class: plan.ClassDestructive},
		"a column that the source gives again": {then: func(w *world) {
			w.discontinue("note")
			w.accept()
			w.inspected = nil
		}, changes: "stream.column_returns note re-snapshot", refused: "stream.column_returns"},
		"a column that the source never gave": {before: func(w *world) { w.discontinue("note") }, then: func(*world) {}},
		"a column that was left out from the start": {before: func(w *world) { w.leaveOut("note") }, then: func(w *world) { w.leaveOut() },
			changes: "stream.column_returns note re-snapshot", refused: "stream.column_returns", says: `without the column "note"`},
		"a column that was left out for a while": {then: func(w *world) {
			w.leaveOut("note")
			w.accept()
			w.leaveOut()
		}, changes: "stream.column_returns note re-snapshot", refused: "stream.column_returns", says: "rows that were read without"},
		"a column that the source had lost": {then: func(w *world) {
			w.reshape(without("note"))
			w.accept()
			w.inspected = nil
		}, changes: "stream.column_returns note re-snapshot", refused: "stream.column_returns"},
		"a column less that was left out": {before: func(w *world) { w.leaveOut("note", "amount") }, then: func(w *world) { w.leaveOut("note") },
			changes: "stream.column_returns amount re-snapshot", refused: "stream.column_returns"},
		"another type": {then: func(w *world) { w.reshape(retyped("amount", arrow.BinaryTypes.String)) },
			changes: "stream.column_retyped amount re-snapshot", refused: "stream.column_retyped", says: `"amount" (int32 in the table, utf8 in the rows)`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if c.before != nil {
				c.before(w)
			}
			w.insert(1, 2)
			w.accept()
			w.read()
			c.then(w)
			p := w.plan()
			step := p.Step(theStream)
			if got := changesOf(step); got != c.changes {
				t.Errorf("changes %q, want %q", got, c.changes)
			}
			data, err := json.Marshal(p)
			if err != nil || strings.Count(string(data), `"class":"`+string(plan.ClassResnapshot)+`"`) != strings.Count(c.changes, "re-snapshot") {
				t.Errorf("JSON: %v %s", err, data)
			}
			if c.refused != "" {
				d := errorOf(t, p, theStream)
				if d.Code != c.refused || d.Kind != diag.KindSchemaChanged || !strings.Contains(d.Summary, c.says) || c.refused == "stream.column_returns" && !strings.Contains(d.Detail, "another target") {
					t.Errorf("%+v", d)
				}
				if p.Count(plugin.TableAlter) != 0 || p.Step(theSilver).Blocked != theStream || p.Step(theCheck).Blocked != theStream {
					t.Errorf("%+v", p)
				}
				return
			}
			if step.Diagnostics.HasErrors() {
				t.Fatal(step.Diagnostics)
			}
			for _, table := range p.Tables {
				if table.Ref.Name == "bronze.orders" && table.Class != c.class {
					t.Errorf("class %q, want %q", table.Class, c.class)
				}
			}
			// Accepted once, it is no change any more.
			w.accept()
			if again := w.plan(); changesOf(again.Step(theStream)) != "" || again.Changed() {
				t.Errorf("after apply: %+v", again)
			}
		})
	}
}

// A table that holds no rows takes every change but that of a type.
func TestATableWithoutRowsTakesOtherColumnsAndKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.leaveOut("amount")
	w.cfg.Tables[0].Key = []string{"note"}
	w.accept()
	w.leaveOut()
	w.cfg.Tables[0].Key = nil
	p := w.plan()
	if len(p.Errors()) > 0 || changesOf(p.Step(theStream)) != "" || changesOf(p.Step(theSilver)) != "" {
		t.Fatalf("%v %+v", p.Errors(), p.Steps)
	}
	w.accept()
	w.reshape(retyped("note", arrow.PrimitiveTypes.Int64))
	p = w.plan()
	for _, name := range []string{"bronze.orders", "silver.orders"} {
		if list := tablesNamed(p, name); len(p.Errors()) > 0 || len(list) != 1 || !slices.Contains(list[0].Changes, "column note int64 in place of utf8") {
			t.Errorf("another type: %v %+v", p.Errors(), list)
		}
	}
	// A run would meet the old type.
	if s := p.Step(theStream); s.Accepted || s.NotAccepted != "bronze.orders has no rows, and is to get another type of note first" || changesOf(s) != "" {
		t.Errorf("another type: %+v", s)
	}
	w.accept()
	if s := w.plan().Step(theStream); !s.Accepted {
		t.Errorf("after apply: %+v", s)
	}
	w.inspected = nil
	w.accept()
	w.insert(1)
	w.read()
	if p := w.plan(); p.Changed() {
		t.Errorf("%+v", p)
	}
	if rows := w.plugin.Lake.Rows("silver.orders"); len(rows) != 1 || rows[0]["amount"] != int64(1) {
		t.Errorf("%v", rows)
	}
}

// A table without rows that still says that a column was left out forgets it with
// apply, before a run fills it: else the column would be refused for good though
// every row has it.
func TestATableWithoutRowsForgetsWhatWasLeftOutBeforeItIsFilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.accept()
	w.reshape(without("note"))
	w.accept()
	w.inspected = nil
	w.insert(1)
	step := w.plan().Step(theStream)
	if want := "bronze.orders has no rows, and is to forget first that note was left out"; step.Accepted || step.NotAccepted != want || step.Diagnostics.HasErrors() {
		t.Fatalf("accepted %v: %q %v", step.Accepted, step.NotAccepted, step.Diagnostics)
	}
	w.accept()
	if step := w.plan().Step(theStream); !step.Accepted {
		t.Errorf("after apply: %q", step.NotAccepted)
	}
	w.read()
	if p := w.plan(); p.Changed() || len(p.Errors()) > 0 {
		t.Errorf("%v %+v", p.Errors(), p.Steps)
	}
	// One that stays left out is nothing to forget.
	w = newWorld(t)
	w.leaveOut("note")
	w.accept()
	if step := w.plan().Step(theStream); !step.Accepted {
		t.Errorf("left out: %q", step.NotAccepted)
	}
}

// Rows of silver that one key told apart are not brought to another.
func TestAnotherKeyNeedsAnotherSilver(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		key  []string
		same bool
	}{
		"another column":              {[]string{"note"}, false},
		"a column more":               {[]string{"id", "note"}, false},
		"the same, written otherwise": {[]string{"ID"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := filled(t)
			w.inspected = func(r *plugin.InspectResponse) { // as a new unique index of the source would, too
				for i := range r.Tables {
					r.Tables[i].Key = c.key
				}
			}
			p := w.plan()
			if c.same {
				if len(p.Errors()) > 0 || p.Changed() {
					t.Fatalf("%+v", p)
				}
				return
			}
			d := errorOf(t, p, theSilver)
			if d.Code != "silver.key_changed" || d.Kind != diag.KindSchemaChanged || d.Path.String() != "target" || !strings.Contains(d.Summary, "told apart by id") ||
				changesOf(p.Step(theSilver)) != "silver.key_changed  re-snapshot" {
				t.Errorf("%+v %s", d, changesOf(p.Step(theSilver)))
			}
			if p.Step(theStream).Diagnostics.HasErrors() || p.Step(theCheck).Blocked != theSilver {
				t.Errorf("%+v", p.Steps)
			}
			w.cfg.Silvers[0].Target = "silver.orders_2"
			w.accept()
		})
	}
}

// A saved plan is out of date when other changes are found.
func TestASavedPlanHoldsTheChanges(t *testing.T) {
	t.Parallel()
	w := filled(t)
	w.leaveOut("note")
	saved := plan.Saved{Conditions: w.plan().Conditions()}
	if list := saved.Differences(w.plan()); len(list) > 0 {
		t.Fatal(list)
	}
	w.reshape(without("amount"))
	found := false
	for _, d := range saved.Differences(w.plan()) {
		found = found || strings.Contains(d.Summary, "change of bronze.orders amount by stream.orders is new")
	}
	if !found {
		t.Error("a change more goes unseen")
	}
}

// A run does not go on over a column that the source stopped to give until a
// person has accepted that.
func TestAColumnThatIsGivenNoMoreWaitsForAPerson(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.insert(1)
	w.accept()
	w.read()
	w.discontinue("note")
	step := w.plan().Step(theStream)
	if step.Accepted || !strings.Contains(step.NotAccepted, "note") {
		t.Errorf("accepted %v, %q", step.Accepted, step.NotAccepted)
	}
	w.accept()
	if step = w.plan().Step(theStream); !step.Accepted {
		t.Errorf("after apply: %q", step.NotAccepted)
	}
}
