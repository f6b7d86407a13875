package sdk

import "runtime"

// heapFloor is how much a process allocates between two collections of
// garbage, at least.
const heapFloor = 64 << 20

// SpareCollections keeps a process with a small heap from collecting garbage
// all the time, and returns what ends that. A plugin that passes rows on has
// little that lives and allocates much: the runtime, which collects when there
// is as much garbage as what lives, would begin every few megabytes. The block
// counts as living and is never touched, so it has no memory of its own; what
// the process may have more of is garbage of its size.
func SpareCollections() (stop func()) {
	block := make([]byte, heapFloor)
	return func() { runtime.KeepAlive(block) }
}
