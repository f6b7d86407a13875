package run_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/run"
)

// slowSource takes long for a call of one kind, and in a read for what comes after
// its first frame.
type slowSource struct {
	plugin.Source
	call  string
	takes time.Duration
}

func (s *slowSource) wait(ctx context.Context, call string) error {
	if call != s.call {
		return nil
	}
	select {
	case <-time.After(s.takes):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *slowSource) Inspect(ctx context.Context, req plugin.InspectRequest) (plugin.InspectResponse, error) {
	if err := s.wait(ctx, "inspect"); err != nil {
		return plugin.InspectResponse{}, err
	}
	return s.Source.Inspect(ctx, req)
}

func (s *slowSource) Aggregate(ctx context.Context, req plugin.AggregateRequest) (plugin.FrameReader, error) {
	if err := s.wait(ctx, "counts"); err != nil {
		return nil, err
	}
	return s.Source.Aggregate(ctx, req)
}

func (s *slowSource) Read(ctx context.Context, req plugin.ReadRequest) (plugin.FrameReader, error) {
	frames, err := s.Source.Read(ctx, req)
	if err != nil {
		return nil, err
	}
	call := "changes"
	if req.Chunk != nil {
		call = "rows"
	}
	return &slowFrames{FrameReader: frames, wait: func() error { return s.wait(ctx, call) }}, nil
}

type slowFrames struct {
	plugin.FrameReader
	wait func() error
	come int
}

func (f *slowFrames) Recv() (plugin.Frame, error) {
	if f.come++; f.come == 2 {
		if err := f.wait(); err != nil {
			return plugin.Frame{}, err
		}
	}
	return f.FrameReader.Recv()
}

// lateSilver takes long.
type lateSilver struct {
	plugin.Silver
	takes time.Duration
}

func (s lateSilver) RunSilver(ctx context.Context, req plugin.SilverRequest, host plugin.Host, progress func(plugin.Progress)) (plugin.SilverResult, error) {
	time.Sleep(s.takes)
	return s.Silver.RunSilver(ctx, req, host, progress)
}

type slowPlugins struct {
	away
	silver plugin.Silver
}

func (p slowPlugins) Silver(context.Context, addr.Address) (plugin.Silver, error) {
	return p.silver, nil
}

// heard are the events of a run that say that something waits, or goes on, each
// with how long after the start it came.
type heard struct {
	mu    sync.Mutex
	lines []string
}

func (h *heard) event(began time.Time) func(run.Event) {
	return func(e run.Event) {
		var text string
		switch e.Kind {
		case run.StepWarning:
			text = e.Diagnostic.Code + ": " + e.Diagnostic.Summary
		case run.StepFailing:
			text = "failing: " + e.Step.Diagnostics[0].Code + ": " + e.Step.Diagnostics[0].Summary
		case run.StepRecovered:
			text = "recovered: " + e.Address.String()
		case run.StepGoesOn:
			text = fmt.Sprintf("goes on: %s after %s", e.Address, e.Waited)
		default:
			return
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.lines = append(h.lines, fmt.Sprintf("%s %s", time.Since(began), text))
	}
}

func (h *heard) all() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.lines)
}

func TestAStepThatComesNoFurtherSaysForWhatItWaits(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		call  string
		takes time.Duration
		again bool // after an apply
		want  []string
	}{
		"a snapshot, in the middle of its rows": {"rows", 22 * time.Minute, false, []string{
			"1m0s run.no_answer: stream.orders waits for rows of orders from source.db, and nothing has come for 60 s (snapshot)",
			"11m0s run.no_answer: stream.orders waits for rows of orders from source.db, and nothing has come for 11 min (snapshot)",
			"21m0s run.no_answer: stream.orders waits for rows of orders from source.db, and nothing has come for 21 min (snapshot)",
			"22m0s goes on: stream.orders after 22m0s",
		}},
		"changes": {"changes", 2 * time.Minute, true, []string{
			"1m0s run.no_answer: stream.orders waits for changes of orders from source.db, and nothing has come for 60 s (changes)",
			"2m0s goes on: stream.orders after 2m0s",
		}},
		"before any step": {"inspect", 2 * time.Minute, true, []string{
			"1m0s run.no_answer: source.db was asked what its tables are, and has not answered for 60 s",
			"2m0s goes on: source.db after 2m0s",
		}},
		"a check's counts": {"counts", 2 * time.Minute, true, []string{
			"1m0s run.no_answer: check.orders waits for counts of orders from source.db, and nothing has come for 60 s",
			"2m0s goes on: check.orders after 2m0s",
		}},
		"a silver": {"silver", 2 * time.Minute, true, []string{
			"1m0s run.no_progress: silver.orders has come no further for 60 s; it is for silver.orders in sink.lake",
			"2m0s goes on: silver.orders after 2m0s",
		}},
		"none that is slow": {"rows", 59 * time.Second, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, "orders")
				w.commit(memory.Insert("orders", row(1, "a")))
				if tt.again {
					w.mustExecute(true)
					w.commit(memory.Insert("orders", row(2, "b")))
				}
				var h heard
				began := time.Now()
				r, err := w.execute(!tt.again, func(q *run.Request) {
					silver := lateSilver{Silver: memory.Silver{}}
					if tt.call == "silver" {
						silver.takes = tt.takes
					}
					q.Plugins = slowPlugins{away{q.Plugins.(*sessions), &slowSource{w.plugin.Database.Open(), tt.call, tt.takes}}, silver}
					q.Event, q.Clock = h.event(began), nil
				})
				if err != nil || r.Failed() {
					t.Errorf("%v, %s", err, statuses(r))
				}
				if got := h.all(); !slices.Equal(got, tt.want) {
					t.Errorf("heard\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
				}
			})
		})
	}
}

