package run

import (
	"context"
	"strings"
	"time"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
)

// A step whose failure may pass (a plugin that died, a lost connection, a
// commit that another won) is repeated from its last durable position, this
// often and after these pauses.
var pauses = []time.Duration{time.Second, 4 * time.Second}

func (x *execution) retry(ctx context.Context, a addr.Address, work func() error) error {
	for try := 0; ; try++ {
		err := work()
		if err == nil || ctx.Err() != nil || try == len(pauses) || !passes(err) || x.stopped() {
			return err
		}
		list := x.locate(a, diag.FromError(err).Errors())
		for _, d := range list {
			d.Severity = diag.Warning
			d.Detail = strings.TrimSpace(d.Detail + " Trying again from the last commit.")
			x.tell(Event{Kind: StepWarning, Address: a, Diagnostic: &d})
		}
		if err := x.Sleep(ctx, pauses[try]); err != nil {
			return err
		}
	}
}

// passes reports whether trying again may work.
func passes(err error) bool {
	kind := diag.KindOf(err)
	return kind == diag.KindTransient || kind == diag.KindConflict
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
