package run_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/run"
)

// absentSource is one that cannot be looked at for some calls.
type absentSource struct {
	plugin.Source
	calls *int // that still fail
	err   error
}

func (s absentSource) Inspect(ctx context.Context, req plugin.InspectRequest) (plugin.InspectResponse, error) {
	if *s.calls > 0 {
		*s.calls--
		return plugin.InspectResponse{}, s.err
	}
	return s.Source.Inspect(ctx, req)
}

// hangingSource answers no call, and asks the run to end meanwhile. Its error is
// one of the wire, which tells nothing of the context.
type hangingSource struct {
	plugin.Source
	stop chan struct{}
}

func (s hangingSource) Inspect(ctx context.Context, _ plugin.InspectRequest) (plugin.InspectResponse, error) {
	close(s.stop)
	<-ctx.Done()
	return plugin.InspectResponse{}, diag.Errorf(diag.KindInternal, "internal", "", "a call to another process was cancelled").Err()
}

// startAway changes a request to that of a source which fails so many calls, the first
// one that of the plan.
func (w *world) startAway(q *run.Request, calls *int, err error) {
	s := away{q.Plugins.(*sessions), absentSource{w.plugin.Database.Open(), calls, err}}
	q.Plugins = s
	again := func(ctx context.Context, steps []addr.Address) (*plan.Plan, error) {
		return planner.Make(ctx, planner.Request{Config: w.cfg, Plugins: s, Lakes: q.Lakes, Targets: steps, Now: w.now})
	}
	var perr error
	if q.Plan, perr = again(context.Background(), nil); perr != nil {
		w.t.Fatal(perr)
	}
	q.Watch, q.Again = true, again
	q.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
}

// stopWhen asks a run to end at the first event that is so; set after the request's
// own Event, which hears of all.
func stopWhen(q *run.Request, is func(run.Event) bool) {
	stop, stopped, hears := make(chan struct{}), false, q.Event
	q.Stop = stop
	q.Event = func(e run.Event) {
		if hears != nil {
			hears(e)
		}
		if !stopped && is(e) {
			stopped = true
			close(stop)
		}
	}
}

// caughtUp is an idle stream whose silver holds so many rows.
func (w *world) caughtUp(rows int) func(run.Event) bool {
	return func(e run.Event) bool { return e.Stage == "idle" && len(w.silver("orders")) == rows }
}

// A service may begin before its database does. That is told once, and the silver
// of the stream says nothing of its own.
func TestAWatchWaitsForAServerThatIsAwayWhenItBegins(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		calls int
		err   error
		told  []string
	}{
		"for hours": {100, errAway, []string{
			"failing stream.orders db.unreachable", "started stream.orders changes", "recovered stream.orders", "started silver.orders apply", "working silver.orders"}},
		"for the plan": {1, errAway, []string{
			"failing stream.orders db.unreachable", "started stream.orders changes", "recovered stream.orders", "started silver.orders apply", "working silver.orders"}},
		"a login that is refused": {100, diag.Errorf(diag.KindPermission, "db.login", "", "wrong password").Err(), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "orders")
			w.commit(memory.Insert("orders", row(1, "a")))
			w.mustExecute(true)
			w.commit(memory.Insert("orders", row(2, "b")))
			calls := tt.calls
			var told []string
			r, err := w.execute(false, func(q *run.Request) {
				w.startAway(q, &calls, tt.err)
				q.Event = func(e run.Event) {
					switch e.Kind {
					case run.StepFailing:
						told = append(told, fmt.Sprint(e.Kind, " ", e.Address, " ", e.Step.Diagnostics[0].Code))
					case run.StepStarted:
						told = append(told, fmt.Sprint(e.Kind, " ", e.Address, " ", e.Step.Kind))
					case run.StepWorking, run.StepRecovered:
						told = append(told, fmt.Sprint(e.Kind, " ", e.Address))
					case run.StepWarning:
						t.Errorf("warned of %s", e.Diagnostic.Code)
					}
				}
				there := w.caughtUp(2)
				stopWhen(q, func(e run.Event) bool { return len(told) >= len(tt.told) && there(e) })
			})
			if err != nil {
				t.Fatal(err)
			}
			if tt.told == nil {
				if got := statuses(r); got != "stream.orders failed; silver.orders skipped" || calls != tt.calls-1 {
					t.Errorf("%s, %d calls left", got, calls)
				}
				return
			}
			slices.Sort(told)
			slices.Sort(tt.told)
			if got := statuses(r); got != "stream.orders done; silver.orders done" || len(w.silver("orders")) != 2 || !slices.Equal(told, tt.told) {
				t.Errorf("%s, silver %v, told %q", got, w.silver("orders"), told)
			}
		})
	}
}

