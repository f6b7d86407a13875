package planner_test

import (
	"context"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
)

func tablesNamed(p *plan.Plan, name string) []plan.Table {
	var out []plan.Table
	for _, t := range p.Tables {
		if t.Ref.Name == name {
			out = append(out, t)
		}
	}
	return out
}

// twoChecks is a world whose two checks append to one report.
func twoChecks(t *testing.T) *world {
	w := newWorld(t)
	w.check = reporter{table: "ops.report"}
	other := w.cfg.Checks[0]
	other.Addr = addr.New(addr.Check, "orders_again")
	w.cfg.Checks = append(w.cfg.Checks, other)
	w.insert(1, 2)
	return w
}

// A table that two checks write stands once in a plan, so a saved plan which
// makes it can be carried out.
func TestATableOfTwoChecksStandsOnceInAPlan(t *testing.T) {
	t.Parallel()
	w := twoChecks(t)
	p := w.plan()
	list := tablesNamed(p, "ops.report")
	if len(list) != 1 || list[0].Action != plugin.TableCreate || !list[0].WrittenBy(theCheck) || !list[0].WrittenBy(w.cfg.Checks[1].Addr) {
		t.Fatalf("%+v", list)
	}
	if d := (plan.Saved{Conditions: p.Conditions()}).Differences(w.plan()); len(d) > 0 {
		t.Errorf("the same plan differs from itself: %v", d)
	}
}

// A table is made for a check that can run, when the first that wants it cannot.
func TestASharedTableIsMadeForACheckThatCanRun(t *testing.T) {
	t.Parallel()
	w := twoChecks(t)
	broken := w.cfg.Checks[0].Addr
	w.check = failing{reporter{table: "ops.report"}, broken.String()}
	p := w.plan()
	list := tablesNamed(p, "ops.report")
	if len(list) != 1 || list[0].Owner == broken || list[0].Action != plugin.TableCreate {
		t.Fatalf("%+v", list)
	}
	w.cfg.Checks = w.cfg.Checks[:1]
	if list := tablesNamed(w.plan(), "ops.report"); len(list) > 0 {
		t.Errorf("a table that nothing makes is in the plan: %+v", list)
	}
}

// A run never makes a table: a report that is gone needs a new acceptance.
func TestAReportThatIsGoneNeedsANewAcceptance(t *testing.T) {
	t.Parallel()
	w := twoChecks(t)
	w.accept()
	w.read()
	if s := w.plan().Step(theCheck); !s.Accepted {
		t.Fatalf("%+v", s)
	}
	w.plugin.Lake.DropTable("ops.report")
	p := w.plan()
	for _, c := range w.cfg.Checks {
		if s := p.Step(c.Addr); s.Accepted || s.NotAccepted != "its table ops.report does not exist any more" {
			t.Errorf("%+v", s)
		}
	}
	w.accept()
	states, err := w.plugin.Lake.Open().GetTables(t.Context(), plugin.GetTablesRequest{Tables: []plugin.TableRef{{Name: "ops.report"}}})
	w.must(err)
	if owner := states[0].Properties["pipectl.owner"]; !strings.HasPrefix(owner, "shop/") {
		t.Errorf("the owner is %q", owner)
	}
}

// What would stop a run stands in the plan: facts record rows that bronze lacks.
func TestRowsThatBronzeLostStopThePlan(t *testing.T) {
	t.Parallel()
	w := filled(t)
	w.insert(3)
	w.read()
	p := w.plan()
	w.must(p.Errors().Err())
	w.plugin.Lake.DropTable("bronze.orders")
	_, err := w.plugin.Lake.Open().ApplyTable(t.Context(), plugin.ApplyTableRequest{Spec: w.lake().Own(w.cfg, tablesNamed(p, "bronze.orders")[0].Spec)})
	w.must(err)
	p = w.plan()
	if d := errorOf(t, p, theStream); d.Code != "stream.rows_lost" || d.Kind != diag.KindStale {
		t.Errorf("%+v", d)
	}
}

// Tables that cannot be written have lost nothing, and hide no other owner.
func TestWhatCannotBeWrittenIsNotLost(t *testing.T) {
	t.Parallel()
	w := filled(t)
	w.plugin.Lake.ReadOnly = "The lake is read-only."
	missing, err := planner.Missing(t.Context(), w.cfg, w.lake())
	if err != nil || len(missing) > 0 {
		t.Errorf("%v, %v", missing, err)
	}
	w.cfg.Name = "other"
	missing, err = planner.Missing(t.Context(), w.cfg, w.lake())
	if err != nil || !diag.HasCode(missing[theStream], "table.other_owner") || !diag.HasCode(missing[theSilver], "table.other_owner") {
		t.Errorf("of another configuration: %v, %v", missing, err)
	}
}

// failing is a reporter whose plan of one check has an error.
type failing struct {
	reporter
	address string
}

func (f failing) PlanCheck(ctx context.Context, req plugin.CheckRequest, host plugin.Host) (plugin.CheckPlan, error) {
	out, err := f.reporter.PlanCheck(ctx, req, host)
	if req.Address == f.address {
		out.Diagnostics = diag.List{diag.Errorf(diag.KindUnsupported, "x.unsupported", "Choose another.", "This check cannot run")}
	}
	return out, err
}
