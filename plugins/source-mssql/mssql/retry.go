package mssql

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"
)

// Planner calls are tried again this often, after about 2, 4 and 8 seconds.
// A longer outage ends the call; the job's own retry takes over.
const (
	retries   = 3
	firstWait = 2 * time.Second
)

// retryUntil is after how long an outage lasts that no other try begins: where each fails only when
// its own time is over, as with a server that accepts and never answers, four of
// them are minutes in which nobody is told anything.
const retryUntil = 20 * time.Second

// wait is how long the n-th retry (from 0) waits; fraction is in [0, 1).
func wait(n int, fraction float64) time.Duration {
	return time.Duration(float64(firstWait<<n) * (0.5 + fraction/2))
}

// retrier repeats calls that fail for reasons that may pass.
type retrier struct {
	log    *slog.Logger
	now    func() time.Time
	sleep  func(ctx context.Context, d time.Duration) error
	random func() float64
}

func newRetrier(log *slog.Logger) retrier {
	return retrier{log: log, now: time.Now, sleep: sleep, random: rand.Float64}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// do runs call until it succeeds, fails for good, or has failed too often. The
// whole call runs again: it reads anew what it plans with. The time that it worked
// before it failed is no part of the outage.
func (r retrier) do(ctx context.Context, method string, mask masker, call func() error) error {
	var down time.Time
	for n := 0; ; n++ {
		tried := r.now()
		err := call()
		if err == nil || n == retries || !transient(err) || ctx.Err() != nil {
			return err
		}
		switch {
		case answered(err):
			down = r.now()
		case n == 0:
			down = tried
		}
		if r.now().Sub(down) >= retryUntil {
			return err
		}
		d := wait(n, r.random())
		r.log.Warn("trying again after an error that may pass", "method", method, "error", mask.text(firstLine(err)), "attempt", n+1, "wait", d.Round(time.Millisecond).String())
		if err := r.sleep(ctx, d); err != nil {
			return err
		}
	}
}
