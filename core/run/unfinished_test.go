package run_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/ledger"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/run"
)

// making is a silver that makes its target where there is none, as a plugin may,
// and dies after a step of its work: "" is none.
type making struct {
	*sessions
	diesAfter string
	bare      bool // it makes the target as older releases did
}

func (m making) Silver(context.Context, addr.Address) (plugin.Silver, error) {
	return makingSilver{making: m}, nil
}

type makingSilver struct {
	memory.Silver
	making
}

var errDied = errors.New("the silver died")

func (s makingSilver) RunSilver(ctx context.Context, req plugin.SilverRequest, host plugin.Host, progress func(plugin.Progress)) (plugin.SilverResult, error) {
	tables := host.Tables
	if s.bare {
		tables = s.w.plugin.Lake.Open()
	}
	_, err := tables.ApplyTable(ctx, plugin.ApplyTableRequest{Spec: plugin.TableSpec{
		Table: req.Target, Layout: plugin.LayoutMerge, Properties: map[string]string{"pipectl.from": req.Input.Name},
		Schema: arrow.NewSchema([]arrow.Field{
			{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "note", Type: arrow.BinaryTypes.String, Nullable: true},
		}, nil),
	}})
	if err != nil || s.diesAfter == "making" {
		return plugin.SilverResult{}, errors.Join(err, errDied)
	}
	if s.diesAfter == "merging" {
		host.Ledger = deadLedger{host.Ledger}
	}
	return s.Silver.RunSilver(ctx, req, host, progress)
}

// deadLedger dies before the position is stored.
type deadLedger struct{ plugin.Ledger }

func (deadLedger) Advance(context.Context, plugin.AdvanceRequest) (*int64, error) {
	return nil, errDied
}

// A silver that a run makes, because it is missing and nothing was applied to it,
// is this configuration's from its first commit on: a run that dies before it has
// stored the position leaves no table of nobody. One that an older release left so
// names the bronze that it is applied from, and is taken unasked.
func TestASilverThatARunMakesHasAnOwnerAtOnce(t *testing.T) {
	t.Parallel()
	for _, bare := range []bool{false, true} {
		for _, dies := range []string{"making", "merging", ""} {
			w := newWorld(t, "orders")
			w.commit(memory.Insert("orders", row(1, "a")))
			w.mustExecute(true)
			w.plugin.Lake.DropTable("silver.orders")
			w.plugin.Lake.DropTable("ops.table_finalization")
			books := ledger.New(w.plugin.Lake.Open(), ledger.Options{Facts: "ops.ingestion_facts", Control: "ops.table_finalization"})
			if err := books.Ensure(t.Context()); err != nil {
				t.Fatal(err)
			}
			r, err := w.execute(false, func(q *run.Request) { q.Plugins = making{q.Plugins.(*sessions), dies, bare} })
			if err != nil || (r.Steps[1].Status == run.Done) != (dies == "") {
				t.Fatalf("dies after %q: %s, %v, %v", dies, statuses(r), r.Steps[1].Diagnostics, err)
			}
			states, err := w.plugin.Lake.Open().GetTables(t.Context(), plugin.GetTablesRequest{Tables: []plugin.TableRef{{Name: "silver.orders"}}})
			if err != nil || strings.HasPrefix(states[0].Properties["pipectl.owner"], "shop/") == bare {
				t.Errorf("dies after %q: %v, %v", dies, states[0].Properties, err)
			}
			p, _, _ := w.plan()
			if err := p.Errors().Err(); err != nil || p.Changed() != bare {
				t.Errorf("dies after %q, bare %v: a plan changes something %v: %+v, %v", dies, bare, p.Changed(), p.Tables, err)
			}
			if r := w.mustExecute(false); r.Steps[1].Status != run.Done || !maps.Equal(w.silver("orders"), map[int64]string{1: "a"}) {
				t.Errorf("dies after %q, bare %v: %s, silver %v", dies, bare, statuses(r), w.silver("orders"))
			}
			w.mustExecute(true)
			if p, _, _ := w.plan(); p.Changed() {
				t.Errorf("dies after %q: a plan after apply changes something: %+v", dies, p.Tables)
			}
		}
	}
}
