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
	for _, a := range order {
		if a.Kind == addr.Stream {
			over[a] = make(chan struct{})
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
		done := over[from] // nil when the stream is not part of this run
		if done == nil {
			done = make(chan struct{})
			close(done)
		}
		group.Go(func() { x.follow(ctx, a, moved, done) })
	}
	for _, a := range order {
		if a.Kind != addr.Stream {
			continue
		}
		group.Go(func() {
			defer close(over[a])
			x.keep(ctx, a, func() error {
				return x.stream(ctx, a, x.results[a], true, func() {
					for _, moved := range signals[a] {
						select {
						case moved <- struct{}{}:
						default: // one is waiting; it will see this move, too
						}
					}
				})
			})
		})
	}
	group.Wait()
	return ctx.Err()
}

// follow applies a silver whenever its stream moved, and once more when the
// stream has ended.
func (x *execution) follow(ctx context.Context, a addr.Address, moved, over <-chan struct{}) {
	x.keep(ctx, a, func() error {
		for {
			select {
			case <-moved:
			case <-over:
				return x.silver(ctx, a, x.results[a])
			case <-ctx.Done():
				return ctx.Err()
			}
			if err := x.silver(ctx, a, x.results[a]); err != nil {
				return err
			}
		}
	})
}

// keep carries out a step of a watch until it ends well, fails for good, or
// the run ends.
func (x *execution) keep(ctx context.Context, a addr.Address, work func() error) {
	r := x.results[a]
	started := x.Clock()
	x.tell(Event{Kind: StepStarted, Address: a, Step: r})
	for {
		err := x.retry(ctx, a, work)
		if err != nil && passes(err) && ctx.Err() == nil && !x.stopped() {
			if x.Sleep(ctx, watchPause) == nil {
				continue
			}
		}
		r.Status = Done
		if err != nil && !errors.Is(err, errStopped) {
			r.Status = Failed
			r.Diagnostics = append(r.Diagnostics, x.locate(a, x.explain(ctx, err))...)
		}
		break
	}
	r.Duration = x.Clock().Sub(started)
	x.ended(r)
}
