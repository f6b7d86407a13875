package run_test

import (
	"context"
	"testing"
	"time"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/ledger"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/run"
)

// Another configuration's table takes the name of bronze after a watch was planned,
// as when neither had run. The watch ends, and its silver is not final for what the
// other's bronze proves.
func TestAWatchEndsWhenAnotherTableTakesItsName(t *testing.T) {
	w := newWorld(t, "orders")
	w.mustExecute(true)
	lake := func() *ledger.Ledger {
		_, lakes, _ := w.plan()
		return lakes[w.cfg.Sinks[0].Addr].Ledger
	}
	end := plugin.Position{Text: "99999999", CommitMicros: w.clock.Add(48 * time.Hour).UnixMicro(), HasCommit: true}
	stop, idles := make(chan struct{}), 0
	r, err := w.execute(false, func(q *run.Request) {
		w.plugin.Lake.DropTable("ops.table_finalization")
		books := q.Lakes[w.cfg.Sinks[0].Addr].Ledger
		if err := books.Ensure(t.Context()); err != nil {
			t.Fatal(err)
		}
		other := ledger.Place{Path: "prod/orders", ID: "another"}
		if _, err := books.AdvanceAll(t.Context(), ledger.Verdict{Table: "bronze.orders", Granularity: ledger.Hour, Place: other, End: end}); err != nil {
			t.Fatal(err)
		}
		w.commit(memory.Insert("orders", row(1, "a")))
		q.Watch, q.Stop = true, stop
		q.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
		q.Event = func(e run.Event) {
			if e.Kind == run.StepProgress && e.Stage == "idle" {
				if idles++; idles == 5 {
					close(stop) // it would go on for ever
				}
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Steps {
		if s.Address.String() == "stream.orders" && (s.Status != run.Failed || !diag.HasCode(s.Diagnostics.Err(), ledger.CodeNameTaken)) {
			t.Errorf("%s: %s %v", s.Address, s.Status, s.Diagnostics)
		}
	}
	if silver, err := lake().ControlRow(t.Context(), "silver.orders"); err != nil || silver.FinalizedUntil != nil {
		t.Errorf("silver is final until %v, %v", *silver.FinalizedUntil, err)
	}
}
