package deltalog

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// waitingClock notes how long it was asked to wait.
type waitingClock struct {
	*testClock
	waits []time.Duration
}

func (c *waitingClock) Sleep(ctx context.Context, d time.Duration) error {
	c.waits = append(c.waits, d)
	return c.testClock.Sleep(ctx, d)
}

// TestWaitsOfACommit: a number that another writer took is no trouble, and the
// next is tried soon however often that happens; a store that fails is given
// time. Neither makes the other's waits longer.
func TestWaitsOfACommit(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	var (
		numbers = []time.Duration{25 * ms, 50 * ms, 100 * ms, 200 * ms, 400 * ms, 800 * ms, time.Second, time.Second, time.Second}
		trouble = []time.Duration{25 * ms, 50 * ms, 100 * ms, 200 * ms, 400 * ms, 800 * ms, 1600 * ms, 3200 * ms, 6400 * ms, 10 * time.Second}
	)
	for name, c := range map[string]struct {
		lost, failed int
		want         []time.Duration
	}{
		"lost numbers":           {9, 0, numbers},
		"a store that fails":     {0, 10, trouble},
		"a failure after losses": {6, 2, append(slices.Clone(numbers[:6]), trouble[:2]...)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mem := store.NewMemory(nil)
			other := mustCreate(t, mem, CreateSpec{}, WithoutCheckpoints())
			// A fault does not see the calls that those before it took.
			faults := slices.Repeat([]store.Fault{{Op: store.OpPutIfAbsent, Nth: c.lost + 1, Effect: store.Fail}}, c.failed)
			faulty := store.NewFaulty(mem, faults...)
			clock := &waitingClock{testClock: newTestClock()}
			table, err := Open(t.Context(), faulty, "orders", WithClock(clock), WithRandom(func() float64 { return 1 }))
			if err != nil {
				t.Fatal(err)
			}
			tx := table.Begin(mustSnapshot(t, table))
			tx.AddFile(testFile("x", 1, 2))
			n := 0
			faulty.Before(func(call store.Call) {
				if n == c.lost || call.Op != store.OpPutIfAbsent {
					return
				}
				n++
				o := other.Begin(mustSnapshot(t, other))
				o.AddFile(testFile(fmt.Sprint("o", n), 1, 2))
				mustCommit(t, o)
			})
			mustCommit(t, tx)
			if !slices.Equal(clock.waits, c.want) {
				t.Errorf("it waited %v, want %v", clock.waits, c.want)
			}
		})
	}
}
