//go:build linux || darwin || freebsd

package host

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// lead makes a command the leader of a process group of its own, which its
// children are in unless they leave it.
func lead(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills a process and all of its group; one that is gone is no error.
// It is called while the number is the leader's: until the leader is waited for, no
// other process and no other group gets it.
func killGroup(leader *os.Process) error {
	if err := syscall.Kill(-leader.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}
