package command

import (
	"context"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/pipectl/pipectl/cmd/pipectl/internal/exit"
)

// interruptible returns a context that the first signal cancels: for work that
// changes nothing. The signal is noted, so that the command ends with its code.
func (e *Environment) interruptible(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case s := <-e.Signals:
			e.interrupted.Store(&s)
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel()
		<-done
	}
}

// signalControl is how signals end a run: the first finishes the batches in
// hand, the second cancels, and the first counts as the second when running
// silvers and checks outlast the grace.
type signalControl struct {
	stop   chan struct{}
	cancel context.CancelFunc
	done   chan struct{}

	mu            sync.Mutex
	first, second os.Signal
}

// control listens to signals until the end of the work; ending tells of the first.
func (e *Environment) control(ctx context.Context, grace time.Duration, ending func()) (context.Context, *signalControl) {
	ctx, cancel := context.WithCancel(ctx)
	c := &signalControl{stop: make(chan struct{}), cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		first := c.wait(ctx, e.Signals, nil)
		if first == nil {
			return
		}
		c.mu.Lock()
		c.first = first
		c.mu.Unlock()
		ending()
		close(c.stop)
		over := time.NewTimer(grace)
		defer over.Stop()
		if second := c.wait(ctx, e.Signals, over.C); second != nil {
			c.mu.Lock()
			c.second = second
			c.mu.Unlock()
		} else if ctx.Err() != nil {
			return
		} else {
			c.mu.Lock()
			c.second = first
			c.mu.Unlock()
		}
		cancel()
	}()
	return ctx, c
}

func (c *signalControl) wait(ctx context.Context, signals <-chan os.Signal, over <-chan time.Time) os.Signal {
	select {
	case s := <-signals:
		return s
	case <-over:
	case <-ctx.Done():
	}
	return nil
}

// code is 130 or 143 when a signal cancelled the run.
func (c *signalControl) code() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return signalCode(c.second)
}

// firstCode is that of the first signal, for a run that it cut short.
func (c *signalControl) firstCode() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return signalCode(c.first)
}

// signalCode is the exit code of a command that a signal cut off; nil is none.
func signalCode(s os.Signal) int {
	switch s {
	case nil:
		return exit.Done
	case syscall.SIGTERM:
		return exit.Terminated
	}
	return exit.Interrupted
}

func (c *signalControl) end() {
	c.cancel()
	<-c.done
}
