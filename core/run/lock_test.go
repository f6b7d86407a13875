package run_test

import (
	"context"
	"testing"
	"time"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/run"
	"github.com/pipectl/pipectl/core/state"
)

// slowSilver waits until its lock is taken from it.
type slowSilver struct {
	memory.Silver
	begun func(context.Context)
}

func (s slowSilver) RunSilver(ctx context.Context, req plugin.SilverRequest, host plugin.Host, progress func(plugin.Progress)) (plugin.SilverResult, error) {
	s.begun(ctx)
	<-ctx.Done()
	return plugin.SilverResult{}, ctx.Err()
}

type slowSilvers struct {
	*sessions
	silver plugin.Silver
}

func (s slowSilvers) Silver(context.Context, addr.Address) (plugin.Silver, error) {
	return s.silver, nil
}

// Who lost the lock of a silver is told so, and by whom it was taken; that the
// call was cancelled then is no reason.
func TestASilverThatLosesItsLockSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "orders")
	w.mustExecute(true)
	ticks := make(chan time.Time)
	var warned []string
	result, err := w.execute(false, func(q *run.Request) {
		sink := w.cfg.Sinks[0].Addr
		objects := state.InSink(w.plugin.Lake.Open(), "sink.lake")
		open := func(after func(time.Duration) <-chan time.Time) *state.Store {
			store, err := state.Open(context.Background(), objects, state.Options{Name: w.cfg.Name, Clock: w.now, After: after})
			if err != nil {
				t.Fatal(err)
			}
			return store
		}
		q.Event = func(e run.Event) {
			if e.Kind == run.StepWarning {
				warned = append(warned, e.Address.String()+" "+e.Diagnostic.Code)
			}
		}
		q.Lakes[sink].State = open(func(time.Duration) <-chan time.Time { return ticks })
		q.Plugins = slowSilvers{q.Plugins.(*sessions), slowSilver{begun: func(ctx context.Context) {
			other := open(nil)
			if err := other.Unlock(ctx, "silver.orders"); err != nil {
				t.Error(err)
			}
			if _, err := other.Lock(ctx, "silver.orders", state.Holder{Run: "another"}); err != nil {
				t.Error(err)
			}
			for ctx.Err() == nil { // the renewal of the stream's lock may take one, too
				select {
				case ticks <- time.Time{}:
				case <-ctx.Done():
				}
			}
		}}}
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(warned) != 1 || warned[0] != "silver.orders state.lock_lost" {
		t.Errorf("warned of %q", warned)
	}
	r := result.Steps[1] // tried again, and the other still holds it
	if r.Status != run.Failed || len(r.Diagnostics) != 1 || r.Diagnostics[0].Code != "state.locked" {
		t.Errorf("%s: %s %+v", r.Address, r.Status, r.Diagnostics)
	}
}
