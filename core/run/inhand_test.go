package run_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/run"
)

// lingeringSource takes its time over the changes of one table, and fails calls about
// another.
type lingeringSource struct {
	plugin.Source
	reading chan struct{} // closed when the changes of orders were asked for
	give    chan struct{} // closed when they are to come
	failed  chan struct{} // hears of each call about the other table that failed

	mu sync.Mutex
	// orders and others are how many of the next calls for the newest position
	// fail; dead is a server that answers nobody.
	orders, others int
	dead           bool
}

func (s *lingeringSource) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *lingeringSource) Inspect(ctx context.Context, req plugin.InspectRequest) (plugin.InspectResponse, error) {
	s.mu.Lock()
	dead := s.dead
	s.mu.Unlock()
	if dead {
		return plugin.InspectResponse{}, errAway
	}
	return s.Source.Inspect(ctx, req)
}

func (s *lingeringSource) Latest(ctx context.Context, req plugin.LatestRequest) (plugin.LatestResponse, error) {
	s.mu.Lock()
	left := &s.others
	if req.Table.Address == "stream.orders" {
		left = &s.orders
	}
	fails, other := s.dead || *left > 0, left == &s.others
	if *left > 0 {
		*left--
	}
	s.mu.Unlock()
	if fails {
		if other {
			s.failed <- struct{}{}
		}
		return plugin.LatestResponse{}, errAway
	}
	return s.Source.Latest(ctx, req)
}

func (s *lingeringSource) Read(ctx context.Context, req plugin.ReadRequest) (plugin.FrameReader, error) {
	frames, err := s.Source.Read(ctx, req)
	if err != nil || req.Table.Address != "stream.orders" {
		return frames, err
	}
	close(s.reading)
	return &lingeringFrames{frames, ctx, s.give}, nil
}

type lingeringFrames struct {
	plugin.FrameReader
	ctx  context.Context
	give chan struct{}
}

func (f *lingeringFrames) Recv() (plugin.Frame, error) {
	select {
	case <-f.give:
		return f.FrameReader.Recv()
	case <-f.ctx.Done():
		return plugin.Frame{}, f.ctx.Err()
	}
}

// A batch that is read is finished when the watch is asked to end, however long it
// takes and whatever happened to another stream; only one whose server answers
// nobody is given up.
func TestABatchIsGivenUpOnlyWhenItsServerIsOutOfReach(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		orders int           // calls of its own that failed before
		quiet  time.Duration // how long it has been read when the other stream fails
		dead   bool
		want   run.Status
		code   string
	}{
		"slow, and a call of another stream failed":              {quiet: 2 * time.Minute, want: run.Done},
		"tried again, and a call of another stream failed":       {orders: 1, quiet: time.Second, want: run.Done},
		"slow and tried again, a call of another stream failed":  {orders: 1, quiet: 2 * time.Minute, want: run.Done},
		"nothing comes, and nobody gets an answer":               {quiet: 2 * time.Minute, dead: true, want: run.Failed, code: "run.no_answer"},
		"asked a moment ago, and nobody else gets an answer now": {quiet: time.Second, dead: true, want: run.Done},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, "orders", "items")
				w.commit(memory.Insert("orders", row(1, "a")), memory.Insert("items", row(1, "a")))
				w.mustExecute(true)
				w.commit(memory.Insert("orders", row(2, "b")))
				source := &lingeringSource{Source: w.plugin.Database.Open(), reading: make(chan struct{}), give: make(chan struct{}), failed: make(chan struct{}, 9), orders: c.orders}
				stop, ended := make(chan struct{}), make(chan run.Result, 1)
				go func() {
					r, err := w.execute(false, func(q *run.Request) {
						q.Watch, q.Stop, q.Sleep, q.Poll = true, stop, nil, time.Second
						q.Plugins = away{q.Plugins.(*sessions), source}
					})
					if err != nil {
						t.Error(err)
					}
					ended <- r
				}()
				<-source.reading
				time.Sleep(c.quiet)
				source.set(func() { source.others, source.dead = 1, c.dead })
				<-source.failed
				synctest.Wait() // it waits for its next try
				close(stop)
				time.Sleep(time.Second)
				close(source.give)
				r := <-ended
				for _, s := range r.Steps {
					if s.Address.String() != "stream.orders" {
						continue
					}
					errs := s.Diagnostics.Errors()
					if s.Status != c.want || c.code != "" && (len(errs) != 1 || errs[0].Code != c.code || errs[0].Kind != diag.KindTransient) {
						t.Errorf("%s %v", s.Status, errs)
					}
				}
				if rows := len(w.silver("orders")); (rows == 2) != (c.want == run.Done) {
					t.Errorf("silver has %d rows", rows)
				}
			})
		})
	}
}
