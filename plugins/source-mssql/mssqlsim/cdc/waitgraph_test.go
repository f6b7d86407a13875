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
