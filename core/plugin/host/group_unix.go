//go:build unix

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
// No other process gets the number of a group that has members.
func killGroup(leader *os.Process) error {
	if err := syscall.Kill(-leader.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}
