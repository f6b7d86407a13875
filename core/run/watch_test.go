package run_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/run"
)

// away is a source whose server cannot be reached for some calls, or refuses.
type away struct {
	*sessions
	source plugin.Source
}

func (s away) Source(context.Context, addr.Address) (plugin.Source, error) { return s.source, nil }

type awaySource struct {
	plugin.Source
	calls *int // that still fail
	err   error
}

func (s awaySource) Latest(ctx context.Context, req plugin.LatestRequest) (plugin.LatestResponse, error) {
	if *s.calls > 0 {
		*s.calls--
		return plugin.LatestResponse{}, s.err
	}
	return s.Source.Latest(ctx, req)
}

func TestAWatchOutlivesAServerThatIsAway(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err  error
		ends bool
	}{
		"out of reach":   {diag.Errorf(diag.KindTransient, "db.unreachable", "", "out of reach").Err(), false},
		"refused a user": {diag.Errorf(diag.KindPermission, "db.login", "", "wrong password").Err(), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "orders")
			w.commit(memory.Insert("orders", row(1, "a")))
			w.mustExecute(true)
			w.commit(memory.Insert("orders", row(2, "b")))
			failing, told, stop := 20, 0, make(chan struct{})
			r, err := w.execute(false, func(q *run.Request) {
				q.Watch, q.Stop = true, stop
				q.Plugins = away{q.Plugins.(*sessions), awaySource{w.plugin.Database.Open(), &failing, tt.err}}
				q.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
				q.Event = func(e run.Event) {
					switch {
					case e.Kind == run.StepWarning && e.Diagnostic.Code == "db.unreachable":
						told++
					case e.Kind == run.StepProgress && e.Stage == "idle":
						select {
						case <-stop:
						default:
							close(stop)
						}
					}
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			if tt.ends {
				if r.Steps[0].Status != run.Failed || failing != 19 {
					t.Errorf("%s, %d calls left", statuses(r), failing)
				}
				return
			}
			if r.Steps[0].Status != run.Done || len(w.silver("orders")) != 2 || told == 0 {
				t.Errorf("%s, silver %v, told %d times", statuses(r), w.silver("orders"), told)
			}
		})
	}
}

// inBubble waits in the time of a synctest bubble.
func inBubble(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
	return ctx.Err()
}

// A silver that looked while the snapshot of its stream was read is told when
// the snapshot is there, also when nothing else happens at the source.
func TestAWatchAppliesASnapshotThatItTook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "orders")
		w.commit(memory.Insert("orders", row(1, "a")))
		idle, applied, stop := 0, 0, make(chan struct{})
		_, err := w.execute(true, func(q *run.Request) {
			q.Watch, q.Stop = true, stop
			q.Plugins = away{q.Plugins.(*sessions), patientSource{w.plugin.Database.Open()}}
			q.Sleep = inBubble
			q.Event = func(e run.Event) {
				if e.Kind != run.StepProgress || e.Stage != "idle" {
					return
				}
				if idle++; idle == 3 {
					applied = len(w.silver("orders"))
					close(stop)
				}
			}
		})
		if err != nil || applied != 1 {
			t.Errorf("silver had %d rows when all was quiet, want 1: %v", applied, err)
		}
	})
}

// A silver that could not apply what its stream brought applies it when it can,
// also when nothing else happens at the source.
func TestAWatchAppliesWhatASilverCouldNot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "orders")
		w.commit(memory.Insert("orders", row(1, "a")))
		w.mustExecute(true)
		w.commit(memory.Insert("orders", row(2, "b")))
		idle, applied, failing, stop := 0, 0, 2, make(chan struct{})
		r, err := w.execute(false, func(q *run.Request) {
			q.Watch, q.Stop = true, stop
			q.Plugins = troubled{q.Plugins.(*sessions), &failing}
			q.Sleep = inBubble
			q.Event = func(e run.Event) {
				if e.Kind != run.StepProgress || e.Stage != "idle" {
					return
				}
				if idle++; idle == 30 {
					applied = len(w.silver("orders"))
					close(stop)
				}
			}
		})
		if err != nil || applied != 2 || failing != 0 || r.Steps[1].Status != run.Done {
			t.Errorf("silver had %d rows when all was quiet, want 2; %d failures left: %s, %v", applied, failing, statuses(r), err)
		}
	})
}

// troubled has a silver whose first calls fail in a way that passes.
type troubled struct {
	*sessions
	failing *int
}

func (s troubled) Silver(ctx context.Context, a addr.Address) (plugin.Silver, error) {
	silver, err := s.sessions.Silver(ctx, a)
	return troubledSilver{silver, s.failing}, err
}

type troubledSilver struct {
	plugin.Silver
	failing *int
}

func (s troubledSilver) RunSilver(ctx context.Context, req plugin.SilverRequest, host plugin.Host, progress func(plugin.Progress)) (plugin.SilverResult, error) {
	if *s.failing > 0 {
		*s.failing--
		return plugin.SilverResult{}, diag.Errorf(diag.KindTransient, "lake.busy", "", "busy").Err()
	}
	return s.Silver.RunSilver(ctx, req, host, progress)
}

// patientSource reads nothing while anything else goes on.
type patientSource struct{ plugin.Source }

func (s patientSource) Read(ctx context.Context, req plugin.ReadRequest) (plugin.FrameReader, error) {
	synctest.Wait()
	return s.Source.Read(ctx, req)
}
