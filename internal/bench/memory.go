package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pipectl/pipectl/core/plugin/wire"
)

// memoryWatch reads the peak memory of a process and its children while they
// run: /proc forgets it with the process. The peak is the kernel's own
// high-water mark, so that only what grows in the last moment escapes.
type memoryWatch struct {
	stop chan struct{}
	done chan map[string]float64
}

const watchEvery = 20 * time.Millisecond

func watchMemory(pid int) *memoryWatch {
	w := &memoryWatch{stop: make(chan struct{}), done: make(chan map[string]float64)}
	go func() {
		peak := map[string]float64{}
		t := time.NewTicker(watchEvery)
		defer t.Stop()
		for {
			for name, mib := range peaks(pid) {
				peak[name] = max(peak[name], mib)
			}
			select {
			case <-t.C:
			case <-w.stop:
				if len(peak) == 0 {
					peak = nil
				}
				w.done <- peak
				return
			}
		}
	}()
	return w
}

// end ends the watch and gives the peaks, nil where the system has no /proc.
func (w *memoryWatch) end() map[string]float64 {
	close(w.stop)
	return <-w.done
}

// peaks are the high-water marks of a process and its children in MiB.
func peaks(pid int) map[string]float64 {
	out := map[string]float64{}
	if mib, ok := highWater(pid); ok {
		out["pipectl"] = mib
	}
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for _, field := range strings.Fields(string(text)) {
			child, err := strconv.Atoi(field)
			if err != nil {
				continue
			}
			args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", child))
			// Between fork and exec a child still has the parent's arguments.
			_, plugin, is := strings.Cut(strings.Trim(string(args), "\x00"), wire.BundledArgument+"\x00")
			if mib, ok := highWater(child); ok && is {
				out[filepath.Base(plugin)] = mib
			}
		}
	}
	return out
}

func highWater(pid int) (mib float64, ok bool) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(status)) {
		if rest, found := strings.CutPrefix(line, "VmHWM:"); found {
			kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kib / 1024, err == nil
		}
	}
	return 0, false
}
