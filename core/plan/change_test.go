package plan_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/core/plan"
)

func TestTheWorstClassOfATable(t *testing.T) {
	t.Parallel()
	change := func(table string, c plan.Class) plan.Change { return plan.Change{Table: table, Class: c} }
	for _, c := range []struct {
		changes []plan.Change
		want    plan.Class
	}{
		{nil, ""},
		{[]plan.Change{change("other", plan.ClassDestructive)}, ""},
		{[]plan.Change{change("bronze", plan.ClassInPlace)}, plan.ClassInPlace},
		{[]plan.Change{change("bronze", plan.ClassRestart), change("bronze", plan.ClassInPlace)}, plan.ClassRestart},
		{[]plan.Change{change("bronze", plan.ClassDestructive), change("bronze", plan.ClassResnapshot)}, plan.ClassDestructive},
	} {
		if got := plan.Worst(c.changes, "bronze"); got != c.want {
			t.Errorf("%v: %q, want %q", c.changes, got, c.want)
		}
	}
}

// A change is shown in one line, in JSON, and is a condition of a saved plan. A
// watch that comes or goes does not put the plan out of date.
func TestChangesOfAPlan(t *testing.T) {
	t.Parallel()
	with := func(c plan.Change) *plan.Plan {
		p := somePlan()
		p.Steps[0].Changes = []plan.Change{c}
		return p
	}
	added := plan.Change{Code: "stream.column_added", Class: plan.ClassInPlace, Table: "bronze.orders", Column: "note", Text: "new"}
	if got := added.String(); got != "column note of bronze.orders: new (in place)" {
		t.Error(got)
	}
	if got := (plan.Change{Table: "silver.orders", Class: plan.ClassResnapshot, Text: "was a, is b"}).String(); got != "key of silver.orders: was a, is b (re-snapshot)" {
		t.Error(got)
	}
	data, err := json.Marshal(with(added))
	if want := `"changes":[{"code":"stream.column_added","class":"in place","table":"bronze.orders","column":"note","text":"new","refused":false}]`; err != nil || !strings.Contains(string(data), want) {
		t.Errorf("%v %s", err, data)
	}
	saved := plan.Saved{Conditions: with(added).Conditions()}
	restart := added
	restart.Class = plan.ClassRestart
	if list := saved.Differences(with(restart)); len(list) > 0 {
		t.Errorf("under a watch: %v", list)
	}
	other := added
	other.Code, other.Text = "stream.column_returns", "left out before"
	if list := saved.Differences(with(other)); len(list) != 1 || !strings.Contains(list[0].Summary, "change of bronze.orders note by stream.orders is not what it was") {
		t.Errorf("another change: %v", list)
	}
	if list := saved.Differences(somePlan()); len(list) != 1 || !strings.Contains(list[0].Summary, "no part of it any more") {
		t.Errorf("no change: %v", list)
	}
}
