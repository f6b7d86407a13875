//go:build unix

package command

import (
	"errors"
	"os"
	"syscall"

	"github.com/pipectl/pipectl/core/state"
)

// noticed tells which holders of locks are known to have died.
func noticed() func(state.Holder) bool { return processGone }

// processGone reports whether the holder of a lock was a process of this
// machine that has died. Its lock need not expire first.
func processGone(h state.Holder) bool {
	hostname, err := os.Hostname()
	if err != nil || h.Host != hostname || h.PID <= 0 {
		return false
	}
	return errors.Is(syscall.Kill(h.PID, 0), syscall.ESRCH)
}
