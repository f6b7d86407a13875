package run_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/run"
)

var errAway = diag.Errorf(diag.KindTransient, "db.unreachable", "The driver says: connection refused", "out of reach").Err()

// A server that is away for days is told once, and so is that it came back.
func TestWhatKeepsAWatchFromWorkingIsToldOncePerCause(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "orders")
	w.commit(memory.Insert("orders", row(1, "a")))
	w.mustExecute(true)
	w.commit(memory.Insert("orders", row(2, "b")))
	failing, stop := 100, make(chan struct{})
	var told []string
	r, err := w.execute(false, func(q *run.Request) {
		q.Watch, q.Stop = true, stop
		q.Plugins = away{q.Plugins.(*sessions), awaySource{w.plugin.Database.Open(), &failing, errAway}}
		q.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
		q.Event = func(e run.Event) {
			switch {
			case e.Kind == run.StepWarning:
				told = append(told, "warning "+e.Diagnostic.Code)
				if want := "The driver says: connection refused. Trying again from the last commit."; e.Diagnostic.Detail != want {
					t.Errorf("%q, want %q", e.Diagnostic.Detail, want)
				}
			case e.Kind == run.StepFailing, e.Kind == run.StepRecovered:
				text := fmt.Sprint(e.Kind, " ", e.Step.Address, " ", e.Step.Status)
				for _, d := range e.Step.Diagnostics {
					text += fmt.Sprint(" ", d.Severity, " ", d.Code)
				}
				told = append(told, text)
			case e.Kind == run.StepProgress && e.Stage == "idle":
				select {
				case <-stop:
				default:
					close(stop)
				}
			}
		}
	})
	if err != nil || r.Steps[0].Status != run.Done || len(r.Steps[0].Diagnostics) != 0 {
		t.Errorf("%s %v, %v", statuses(r), r.Steps[0].Diagnostics, err)
	}
	if want := []string{"warning db.unreachable", "failing stream.orders failed Error db.unreachable", "recovered stream.orders done"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

// That a step works is told with its first good round, once: what an earlier run
// said of it is over then, and not when the watch ends weeks later. One that has
// not worked before says that it works again.
func TestAWatchTellsOnceThatAStepWorks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "orders")
	w.mustExecute(true)
	idle, stopped, stop, told := 0, false, make(chan struct{}), map[string]int{}
	_, err := w.execute(false, func(q *run.Request) {
		q.Watch, q.Stop = true, stop
		q.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
		q.Event = func(e run.Event) {
			switch {
			case e.Kind == run.StepWorking && (e.Step.Status != run.Done || len(e.Step.Diagnostics) > 0), e.Kind == run.StepRecovered:
				t.Errorf("%s of %s: %+v", e.Kind, e.Address, e.Step)
			case e.Kind == run.StepWorking:
				told[e.Address.String()]++
			case e.Kind == run.StepProgress && e.Stage == "idle":
				if idle++; idle >= 3 && told["silver.orders"] > 0 && !stopped {
					stopped = true
					close(stop)
				}
			}
		}
	})
	if err != nil || told["stream.orders"] != 1 || told["silver.orders"] != 1 || len(told) != 2 {
		t.Errorf("told %v, %v", told, err)
	}
}

// A watch that is asked to end does not first sit out the pause of a step that
// does not work, and says that it did not.
func TestStopEndsThePausesOfAWatch(t *testing.T) {
	t.Parallel()
	for name, pause := range map[string]time.Duration{"between tries": time.Second, "between rounds": 10 * time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "orders")
			w.mustExecute(true)
			failing, stop := 100, make(chan struct{})
			r, err := w.execute(false, func(q *run.Request) {
				q.Watch, q.Stop = true, stop
				q.Plan.Steps = q.Plan.Steps[:1]
				q.Plugins = away{q.Plugins.(*sessions), awaySource{w.plugin.Database.Open(), &failing, errAway}}
				q.Sleep = func(ctx context.Context, d time.Duration) error {
					if d != pause {
						return ctx.Err()
					}
					close(stop)
					<-ctx.Done() // the time never comes
					return ctx.Err()
				}
			})
			if err != nil || !r.Stopped || r.Steps[0].Status != run.Failed || r.Steps[0].Diagnostics.Errors()[0].Code != "db.unreachable" {
				t.Errorf("%s %v, %v", statuses(r), r.Steps[0].Diagnostics, err)
			}
		})
	}
}

// What was accepted is one reading of the whole table. Rows that are deleted
// while the watch goes on are told when the stream begins again.
func TestAWatchReadsAWholeTableOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "orders")
	w.commit(memory.Insert("orders", row(1, "a")), memory.Insert("orders", row(2, "b")))
	failing := 0
	var opened atomic.Int32 // silver's events read it, too
	r, err := w.execute(true, func(q *run.Request) {
		stopped, stop := false, make(chan struct{})
		q.Watch, q.Stop = true, stop
		if q.Plan.Steps[0].Kind != plan.FullSnapshot {
			t.Errorf("planned %+v", q.Plan.Steps[0])
		}
		q.Plugins = away{q.Plugins.(*sessions), countingSource{awaySource{w.plugin.Database.Open(), &failing, errAway}, &opened}}
		q.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
		q.Event = func(e run.Event) {
			switch {
			case e.Kind == run.StepEnded && e.Address == w.cfg.Streams[0].Addr && !stopped, opened.Load() > 1 && !stopped:
				stopped = true
				close(stop)
			case e.Kind == run.StepProgress && e.Stage == "idle" && failing == 0:
				w.emptyBronze()
				failing = 1
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if errs := r.Steps[0].Diagnostics.Errors(); opened.Load() != 1 || len(errs) != 1 || errs[0].Code != "stream.snapshot_gone" {
		t.Errorf("%d snapshots, %s %v", opened.Load(), statuses(r), r.Steps[0].Diagnostics)
	}
}

type countingSource struct {
	awaySource
	opened *atomic.Int32
}

func (s countingSource) OpenSnapshot(ctx context.Context, req plugin.OpenSnapshotRequest) (plugin.SnapshotInfo, error) {
	s.opened.Add(1)
	return s.Source.OpenSnapshot(ctx, req)
}

// emptyBronze removes all rows of the first stream's table.
func (w *world) emptyBronze() {
	ctx, tables, ref := context.Background(), w.plugin.Lake.Open(), plugin.TableRef{Name: w.cfg.Streams[0].Target}
	defer tables.Close()
	states, err := tables.GetTables(ctx, plugin.GetTablesRequest{Tables: []plugin.TableRef{ref}})
	if err != nil {
		w.t.Error(err)
		return
	}
	begun, err := tables.BeginWrite(ctx, plugin.BeginWriteRequest{Table: ref, Mode: plugin.WriteOverwrite, Schema: states[0].Schema, BaseVersion: -1})
	if err == nil {
		_, err = tables.Commit(ctx, plugin.CommitRequest{WriteID: begun.WriteID})
	}
	if err != nil {
		w.t.Error(err)
	}
}
