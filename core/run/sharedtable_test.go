package run_test

import (
	"context"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/run"
	"github.com/pipectl/pipectl/core/state"
)

// Checks of several tables may append to one report: it is planned and made
// once, and each check may write to it.
func TestATableThatSeveralChecksShareIsMadeOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "orders", "lines")
	_, lakes, s := w.plan()
	plugins := reporting{s}
	p, err := planner.Make(context.Background(), planner.Request{Config: w.cfg, Plugins: plugins, Lakes: lakes, Now: w.now})
	if err != nil {
		t.Fatal(err)
	}
	if n := p.Count(plugin.TableCreate); n != 7 { // the ledger's two, two bronzes, two silvers and the report
		t.Errorf("%d tables are to be created, want 7: %+v", n, p.Tables)
	}
	for _, table := range p.Tables {
		if table.Ref.Name == "ops.report" && (!table.WrittenBy(w.cfg.Checks[0].Addr) || !table.WrittenBy(w.cfg.Checks[1].Addr)) {
			t.Errorf("the report belongs to %v and %v, want both checks", table.Owner, table.Sharers)
		}
	}
	r, err := run.Execute(context.Background(), run.Request{Config: w.cfg, Plan: p, Plugins: plugins, Lakes: lakes, Apply: true, Whole: true,
		Holder: state.Holder{Run: "test"}, Clock: w.now})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range r.Steps {
		if step.Status != run.Done {
			t.Fatal(statuses(r))
		}
	}
	states, err := w.plugin.Lake.Open().GetTables(context.Background(), plugin.GetTablesRequest{Tables: []plugin.TableRef{{Name: "ops.report"}}})
	if err != nil || !states[0].Exists {
		t.Errorf("the report was not made: %+v, %v", states, err)
	}
}

// reporting gives every check a report, the same one.
type reporting struct{ *sessions }

func (r reporting) Check(context.Context, addr.Address) (plugin.Check, error) { return reporter{}, nil }

type reporter struct{ memory.Check }

func (reporter) PlanCheck(context.Context, plugin.CheckRequest, plugin.Host) (plugin.CheckPlan, error) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "run_id", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	return plugin.CheckPlan{Summary: "counts", Tables: []plugin.TableSpec{{Table: plugin.TableRef{Name: "ops.report"}, Schema: schema}}}, nil
}
