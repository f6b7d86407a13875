package run_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
)

func TestTablesOfAnotherConfiguration(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "orders")
	w.commit(memory.Insert("orders", row(1, "a")))
	w.mustExecute(true)
	w.cfg.Name = "other"
	p, lakes, s := w.plan()
	stolen := p.Steps[0]
	if !diag.Is(stolen.Diagnostics.Err(), diag.KindStale) || !strings.Contains(stolen.Diagnostics.Err().Error(), "-take-over stream.orders") {
		t.Fatalf("%s: %v", stolen.Address, stolen.Diagnostics)
	}
	if p.Steps[1].Blocked != stolen.Address || len(p.Errors()) != 1 {
		t.Fatalf("%+v", p.Steps[1])
	}
	takeOver := []addr.Address{p.Steps[0].Address, p.Steps[1].Address}
	take := func() *plan.Plan {
		p, err := planner.Make(context.Background(), planner.Request{Config: w.cfg, Plugins: s, Lakes: lakes, Now: w.now, TakeOver: takeOver})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	// Without its state the stream would not know how far its table is.
	if err := take().Steps[0].Diagnostics.Err(); err == nil || diag.FromError(err)[0].Code != "stream.checkpoint_lost" {
		t.Fatalf("without the state: %v", err)
	}
	w.copyState("shop", "other")
	_, lakes, s = w.plan()
	p = take()
	if len(p.Errors()) != 0 || p.Count(plugin.TableAlter) != 2 || !strings.Contains(fmt.Sprint(p.Tables), "take over from shop/") {
		t.Fatalf("%v %+v", p.Errors(), p.Tables)
	}
}

// copyState copies the state of one configuration to another, as a person does
// who hands tables over.
func (w *world) copyState(from, to string) {
	w.t.Helper()
	ctx, tables := context.Background(), w.plugin.Lake.Open()
	keys, err := tables.ListObjects(ctx, "_pipectl/"+from+"/", "")
	if err != nil || len(keys) == 0 {
		w.t.Fatalf("the state of %s: %q, %v", from, keys, err)
	}
	for _, key := range keys {
		object, _, err := tables.GetObject(ctx, key)
		if err != nil {
			w.t.Fatal(err)
		}
		object.Key = strings.Replace(key, "/"+from+"/", "/"+to+"/", 1)
		if err := tables.PutObject(ctx, object, false); err != nil {
			w.t.Fatal(err)
		}
	}
}
