package sdk

import (
	"runtime"
	"testing"
)

// A process in which little lives passes 48 MiB on without a collection.
func TestSmallHeapsAreNotCollectedAllTheTime(t *testing.T) {
	SpareCollections()
	runtime.GC() // the floor counts from the next collection on
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 48 {
		passed = make([]byte, 1<<20)
	}
	runtime.ReadMemStats(&after)
	if n := after.NumGC - before.NumGC; n > 0 {
		t.Errorf("%d collections for 48 MiB of garbage", n)
	}
}

// passed keeps the blocks of the test on the heap.
var passed []byte
