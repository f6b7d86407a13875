package run_test

import (
	"context"
	"slices"
	"testing"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
)

// unreadable is a sink of which one table cannot be looked at.
type unreadable struct {
	plugin.Tables
	name string
}

func (u unreadable) GetTables(ctx context.Context, req plugin.GetTablesRequest) ([]plugin.TableState, error) {
	if slices.ContainsFunc(req.Tables, func(r plugin.TableRef) bool { return r.Name == u.name }) {
		return nil, diag.Errorf(diag.KindUnsupported, "test.unreadable", "", "Table %s cannot be read", u.name).Err()
	}
	return u.Tables.GetTables(ctx, req)
}

// A table that cannot be looked at spoils the steps that need it and no other.
func TestAnUnreadableTableSpoilsItsOwnStepsOnly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		table string
		bad   []string // steps with errors of their own
		waits []string // steps that wait for one
	}{
		{"silver.orders", []string{"silver.orders"}, []string{"check.orders"}},
		{"bronze.orders", []string{"stream.orders"}, []string{"silver.orders", "check.orders"}},
		{"ops.ingestion_facts", []string{"stream.orders", "silver.orders", "check.orders", "stream.items", "silver.items", "check.items"}, nil},
	} {
		w := newWorld(t, "orders", "items")
		s := &sessions{w: w, tables: unreadable{w.plugin.Lake.Open(), c.table}}
		p, err := planner.Make(t.Context(), planner.Request{Config: w.cfg, Plugins: s, Now: w.now, Lakes: map[addr.Address]*planner.Lake{}})
		if err != nil {
			t.Fatalf("%s: %v", c.table, err)
		}
		var bad, waits []string
		for _, step := range p.Steps {
			switch {
			case step.Diagnostics.HasErrors():
				bad = append(bad, step.Address.String())
			case !step.Blocked.IsZero():
				waits = append(waits, step.Address.String())
			}
		}
		slices.Sort(bad)
		slices.Sort(waits)
		slices.Sort(c.bad)
		slices.Sort(c.waits)
		if !slices.Equal(bad, c.bad) || !slices.Equal(waits, c.waits) {
			t.Errorf("%s: %v cannot run and %v wait, not %v and %v", c.table, bad, waits, c.bad, c.waits)
		}
	}
}
