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
	pace := &pacer{live: []metrics.Sample{{Name: "/gc/heap/live:bytes"}}}
	pace.set(0)
	runtime.SetFinalizer(&collected{pace}, (*collected).again)
}

// pacer sets the share of garbage that the runtime waits for, in percent of what
// lives.
type pacer struct{ live []metrics.Sample }

func (p *pacer) set(live uint64) {
	const runtimeMinimum = 4 << 20 // the least heap that is collected, at 100 % (Go: runtime, mgcpacer.go, heapMinimum)
	debug.SetGCPercent(int(max(100*heapFloor/max(live, runtimeMinimum), 100)))
}

// collected is garbage: its finalizer runs after every collection and makes
// another one.
type collected struct{ pace *pacer }

func (c *collected) again() {
	metrics.Read(c.pace.live)
	c.pace.set(c.pace.live[0].Value.Uint64())
	runtime.SetFinalizer(&collected{c.pace}, (*collected).again)
}