// A stream that was accepted and never began reads its table when the server is
// there, as planned then.
func TestAWatchThatWaitedTakesTheSnapshot(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "orders")
	w.commit(memory.Insert("orders", row(1, "a")))
	if _, err := w.execute(true, func(q *run.Request) { q.TablesOnly = true }); err != nil {
		t.Fatal(err)
	}
	calls := 5
	r, err := w.execute(false, func(q *run.Request) {
		w.startAway(q, &calls, errAway)
		stopWhen(q, w.caughtUp(1))
	})
	if err != nil || r.Steps[0].Status != run.Done || r.Steps[0].Stream.SnapshotRows != 1 {
		t.Errorf("%s %+v, %v", statuses(r), r.Steps[0].Stream, err)
	}
}

// What is wrong beside a server that was away ends the step when it is back.
func TestAWatchThatWaitedFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "orders")
	w.commit(memory.Insert("orders", row(1, "a")))
	w.mustExecute(true)
	calls := 5
	r, err := w.execute(false, func(q *run.Request) {
		w.startAway(q, &calls, errAway)
		q.Stop = make(chan struct{})
		again := q.Again
		q.Again = func(ctx context.Context, steps []addr.Address) (*plan.Plan, error) {
			p, err := again(ctx, steps)
			for i := range p.Steps {
				if p.Steps[i].Address.Kind == addr.Stream {
					p.Steps[i].Diagnostics = diag.List{diag.Errorf(diag.KindDataLoss, "stream.data_loss", "", "gone")}
				}
			}
			return p, err
		}
	})
	if got := statuses(r); err != nil || got != "stream.orders failed; silver.orders skipped" || r.Steps[0].Diagnostics[0].Code != "stream.data_loss" {
		t.Errorf("%s %v, %v", got, r.Steps[0].Diagnostics, err)
	}
}

// A watch that is asked to end does not wait any more, and says what it waited for.
func TestStopEndsTheWaitingForAServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "orders")
	w.mustExecute(true)
	calls, stop := 1000, make(chan struct{})
	r, err := w.execute(false, func(q *run.Request) {
		w.startAway(q, &calls, errAway)
		q.Stop = stop
		q.Sleep = func(ctx context.Context, d time.Duration) error {
			if d == 10*time.Second {
				close(stop)
				<-ctx.Done() // the time never comes
			}
			return ctx.Err()
		}
	})
	if got := statuses(r); err != nil || !r.Stopped || got != "stream.orders failed; silver.orders skipped" || r.Steps[0].Diagnostics.Errors()[0].Code != "db.unreachable" {
		t.Errorf("%s %v, %v", got, r.Steps[0].Diagnostics, err)
	}
}

// A silver alone waits, too, and says for what; where its stream cannot run for good
// it ends at once.
func TestASilverAloneWaitsForTheServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "orders")
	w.commit(memory.Insert("orders", row(1, "a")))
	w.mustExecute(true)
	for cause, want := range map[error]string{
		errAway: "silver.orders done",
		diag.Errorf(diag.KindPermission, "db.login", "", "wrong password").Err(): "silver.orders failed",
	} {
		calls := 6
		var told []string
		r, err := w.execute(false, func(q *run.Request) {
			w.startAway(q, &calls, cause)
			alone, perr := q.Again(t.Context(), []addr.Address{w.cfg.Silvers[0].Addr})
			if perr != nil {
				t.Fatal(perr)
			}
			q.Plan, q.Stop = alone, make(chan struct{})
			q.Event = func(e run.Event) {
				if e.Kind == run.StepFailing {
					told = append(told, e.Step.Diagnostics[0].Code)
				}
			}
		})
		if got := statuses(r); err != nil || got != want || (want == "silver.orders done") != (calls == 0 && slices.Equal(told, []string{"db.unreachable"})) {
			t.Errorf("%s %v, %v, told %q, %d calls left", got, r.Steps, err, told, calls)
		}
	}
}

