package host

import (
	"errors"

	"golang.org/x/sys/unix"
)

// awaitEnd returns when a child has ended, and leaves it to be waited for: its
// number stays its own (Linux: waitid(2), WNOWAIT). It reports false when the
// system does not tell.
func awaitEnd(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}
