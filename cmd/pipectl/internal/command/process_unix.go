//go:build unix

package command

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
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
	return errors.Is(syscall.Kill(h.PID, 0), syscall.ESRCH) || ended(h.PID)
}

// ended reports whether a process that still has its number works no more: it has
// ended, and its parent has not asked how (Linux: proc(5), /proc/pid/stat).
func ended(pid int) bool {
	if runtime.GOOS != "linux" {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	// The name of the program stands before it in parentheses, and may hold some.
	rest := bytes.TrimSpace(stat[bytes.LastIndexByte(stat, ')')+1:])
	return len(rest) > 0 && (rest[0] == 'Z' || rest[0] == 'X')
}