// The first plan cannot look at a source that is away: what its second plan would
// do without an acceptance is refused, as by any run.
func TestAWatchThatWaitedReadsNoTableThatNobodyAccepted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "orders")
	w.commit(memory.Insert("orders", row(1, "a")))
	w.mustExecute(true)
	w.empty("bronze.orders")
	calls := 5
	r, err := w.execute(false, func(q *run.Request) {
		w.startAway(q, &calls, errAway)
		if s := q.Plan.Steps[0]; !s.Accepted || s.Kind == plan.FullSnapshot {
			t.Errorf("the plan could look at the source: %+v", s)
		}
		stopWhen(q, func(e run.Event) bool { return e.Stage == "idle" }) // a stream that works has read it
	})
	if got := statuses(r); err != nil || got != "stream.orders refused; silver.orders skipped" || r.Steps[0].Diagnostics.Errors()[0].Code != "run.not_accepted" {
		t.Errorf("%s %v, %v", got, r.Steps[0].Diagnostics, err)
	}
	opened := 0
	for _, r := range w.plugin.Lake.Rows("ops.ingestion_facts") {
		if r["event"] == "snapshot_open" {
			opened++
		}
	}
	if opened != 1 {
		t.Errorf("%d snapshots", opened)
	}
}

// What a silver met in the second plan, and what may pass, is no failure of its
// work, which begins when it may have passed.
func TestWhatPassedInTheSecondPlanIsNotKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "orders")
	w.commit(memory.Insert("orders", row(1, "a")))
	w.mustExecute(true)
	w.commit(memory.Insert("orders", row(2, "b")))
	calls := 5
	var told []string
	r, err := w.execute(false, func(q *run.Request) {
		w.startAway(q, &calls, errAway)
		again := q.Again
		q.Again = func(ctx context.Context, steps []addr.Address) (*plan.Plan, error) {
			p, err := again(ctx, steps)
			for i := range p.Steps {
				if p.Steps[i].Address.Kind == addr.Silver {
					p.Steps[i].Diagnostics = diag.List{diag.Errorf(diag.KindTransient, "plugin.crashed", "", "gone")}
				}
			}
			return p, err
		}
		q.Event = func(e run.Event) {
			if e.Address.Kind == addr.Silver && (e.Kind == run.StepWarning || e.Kind == run.StepFailing) {
				told = append(told, string(e.Kind))
			}
		}
		there := w.caughtUp(2)
		stopWhen(q, func(e run.Event) bool { return there(e) || slices.Contains(told, string(run.StepFailing)) })
	})
	if got := statuses(r); err != nil || got != "stream.orders done; silver.orders done" || len(w.silver("orders")) != 2 || told != nil {
		t.Errorf("%s %v, told %q, %v", got, r.Steps[1].Diagnostics, told, err)
	}
}

// Most of the waiting for a server that does not answer is inside a call.
func TestStopEndsACallToAServerThatIsAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "orders")
	w.mustExecute(true)
	calls, stop := 1000, make(chan struct{})
	r, err := w.execute(false, func(q *run.Request) {
		w.startAway(q, &calls, errAway)
		q.Stop = stop
		s := q.Plugins.(away)
		q.Plugins = away{s.sessions, hangingSource{s.source, stop}}
	})
	if got := statuses(r); err != nil || !r.Stopped || got != "stream.orders failed; silver.orders skipped" || r.Steps[0].Diagnostics.Errors()[0].Code != "db.unreachable" {
		t.Errorf("%s %v, %v", got, r.Steps[0].Diagnostics, err)
	}
}
