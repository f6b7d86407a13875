//go:build darwin || freebsd

package host

import (
	"errors"

	"golang.org/x/sys/unix"
)

// awaitEnd returns when a child has ended, and leaves it to be waited for: its
// number stays its own (kqueue(2), EVFILT_PROC). It reports false when the system
// does not tell. waitid of Darwin returns for a stopped child, too.
func awaitEnd(pid int) bool {
	queue, err := unix.Kqueue()
	if err != nil {
		return false
	}
	defer unix.Close(queue)
	watch := unix.Kevent_t{Fflags: unix.NOTE_EXIT}
	unix.SetKevent(&watch, pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	changes, events := []unix.Kevent_t{watch}, make([]unix.Kevent_t, 1)
	for {
		n, err := unix.Kevent(queue, changes, events, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			changes = nil // which were taken
		case errors.Is(err, unix.ESRCH): // it has ended already
			return true
		case err != nil:
			return false
		case n > 0 && events[0].Flags&unix.EV_ERROR != 0:
			return unix.Errno(events[0].Data) == unix.ESRCH
		case n > 0:
			return true
		}
	}
}
