package sdk

import (
	"runtime"
	"runtime/metrics"
	"sync"
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

// passed keeps the blocks of the tests on the heap.
var passed []byte

// The runtime lets garbage grow with the stacks, too: many deep ones next to a
// small heap leave no more of it than a larger heap does.
func TestStacksLeaveNoMoreGarbage(t *testing.T) {
	SpareCollections()
	end := make(chan struct{})
	var standing, gone sync.WaitGroup
	for range 300 {
		standing.Add(1)
		gone.Go(func() { deep(100, standing.Done, end) })
	}
	standing.Wait()
	garbage, gathered := garbageAllowed(t, heapFloor*9/8)
	close(end)
	gone.Wait()
	if !gathered {
		t.Errorf("%d MiB of garbage are allowed beside deep stacks", garbage>>20)
	}
}

// deep waits at the end of a stack of n KiB.
func deep(n int, standing func(), end <-chan struct{}) byte {
	var frame [1024]byte
	if n == 0 {
		standing()
		<-end
		return frame[0]
	}
	frame[n] = byte(n)
	return deep(n-1, standing, end) + frame[n]
}

// A finalizer that hangs, such as that of a file on a server that went away, does
// not keep the bound from following the heap.
func TestAFinalizerThatHangsLeavesTheBound(t *testing.T) {
	SpareCollections()
	hanging, end := make(chan struct{}), make(chan struct{})
	runtime.SetFinalizer(&[64]byte{}, func(*[64]byte) {
		close(hanging)
		<-end
	})
	runtime.GC()
	<-hanging
	passed = make([]byte, 2*heapFloor)
	garbage, gathered := garbageAllowed(t, 2*heapFloor*9/8)
	passed = nil
	close(end)
	if !gathered {
		t.Errorf("%d MiB of garbage are allowed beside 128 MiB that live", garbage>>20)
	}
}

// garbageAllowed collects until no more garbage is allowed than so many bytes,
// but not without an end: what is set after a collection counts from then on.
func garbageAllowed(t *testing.T, most uint64) (garbage uint64, ok bool) {
	t.Helper()
	heap := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}, {Name: "/gc/heap/live:bytes"}}
	for range 50 {
		cleaned := make(chan struct{})
		runtime.AddCleanup(new(*byte), func(done chan struct{}) { close(done) }, cleaned)
		runtime.GC()
		<-cleaned
		metrics.Read(heap)
		if garbage = heap[0].Value.Uint64() - heap[1].Value.Uint64(); garbage <= most {
			return garbage, true
		}
	}
	return garbage, false
}
