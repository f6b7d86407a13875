package run_test

import (
	"context"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
)

// refused plans, and returns the code of the stream's error, "" when it can run.
func (w *world) refused() string {
	w.t.Helper()
	p, _, _ := w.plan()
	errs := p.Steps[0].Diagnostics.Errors()
	if len(errs) == 0 {
		return ""
	}
	return errs[0].Code
}

// forget removes what the state holds below a folder, as losing it does.
func (w *world) forget(below string) {
	w.t.Helper()
	ctx, tables := context.Background(), w.plugin.Lake.Open()
	keys, err := tables.ListObjects(ctx, "_pipectl/shop/"+below, "")
	if err != nil || len(keys) == 0 {
		w.t.Fatalf("the state below %q: %q, %v", below, keys, err)
	}
	for _, key := range keys {
		if err := tables.DeleteObject(ctx, key); err != nil {
			w.t.Fatal(err)
		}
	}
}

func TestANewAppIDOnATableThatHoldsRowsIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		bootstrap string
		forget    bool
	}{
		"after a snapshot":                 {"full", false},
		"after changes":                    {"none", false},
		"when the stream's state is gone":  {"full", true},
		"after changes, the state is gone": {"none", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "orders")
			s := &w.cfg.Streams[0]
			s.Bootstrap = c.bootstrap
			w.commit(memory.Insert("orders", row(1, "a")))
			w.mustExecute(true)
			before := len(w.plugin.Lake.Rows("bronze.orders"))
			if c.forget {
				w.forget("streams/")
			}
			s.AppID = "orders-2"
			if got := w.refused(); got != "stream.other_app_id" {
				t.Errorf("a new app_id: %q", got)
			}
			if r := w.mustExecute(true); r.Steps[0].Kind != "" || len(w.plugin.Lake.Rows("bronze.orders")) != before {
				t.Errorf("apply: %+v", r.Steps[0])
			}
			// The ways out: a table of its own, or the old one.
			s.Target = "bronze.orders_2"
			if got := w.refused(); got != "" {
				t.Errorf("a table of its own: %q", got)
			}
			s.Target, s.AppID = "bronze.orders", "bronze.orders"
			want := ""
			if c.forget {
				want = "stream.checkpoint_lost"
			}
			if got := w.refused(); got != want {
				t.Errorf("the old app_id: %q, not %q", got, want)
			}
		})
	}
}

// The snapshot is there and its first batch had no rows: only facts tell that
// the stream had begun.
func TestALostStateIsFoundByTheFactsAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "orders")
	w.commit(memory.Insert("orders", row(1, "a")))
	w.mustExecute(true)
	w.forget("streams/")
	if got := w.refused(); got != "stream.checkpoint_lost" {
		t.Errorf("%q", got)
	}
}

// unable is a source that cannot tell whether changes are lost.
type unable struct{ plugin.Source }

func (unable) Lost(context.Context, plugin.LostRequest) (plugin.LostResponse, error) {
	return plugin.LostResponse{}, diag.Errorf(diag.KindUnsupported, "plugin.capability", "", "no").Err()
}

func TestPurgedChangesAreADecisionOfThePlan(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		unable, interrupted bool
		err, warning        string
	}{
		"lost":                         {err: "stream.data_loss"},
		"a source that cannot tell":    {unable: true, warning: "stream.position_purged"},
		"a batch that was interrupted": {interrupted: true, err: "stream.data_loss"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "orders")
			w.commit(memory.Insert("orders", row(1, "a")))
			w.mustExecute(true)
			w.commit(memory.Insert("orders", row(2, "b")))
			purged := w.plugin.Database.Newest()
			w.commit(memory.Insert("orders", row(3, "c")))
			w.plugin.Database.Purge("orders", purged)
			if c.interrupted {
				w.forget("streams/bronze.orders/commits/")
			}
			_, lakes, s := w.plan()
			if c.unable {
				s.source = unable{s.source}
			}
			p, err := planner.Make(t.Context(), planner.Request{Config: w.cfg, Plugins: s, Lakes: lakes, Now: w.now})
			if err != nil {
				t.Fatal(err)
			}
			step := p.Step(addr.New(addr.Stream, "orders"))
			var errs, warnings []string
			for _, d := range step.Diagnostics {
				if d.Severity == diag.Error {
					errs = append(errs, d.Code)
				} else {
					warnings = append(warnings, d.Code)
				}
			}
			if strings.Join(errs, " ") != c.err || strings.Join(warnings, " ") != c.warning {
				t.Fatalf("errors %q, warnings %q", errs, warnings)
			}
			if p.Changed() != (c.warning != "") || p.Undecided() != (c.warning != "") {
				t.Errorf("changed %v, undecided %v", p.Changed(), p.Undecided())
			}
			if c.err != "" && !diag.Is(step.Diagnostics.Err(), diag.KindDataLoss) {
				t.Errorf("%+v", step.Diagnostics)
			}
		})
	}
}
