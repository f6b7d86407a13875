package sdk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"

	"github.com/pipectl/pipectl/core/plugin/wire"
)

// Profile begins a CPU profile of this process when the environment variable
// PIPECTL_PROFILE names a folder, and does nothing otherwise. The returned
// function ends it and adds a profile of the memory allocated:
//
//	NAME-PID.cpu.pprof, NAME-PID.allocs.pprof   for go tool pprof
//
// Serve calls it for plugins; a host calls it for itself.
func Profile(name string) (stop func() error, err error) {
	dir := os.Getenv(wire.ProfileVariable)
	if dir == "" {
		return func() error { return nil }, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("making the folder of profiles: %w", err)
	}
	path := filepath.Join(dir, fmt.Sprintf("%s-%d", filepath.Base(name), os.Getpid()))
	cpu, err := os.Create(path + ".cpu.pprof")
	if err != nil {
		return nil, fmt.Errorf("creating a profile: %w", err)
	}
	if err := pprof.StartCPUProfile(cpu); err != nil {
		return nil, errors.Join(fmt.Errorf("starting a profile: %w", err), cpu.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		runtime.GC() // the profile of memory is as of the last collection
		allocs, err := os.Create(path + ".allocs.pprof")
		if err != nil {
			return errors.Join(fmt.Errorf("creating a profile: %w", err), cpu.Close())
		}
		return errors.Join(pprof.Lookup("allocs").WriteTo(allocs, 0), allocs.Close(), cpu.Close())
	}, nil
}
