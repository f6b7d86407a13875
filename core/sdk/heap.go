package sdk

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// heapFloor is how much a process allocates between two collections of
// garbage, at least.
const heapFloor = 64 << 20

// SpareCollections keeps a process with a small heap from collecting garbage
// all the time. A plugin that passes rows on has little that lives and allocates
// much: the runtime, which collects when there is as much garbage as what lives,
// would begin every few megabytes, and the first time while the process starts.
// What the process may have more of is garbage, 64 MiB of it. It does nothing
// where the environment variable GOGC is set.
func SpareCollections() {
	if os.Getenv("GOGC") != "" {
		return
	}
	p := &pacer{scanned: []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"}}}
	p.allow(0)
}

// pacer sets how much garbage the runtime waits for: in percent of what it scans,
// the heap that lives with stacks and globals (Go: A Guide to the Go Garbage
// Collector, GOGC).
type pacer struct{ scanned []metrics.Sample }

// allow lets 64 MiB of garbage gather next to what was scanned, or as much as that,
// until the end of the next collection.
func (p *pacer) allow(scanned uint64) {
	const runtimeMinimum = 4 << 20 // the least heap that is collected, at 100 % (Go: runtime, mgcpacer.go, heapMinimum)
	debug.SetGCPercent(int(max(100*heapFloor/max(scanned, runtimeMinimum), 100)))
	// A cleanup, not a finalizer: all finalizers wait for one that hangs.
	runtime.AddCleanup(new(*pacer), (*pacer).again, p)
}

// again follows a collection, which found what allow left.
func (p *pacer) again() {
	metrics.Read(p.scanned)
	var sum uint64
	for _, s := range p.scanned {
		sum += s.Value.Uint64()
	}
	p.allow(sum)
}
