//go:build !linux && !darwin && !freebsd

package host

import (
	"errors"
	"os"
	"os/exec"
)

// lead does nothing where there are no process groups.
func lead(*exec.Cmd) {}

// killGroup kills the process alone; one that is gone is no error.
func killGroup(leader *os.Process) error {
	if err := leader.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// awaitEnd knows nothing of an end that was not waited for.
func awaitEnd(int) bool { return false }
