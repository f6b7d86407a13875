package run

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/graph"
)

// watchPause is how long a watch waits before it starts a stream or silver
// again that failed in a way that may pass.
const watchPause = 10 * time.Second

// watch keeps every stream at the head of its source, and applies each silver
// when its stream has moved. A stream or silver that fails for good ends alone.
func (x *execution) watch(ctx context.Context, g *graph.Graph[addr.Address]) error {
	order, err := g.Order()
	if err != nil {
		return err
	}
	var group sync.WaitGroup
	signals := map[addr.Address][]chan struct{}{} // by stream: its silvers
	over := map[addr.Address]chan struct{}{}      // by stream: closed when it has ended
	planned := map[addr.Address]chan struct{}{}   // by stream: closed when it is not absent
	for _, a := range order {
		if a.Kind == addr.Stream {
			over[a], planned[a] = make(chan struct{}), make(chan struct{})
		}
	}
	for _, a := range order {
		if a.Kind != addr.Silver {
			continue
		}
		from := x.Config.Silver(a).From
		moved := make(chan struct{}, 1)
		moved <- struct{}{} // what came before this run is applied at once
		signals[from] = append(signals[from], moved)
		done, planned := over[from], planned[from]
		ready := func() error { return x.awaitStream(ctx, a, planned, done) }
		if done == nil { // the stream is not part of this run
			done = make(chan struct{})
			close(done)
			ready = func() error { return x.ready(ctx, a) }
		}
		group.Go(func() { x.follow(ctx, a, ready, moved, done) })
	}
	for _, a := range order {
		if a.Kind != addr.Stream {
			continue
		}
		group.Go(func() {
			defer close(over[a])
			var once sync.Once
			moved := func() {
				for _, moved := range signals[a] {
					select {
					case moved <- struct{}{}:
					default: // one is waiting; it will see this move, too
					}
				}
			}
			ready := func() error {
				err := x.ready(ctx, a)
				if err == nil {
					once.Do(func() { close(planned[a]) })
				}
				return err
			}
			x.keep(ctx, a, ready, func(t *trouble) error {
				trying, over := x.unlessAway(ctx, a, t)
				defer over()
				return x.stream(trying, a, x.results[a], true, &listener{moved: moved, works: t.over, waits: func(err error) { t.waits(ctx, err) }, answered: t.answered, heard: t.heard})
			})
		})
	}
	group.Wait()
	return ctx.Err()
}

// unlessAway is a context of a stream's try that ends also with the run when the
// stream does not work because its source is away: then no batch is in hand that
// could be finished. One that only waits long may be read by a server that works,
// whatever became of another stream's call: the server is asked. over must be called.
func (x *execution) unlessAway(ctx context.Context, a addr.Address, t *trouble) (trying context.Context, over func()) {
	trying, cancel := context.WithCancel(ctx)
	until, ended := x.untilStopped(trying)
	done := make(chan struct{})
	go func() { // ends with until, and over waits for it
		defer close(done)
		<-until.Done()
		if x.stopped() && x.away(a) && (t.unheard() || t.cause() != nil && x.unreachable(trying, a)) {
			cancel()
		}
	}()
	return trying, func() {
		ended()
		cancel()
		<-done
	}
}

// awaitStream waits until the stream of a silver is planned. One that ended
// before has nothing to apply.
func (x *execution) awaitStream(ctx context.Context, a addr.Address, planned, over <-chan struct{}) error {
	select {
	case <-planned:
	case <-over:
		select {
		case <-planned:
		default:
			return errAbsent
		}
	case <-ctx.Done():
		return ctx.Err()
	}
	return x.takeOver(a)
}

// follow applies a silver whenever its stream moved, and once more when the
// stream has ended.
func (x *execution) follow(ctx context.Context, a addr.Address, ready func() error, moved, over <-chan struct{}) {
	due := false // until what came was applied
	x.keep(ctx, a, ready, func(t *trouble) error {
		for {
			if due {
				if err := x.silver(ctx, a, x.results[a]); err != nil {
					return err
				}
				due = false
				t.over()
			}
			select {
			case <-moved:
				due = true
			case <-over:
				err := x.silver(ctx, a, x.results[a])
				if err == nil {
					t.over()
				}
				return err
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
}

// keep carries out a step of a watch until it ends well, fails for good, or
// the run ends. It begins when it is ready, and the work says when it works.
func (x *execution) keep(ctx context.Context, a addr.Address, ready func() error, work func(*trouble) error) {
	r := x.results[a]
	started, begun := x.Clock(), false
	t := trouble{x: x, step: r, warned: map[string]bool{}, failing: map[string]bool{}}
	if cause, absent := x.absence(x.streamOf(a).Addr); absent && cause != nil && (a.Kind == addr.Stream || x.results[x.streamOf(a).Addr] == nil) {
		t.fails(ctx, cause) // was its first try
		for code := range t.failing {
			t.warned[code] = true
		}
	}
	once := func() error {
		if err := ready(); err != nil {
			return err
		}
		if !begun {
			begun = true
			x.tell(Event{Kind: StepStarted, Address: a, Step: r})
		}
		err := work(&t)
		if err != nil && passes(err) {
			t.have(err)
		}
		return err
	}
	for {
		err := x.retry(ctx, a, t.warn, once)
		if cause := t.cause(); cause != nil && ctx.Err() == nil && x.stopped() && (err == nil || errors.Is(err, errStopped) || errors.Is(err, context.Canceled)) {
			err = cause // what kept it from working until the end
		}
		if err != nil && passes(err) && ctx.Err() == nil && !x.stopped() {
			t.fails(ctx, err)
			if x.wait(ctx, watchPause) == nil {
				continue
			}
		}
		switch {
		case errors.Is(err, errAbsent):
			x.skip(a, x.streamOf(a).Addr)
			return
		case err == nil, errors.Is(err, errStopped):
			r.Status = Done
		default:
			r.Status = statusOf(a, err)
			r.Diagnostics = append(r.Diagnostics, x.locate(a, x.explain(ctx, err))...)
		}
		break
	}
	r.Duration = x.Clock().Sub(started)
	x.ended(r)
}