// What a run is at can be asked before it says so, and nothing is left of it.
func TestARunCanBeAskedWhatItIsAt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "orders")
		w.commit(memory.Insert("orders", row(1, "a")))
		var work run.Work
		done := make(chan error, 1)
		go func() {
			_, err := w.execute(true, func(q *run.Request) {
				q.Plugins = away{q.Plugins.(*sessions), &slowSource{w.plugin.Database.Open(), "rows", time.Minute}}
				q.Work, q.Clock = &work, nil
			})
			done <- err
		}()
		time.Sleep(10 * time.Second)
		want := []run.Busy{{Address: addr.New(addr.Stream, "orders"), Stage: "snapshot", Waits: "rows of orders from source.db", Quiet: 10 * time.Second}}
		if got := work.Steps(); !slices.Equal(got, want) {
			t.Errorf("%+v", got)
		}
		if err := <-done; err != nil || len(work.Steps()) != 0 {
			t.Errorf("%v, %+v", err, work.Steps())
		}
	})
}

// A watch says it as of a server that is away, so that status knows. One that has
// nothing to do waits for nothing.
func TestAWatchWhoseReadHangsSaysSo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "orders")
		w.mustExecute(true)
		var h heard
		var work run.Work
		stop, ended, began := make(chan struct{}), make(chan run.Result, 1), time.Now()
		go func() {
			r, err := w.execute(false, func(q *run.Request) {
				q.Plugins = away{q.Plugins.(*sessions), &slowSource{w.plugin.Database.Open(), "changes", 15 * time.Minute}}
				q.Watch, q.Stop, q.Sleep, q.Poll = true, stop, nil, time.Hour
				q.Event, q.Clock, q.Work = h.event(began), nil, &work
			})
			if err != nil {
				t.Error(err)
			}
			ended <- r
		}()
		time.Sleep(59 * time.Minute)
		if got := h.all(); len(got) > 0 || len(work.Steps()) > 0 {
			t.Errorf("an idle watch says %q and is at %+v", got, work.Steps())
		}
		w.commit(memory.Insert("orders", row(1, "a")))
		time.Sleep(40 * time.Minute)
		want := []string{
			"1h1m0s failing: run.no_answer: stream.orders waits for changes of orders from source.db, and nothing has come for 60 s (changes)",
			"1h15m0s recovered: stream.orders",
		}
		if got := h.all(); !slices.Equal(got, want) {
			t.Errorf("heard\n%s", strings.Join(got, "\n"))
		}
		close(stop)
		if r := <-ended; r.Failed() {
			t.Error(statuses(r))
		}
	})
}

// Before a run, a plan is made of what the source says: that it says nothing is told.
func TestAPlanThatWaitsForItsSourceSaysSo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "orders")
		_, lakes, s := w.plan()
		began := time.Now()
		var got []string
		patient := run.NewPatient(away{s, &slowSource{w.plugin.Database.Open(), "inspect", 12 * time.Minute}}, time.Now,
			func(a addr.Address, d diag.Diagnostic) {
				got = append(got, fmt.Sprintf("%s %s %s: %s", time.Since(began), d.Severity, d.Code, d.Summary))
			},
			func(a addr.Address, waited time.Duration) {
				got = append(got, fmt.Sprintf("%s goes on: %s after %s", time.Since(began), a, waited))
			})
		if _, err := planner.Make(t.Context(), planner.Request{Config: w.cfg, Plugins: patient, Lakes: lakes, Now: w.now}); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Hour) // nothing is asked any more
		patient.End()
		want := []string{
			"1m0s Warning run.no_answer: source.db was asked what its tables are, and has not answered for 60 s",
			"11m0s Warning run.no_answer: source.db was asked what its tables are, and has not answered for 11 min",
			"12m0s goes on: source.db after 12m0s",
		}
		if !slices.Equal(got, want) {
			t.Errorf("heard\n%s", strings.Join(got, "\n"))
		}
	})
}
