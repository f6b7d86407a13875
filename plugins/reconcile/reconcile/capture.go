package reconcile

import (
	"context"
	"fmt"
	"time"
)

// capturePoll is how long a look waits before it asks again how far capture is.
const capturePoll = 500 * time.Millisecond

// awaitCapture waits until capture has passed everything that a read of the
// source which was over at a time can have seen. A row that differs because of a commit is
// then in flight: capture has read it. A look waits for as long as it was asked to
// in all, and no longer: of a source where nothing is committed, nothing newer is
// captured.
func (r *run) awaitCapture(ctx context.Context, read time.Time) error {
	for r.awaited < r.req.AwaitCapture {
		asked := time.Now()
		latest, err := r.latest(ctx, true)
		if err != nil {
			return err
		}
		// Older than the end of the read, by the source's clock: it was asked after that
		// much time at least.
		if latest.CaptureLag == nil || *latest.CaptureLag < asked.Sub(read) {
			return nil
		}
		r.tell("waiting for capture", 0, -1)
		pause := min(capturePoll, r.req.AwaitCapture-r.awaited)
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting until the changes of %s are captured: %w", r.req.Object, ctx.Err())
		case <-time.After(pause):
		}
		r.awaited += time.Since(asked)
	}
	return nil
}
