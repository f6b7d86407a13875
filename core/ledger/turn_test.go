package ledger

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pipectl/pipectl/core/plugin/memory"
)

// Streams of one process that record a batch at once do not race each other
// for the number of the commit: while one writes, the others wait.
func TestFactsOfStreamsAreWrittenOneAfterAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const streams = 15
		l := newLake()
		var (
			others sync.WaitGroup
			open   atomic.Int32 // writes begun and not committed
			races  atomic.Int32
			begun  atomic.Bool
		)
		record := func(n int) {
			if err := l.RecordBatches(context.Background(), batchNumber(fmt.Sprint("s", n), 0, 1)); err != nil {
				t.Error(err)
			}
		}
		l.faults.Hook = func(p memory.Point) error {
			switch {
			case p.Call == "Tables.BeginWrite" && p.After:
				if open.Add(1) > 1 {
					races.Add(1)
				}
				if begun.Swap(true) {
					break
				}
				for n := 1; n < streams; n++ { // the others come while this one writes
					others.Go(func() { record(n) })
				}
				synctest.Wait() // they have come as far as they can
			case p.Call == "Tables.Commit" && p.After:
				open.Add(-1)
			}
			return nil
		}
		record(0)
		others.Wait()
		if n := races.Load(); n > 0 {
			t.Errorf("%d writes began while another was open", n)
		}
		if n := len(l.History("ops.facts")); n != 1+streams || len(l.Rows("ops.facts")) != streams {
			t.Errorf("%d versions, rows %s", n, l.told())
		}
	})
}

// A stream that is cancelled while it waits for its turn does not wait on.
func TestAWriterThatWaitsForItsTurnCanBeCancelled(t *testing.T) {
	t.Parallel()
	l := newLake()
	cause := errors.New("the run was cancelled")
	asked := false
	l.faults.Hook = func(p memory.Point) error {
		if p.Call == "Tables.BeginWrite" && !p.After && !asked {
			asked = true
			cancelled, cancel := context.WithCancelCause(context.Background())
			cancel(cause)
			if err := l.RecordBatches(cancelled, batchNumber("b", 0, 1)); !errors.Is(err, cause) {
				t.Errorf("got %v", err)
			}
		}
		return nil
	}
	if err := l.RecordBatches(context.Background(), batchNumber("a", 0, 1)); err != nil || l.told() != "a:0:" {
		t.Errorf("facts %s, %v", l.told(), err)
	}
}

// The turn goes to others while a write that met a conflict pauses.
func TestAPauseAfterAConflictLetsOthersWrite(t *testing.T) {
	t.Parallel()
	l := newLake()
	l.faults.Fail("Tables.Commit", 1, conflict)
	pause := l.sleep
	l.sleep = func(c context.Context, d time.Duration) error {
		if err := l.RecordBatches(c, batchNumber("b", 0, 1)); err != nil {
			t.Error(err)
		}
		return pause(c, d)
	}
	if err := l.RecordBatches(ctx, batchNumber("a", 0, 1)); err != nil || l.told() != "a:0: b:0:" || len(l.pauses) != 1 {
		t.Errorf("facts %s, pauses %v, %v", l.told(), l.pauses, err)
	}
}

// The minute for tries begins with the first one: who had to wait longer than
// that for the others still tries again after a conflict.
func TestTheWaitForATurnTakesNothingFromTheTries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLake()
		l.faults.Fail("Tables.Commit", 1, conflict)
		l.factsTurn <- struct{}{} // another one writes
		var wrote error
		var writer sync.WaitGroup
		writer.Go(func() { wrote = l.RecordBatches(context.Background(), batchNumber("a", 0, 1)) })
		synctest.Wait() // it has come as far as it can
		l.mu.Lock()
		l.now = l.now.Add(2 * retryBudget)
		l.mu.Unlock()
		<-l.factsTurn
		writer.Wait()
		if wrote != nil || l.told() != "a:0:" || len(l.pauses) != 1 {
			t.Errorf("facts %s, pauses %v, %v", l.told(), l.pauses, wrote)
		}
	})
}
