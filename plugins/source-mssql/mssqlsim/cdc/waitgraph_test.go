package cdc

import "testing"

// A transaction that was a victim once may wait again, and be one again.
func TestAVictimIsToldOnceForEachDeadlock(t *testing.T) {
	t.Parallel()
	var g waitGraph
	a, b := &Tx{priority: -1}, &Tx{}
	for range 2 {
		told, err := g.enter(a, []*Tx{b})
		if err != nil {
			t.Fatal(err)
		}
		select {
		case <-told:
			t.Fatal("a victim without a deadlock")
		default:
		}
		if _, err := g.enter(b, []*Tx{a}); err != nil {
			t.Fatal(err)
		}
		if !g.leave(b) || g.leave(a) {
			t.Fatal("another victim than the one of the lower priority")
		}
	}
}

// Who is woken may have what it has waited for, though it has not come to look: it closes no circle.
func TestWhoIsWokenWaitsForNobody(t *testing.T) {
	t.Parallel()
	srv, err := NewServer(Config{Clock: SystemClock{}})
	if err != nil {
		t.Fatal(err)
	}
	db := srv.Database("d")
	waiter, holder := db.begin(), db.begin()
	held, result := true, make(chan error, 1)
	go func() {
		db.mu.Lock()
		defer db.mu.Unlock()
		result <- db.await(t.Context(), waiter, -1, lockExclusive, func() []*Tx {
			if held {
				return []*Tx{holder}
			}
			return nil
		})
	}()
	for waits := false; !waits; {
		db.mu.Lock()
		srv.waiting.mu.Lock()
		waits = len(waiter.blockers) > 0
		srv.waiting.mu.Unlock()
		if waits {
			held = false
			db.wake()
			if _, err := srv.waiting.enter(holder, []*Tx{waiter}); err != nil {
				t.Errorf("who let go waits for who was woken: %v", err)
			}
			srv.waiting.leave(holder)
		}
		db.mu.Unlock()
	}
	if err := <-result; err != nil {
		t.Errorf("who was woken: %v", err)
	}
	if len(db.waiters) != 0 {
		t.Errorf("%d are left among those who wait", len(db.waiters))
	}
}
