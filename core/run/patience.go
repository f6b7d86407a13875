package run

import (
	"context"
	"sync"
	"time"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/plugin"
)

// patience is how long a watch waits for the newest position before it says that
// the source does not answer.
const patience = time.Minute

// patientSource tells when its source does not answer, and waits on: that a
// server is slow, or holds locks for an hour, is no reason to break off. Asking
// for the newest position is no work in hand, so the end of the run ends it.
type patientSource struct {
	plugin.Source
	address  addr.Address
	patience time.Duration
	// until is a context that ends with the run, see execution.untilStopped.
	until func(context.Context) (context.Context, func())
	// waits hears that there is no answer; it is not called any more when the
	// call has returned.
	waits func(error)
}

// Latest asks for the end of the next batch; errStopped when the run ended first.
func (s patientSource) Latest(ctx context.Context, req plugin.LatestRequest) (plugin.LatestResponse, error) {
	asking, over := s.until(ctx)
	var telling sync.WaitGroup
	telling.Add(1)
	timer := time.AfterFunc(s.patience, func() {
		defer telling.Done()
		s.waits(diag.Errorf(diag.KindTransient, "run.no_answer", "It is waited for. Look whether the server works, and what its sessions wait for.",
			"%s has not answered for %s", s.address, plan.Age(s.patience)).Err())
	})
	out, err := s.Source.Latest(asking, req)
	if !timer.Stop() {
		telling.Wait()
	}
	if cut := asking.Err() != nil && ctx.Err() == nil; cut && err != nil {
		err = errStopped
	}
	over()
	return out, err
}
