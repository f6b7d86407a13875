//go:build unix

package command

import (
	"errors"
	"os"
	"syscall"

	"github.com/pipectl/pipectl/core/state"
)

// processGone reports whether the holder of a lock was a process of this
// machine that has died. Its lock need not expire first.
func processGone(h state.Holder) bool {
	hostname, err := os.Hostname()
	if err != nil || h.Host != hostname || h.PID <= 0 {
		return false
	}
	return errors.Is(syscall.Kill(h.PID, 0), syscall.ESRCH)
}
