package run_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/run"
)

// dyingSource answers until its server dies; from then on each call fails, after
// as long as the tries of a plugin take. One of a server that hangs never does.
type dyingSource struct {
	plugin.Source
	takes time.Duration // 0 = for ever

	mu   sync.Mutex
	dead bool
}

func (s *dyingSource) die() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dead = true
}

func (s *dyingSource) revive() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dead = false
}

func (s *dyingSource) call(ctx context.Context) error {
	s.mu.Lock()
	dead := s.dead
	s.mu.Unlock()
	if !dead {
		return nil
	}
	var end <-chan time.Time
	if s.takes > 0 {
		end = time.After(s.takes)
	}
	select {
	case <-end:
		return errAway
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *dyingSource) Inspect(ctx context.Context, req plugin.InspectRequest) (plugin.InspectResponse, error) {
	if err := s.call(ctx); err != nil {
		return plugin.InspectResponse{}, err
	}
	return s.Source.Inspect(ctx, req)
}

func (s *dyingSource) Latest(ctx context.Context, req plugin.LatestRequest) (plugin.LatestResponse, error) {
	if err := s.call(ctx); err != nil {
		return plugin.LatestResponse{}, err
	}
	return s.Source.Latest(ctx, req)
}

// outage is a watch of seven streams whose server is to die, in the time of a
// test's bubble.
type outage struct {
	source *dyingSource
	stop   chan struct{}
	ended  chan run.Result

	mu        sync.Mutex
	failing   map[addr.Address]string // the code that is told
	recovered int
}

func watchOfSeven(t *testing.T, takes time.Duration) *outage {
	var names []string
	for i := range 7 {
		names = append(names, fmt.Sprint("t", i))
	}
	w := newWorld(t, names...)
	w.mustExecute(true)
	o := &outage{source: &dyingSource{Source: w.plugin.Database.Open(), takes: takes}, stop: make(chan struct{}), ended: make(chan run.Result, 1),
		failing: map[addr.Address]string{}}
	go func() {
		r, err := w.execute(false, func(q *run.Request) {
			q.Watch, q.Stop, q.Sleep, q.Poll = true, o.stop, nil, time.Second
			q.Plugins = away{q.Plugins.(*sessions), o.source}
			q.Event = func(e run.Event) {
				o.mu.Lock()
				defer o.mu.Unlock()
				switch e.Kind {
				case run.StepFailing:
					o.failing[e.Address] = e.Step.Diagnostics[0].Code
				case run.StepRecovered:
					o.recovered++
				}
			}
		})
		if err != nil {
			t.Error(err)
		}
		o.ended <- r
	}()
	time.Sleep(5 * time.Second)
	return o
}

func (o *outage) told() map[addr.Address]string {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := map[addr.Address]string{}
	for a, code := range o.failing {
		out[a] = code
	}
	return out
}

// end asks the watch to end, and is what it ended with and after how long.
func (o *outage) end(t *testing.T) (run.Result, time.Duration) {
	t.Helper()
	asked := time.Now()
	close(o.stop)
	r := <-o.ended
	return r, time.Since(asked)
}

func (o *outage) endsFailed(t *testing.T, code string) {
	t.Helper()
	r, took := o.end(t)
	if took > time.Second {
		t.Errorf("the end took %s", took)
	}
	for _, s := range r.Steps {
		errs := s.Diagnostics.Errors()
		if s.Address.Kind == addr.Stream && (s.Status != run.Failed || len(errs) != 1 || errs[0].Code != code || errs[0].Kind != diag.KindTransient) {
			t.Errorf("%s %s %v", s.Address, s.Status, errs)
		}
	}
}

// Each stream tries three times, 14 seconds each, with a second and four between
// them. That others try at the same time takes none longer.
func TestAllStreamsSayThatTheirServerDied(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := watchOfSeven(t, 14*time.Second)
		o.source.die()
		time.Sleep(3*14*time.Second + 6*time.Second + 2*time.Second)
		if told := o.told(); len(told) != 7 {
			t.Errorf("%d of 7 streams say that they do not work: %v", len(told), told)
		}
		time.Sleep(20 * time.Second) // in the middle of a try
		o.endsFailed(t, "db.unreachable")
	})
}

func TestAServerThatComesBackIsToldOfAllStreams(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := watchOfSeven(t, 14*time.Second)
		o.source.die()
		time.Sleep(time.Minute)
		o.source.revive()
		time.Sleep(time.Minute)
		r, _ := o.end(t)
		if len(o.told()) != 7 || o.recovered != 7 {
			t.Errorf("%d did not work, %d work again", len(o.told()), o.recovered)
		}
		for _, s := range r.Steps {
			if s.Status != run.Done {
				t.Errorf("%s %s %v", s.Address, s.Status, s.Diagnostics)
			}
		}
	})
}

// A call that nobody answers is waited for, and that is told. It is no batch in
// hand, so a watch that is asked to end does not wait on.
func TestAServerThatHangsIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := watchOfSeven(t, 0)
		o.source.die()
		time.Sleep(62 * time.Second)
		for a, code := range o.told() {
			if code != "run.no_answer" {
				t.Errorf("%s: %s", a, code)
			}
		}
		if n := len(o.told()); n != 7 {
			t.Errorf("%d of 7 streams say that there is no answer", n)
		}
		o.endsFailed(t, "run.no_answer")
	})
}

// A server that hung a moment ago is no error yet.
func TestAWatchThatIsAskedToEndDoesNotWaitForAnAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := watchOfSeven(t, 0)
		o.source.die()
		time.Sleep(5 * time.Second)
		r, took := o.end(t)
		if took > time.Second || r.Failed() {
			t.Errorf("after %s: %s", took, statuses(r))
		}
	})
}
