package run

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
)

// A step whose failure may pass (a plugin that died, a lost connection, a
// commit that another won) is repeated from its last durable position, this
// often and after these pauses.
var pauses = []time.Duration{time.Second, 4 * time.Second}

// retry carries out work, again when it failed in a way that may pass; warn
// hears of each error that is not the last.
func (x *execution) retry(ctx context.Context, a addr.Address, warn func(diag.Diagnostic), work func() error) error {
	for try := 0; ; try++ {
		err := work()
		if err == nil || ctx.Err() != nil || try == len(pauses) || !passes(err) || x.stopped() {
			return err
		}
		list := x.locate(a, diag.FromError(err).Errors())
		for _, d := range list {
			d.Severity = diag.Warning
			d.Detail = sentence(d.Detail) + "Trying again from the last commit."
			warn(d)
		}
		switch paused := x.wait(ctx, pauses[try]); {
		case errors.Is(paused, errStopped):
			return err
		case paused != nil:
			return paused
		}
	}
}

// sentence is text that another sentence can follow. What a driver says has no
// full stop.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	if !strings.ContainsAny(text[len(text)-1:], ".!?:") {
		text += "."
	}
	return text + " "
}

// passes reports whether trying again may work.
func passes(err error) bool {
	kind := diag.KindOf(err)
	return kind == diag.KindTransient || kind == diag.KindConflict
}

// wait sleeps, and no longer than the run may go on: errStopped when it was asked
// to end, another error when it was cancelled.
func (x *execution) wait(ctx context.Context, d time.Duration) error {
	waiting, over := x.untilStopped(ctx)
	defer over()
	err := x.Sleep(waiting, d)
	if ctx.Err() == nil && x.stopped() {
		return errStopped
	}
	return err
}

// untilStopped is a context that ends also when the run is asked to end; over
// must be called.
func (x *execution) untilStopped(ctx context.Context) (until context.Context, over func()) {
	until, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { // ends with until, and over waits for it
		defer close(done)
		select {
		case <-x.Stop:
			cancel()
		case <-until.Done():
		}
	}()
	return until, func() {
		cancel()
		<-done
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
