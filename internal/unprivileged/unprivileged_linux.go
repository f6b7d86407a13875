package unprivileged

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// nobody is the user of no file (systemd: Users, Groups, UIDs and GIDs).
const nobody = 65534

// Do does something in a folder as its owner who is not root, who may
// write everywhere. Where root runs the test, it is done on a thread whose user
// is nobody: the system call changes the calling thread alone (Linux:
// setresuid(2), "C library/kernel differences"), which ends with its goroutine
// as that never unlocks it, and from which the runtime makes no other.
func Do(t testing.TB, dir string, do func() error) error {
	t.Helper()
	if os.Geteuid() != 0 {
		return do()
	}
	// The folder above is the test's own, too, and private.
	if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chown(dir, nobody, -1)); err != nil {
		t.Fatal(err)
	}
	for above := filepath.Dir(dir); above != "/"; above = filepath.Dir(above) {
		info, err := os.Stat(above)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode()&0o001 == 0 {
			t.Skipf("NOT TESTED HERE: the rights to folders; root may write everywhere, and %s is closed to other users", above)
		}
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, nobody, nobody, nobody); errno != 0 {
			done <- fmt.Errorf("becoming another user: %w", errno)
			return
		}
		done <- do()
	}()
	return <-done
}
