package run_test

import (
	"context"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/run"
)

// Checks are no part of a watch, so it says nothing of one that was not
// accepted.
func TestAWatchSaysNothingOfChecks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "orders")
	w.mustExecute(true)
	w.cfg.Checks[0].Body = cty.ObjectVal(map[string]cty.Value{"sample": cty.StringVal("other")})
	stop := make(chan struct{})
	close(stop)
	r, err := w.execute(false, func(q *run.Request) {
		q.Watch, q.Stop = true, stop
		q.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Steps {
		if s.Address == w.cfg.Checks[0].Addr {
			t.Errorf("%s", statuses(r))
		}
	}
	// A plain run does say it.
	if got := statuses(w.mustExecute(false)); got != "stream.orders done; silver.orders done; check.orders refused" {
		t.Error(got)
	}
}
