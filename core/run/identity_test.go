package run_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/run"
)

// brokenSource loses its connection at one call, and counts who asks what.
type brokenSource struct {
	plugin.Source
	breaks    string // the call that the next time finds no connection
	meanwhile func() // happens then
	asked     map[string]int
}

func (s *brokenSource) call(name string) error {
	s.asked[name]++
	if s.breaks != name {
		return nil
	}
	s.breaks = ""
	s.meanwhile()
	return errAway
}

func (s *brokenSource) Inspect(ctx context.Context, req plugin.InspectRequest) (plugin.InspectResponse, error) {
	if err := s.call("Inspect"); err != nil {
		return plugin.InspectResponse{}, err
	}
	return s.Source.Inspect(ctx, req)
}

func (s *brokenSource) Latest(ctx context.Context, req plugin.LatestRequest) (plugin.LatestResponse, error) {
	if err := s.call("Latest"); err != nil {
		return plugin.LatestResponse{}, err
	}
	return s.Source.Latest(ctx, req)
}

func (s *brokenSource) Read(ctx context.Context, req plugin.ReadRequest) (plugin.FrameReader, error) {
	frames, err := s.Source.Read(ctx, req)
	return &brokenFrames{frames, s}, err
}

// brokenFrames break where the source does.
type brokenFrames struct {
	plugin.FrameReader
	source *brokenSource
}

func (f *brokenFrames) Recv() (plugin.Frame, error) {
	if err := f.source.call("Recv"); err != nil {
		return plugin.Frame{}, err
	}
	return f.FrameReader.Recv()
}

// A connection that comes back during a watch may lead to another database,
// whose positions look as good. It is found before anything is read there,
// wherever the connection was lost, and only then is there one call more.
func TestAConnectionThatComesBackIsAskedWhoseItIs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		breaks  string
		another bool
		joins   bool
	}{
		"another database, lost at a poll":  {"Latest", true, false},
		"another database, lost in a batch": {"Recv", true, false},
		"the same database":                 {"Latest", false, false},
		"the same database, now in a group": {"Latest", false, true},
		"no connection was lost":            {"", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "orders")
			w.commit(memory.Insert("orders", row(1, "a")))
			w.mustExecute(true)
			source := &brokenSource{Source: w.plugin.Database.Open(), asked: map[string]int{}}
			source.meanwhile = func() {
				if c.joins {
					w.plugin.Database.JoinGroup("group")
				}
				if c.another {
					w.plugin.Database.SetIdentity("warehouse")
				}
				w.commit(memory.Insert("orders", row(3, "the newest")))
			}
			idle, stop := 0, make(chan struct{})
			r, err := w.execute(false, func(q *run.Request) {
				q.Watch, q.Stop = true, stop
				q.Plugins = away{q.Plugins.(*sessions), source}
				q.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
				q.Event = func(e run.Event) {
					if e.Kind != run.StepProgress || e.Stage != "idle" {
						return
					}
					switch idle++; idle {
					case 1:
						source.breaks = c.breaks
						w.commit(memory.Insert("orders", row(2, "b")))
					case 4:
						close(stop)
					}
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			errs := r.Steps[0].Diagnostics.Errors()
			if !c.another {
				want := 1 // at the start
				if c.breaks != "" {
					want++
				}
				if len(errs) > 0 || source.asked["Inspect"] != want || r.Steps[0].Status != run.Done {
					t.Errorf("%s %v, asked %v", statuses(r), errs, source.asked)
				}
				return
			}
			if len(errs) != 1 || errs[0].Code != "run.another_source" || errs[0].Kind != diag.KindConfiguration || !strings.Contains(errs[0].Summary, `"warehouse"`) {
				t.Errorf("%s %v", statuses(r), errs)
			}
			for _, b := range w.plugin.Lake.Rows("bronze.orders") {
				if b["note"] == "the newest" || b["note"] == "b" {
					t.Errorf("read %v", b)
				}
			}
		})
	}
}
