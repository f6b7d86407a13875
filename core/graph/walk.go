package graph

import (
	"context"
	"fmt"
)

// Status is how a node of a walk ended.
type Status int

// Statuses. A node that never started is skipped, not failed.
const (
	Skipped Status = iota
	Done
	Failed
)

// String returns "skipped", "done" or "failed".
func (s Status) String() string {
	return [...]string{"skipped", "done", "failed"}[s]
}

// Result is how one node ended.
type Result[K comparable] struct {
	Status Status
	// Err is why the node failed, or the context's cause when it was skipped
	// because the walk was cancelled.
	Err error
	// Because is, for a node skipped because of another, the node that failed
	// first on its way; Blocked tells it from the zero value of K.
	Because K
	Blocked bool
}

// Walk visits every node after what it depends on, at most limit at the same
// time (at least one), and returns when all visits have returned. A node that
// fails skips what depends on it, directly or not, and nothing else. When ctx
// is cancelled no further visit starts; running ones see the cancellation.
//
// A visit may call other processes while it has its slot only because nothing
// that such a call waits for takes a slot: callbacks must not walk.
func (g *Graph[K]) Walk(ctx context.Context, limit int, visit func(ctx context.Context, node K) error) (map[K]Result[K], error) {
	order, err := g.Order()
	if err != nil {
		return nil, err
	}
	type end struct {
		node int
		err  error
	}
	var (
		results = make(map[K]Result[K], len(order))
		waiting = make([]int, len(g.nodes))
		ready   []int
		ended   = make(chan end)
		running int
	)
	for _, k := range order {
		i := g.index[k]
		if waiting[i] = len(g.needs[i]); waiting[i] == 0 {
			ready = append(ready, i)
		}
	}
	// finish records a result and releases or skips what follows.
	var finish func(i int, r Result[K])
	finish = func(i int, r Result[K]) {
		results[g.nodes[i]] = r
		for _, f := range g.follows[i] {
			if _, already := results[g.nodes[f]]; already {
				continue
			}
			switch r.Status {
			case Done:
				if waiting[f]--; waiting[f] == 0 {
					ready = append(ready, f)
				}
			case Failed:
				finish(f, Result[K]{Status: Skipped, Because: g.nodes[i], Blocked: true})
			case Skipped:
				finish(f, r)
			}
		}
	}
	for {
		for len(ready) > 0 && running < max(limit, 1) {
			i := ready[0]
			ready = ready[1:]
			if ctx.Err() != nil {
				finish(i, Result[K]{Status: Skipped, Err: context.Cause(ctx)})
				continue
			}
			running++
			go func() {
				e := end{node: i, err: fmt.Errorf("visiting %v ended without a result", g.nodes[i])}
				defer func() { ended <- e }() // also when visit ends its goroutine, as a failing test does
				e.err = visit(ctx, g.nodes[i])
			}()
		}
		if running == 0 {
			return results, nil
		}
		e := <-ended
		running--
		if e.err != nil {
			finish(e.node, Result[K]{Status: Failed, Err: e.err})
		} else {
			finish(e.node, Result[K]{Status: Done})
		}
	}
}
