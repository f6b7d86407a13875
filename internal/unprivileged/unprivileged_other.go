//go:build !linux

package unprivileged

import (
	"os"
	"runtime"
	"testing"
)

// Do does something in a folder as a user who is not root, who may
// write everywhere. Only Linux gives a thread a user of its own.
func Do(t testing.TB, _ string, do func() error) error {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("NOT TESTED HERE: the rights to folders, which on Windows are known by trying")
	}
	if os.Geteuid() == 0 {
		t.Skip("NOT TESTED HERE: the rights to folders; root may write everywhere, and is no other user here")
	}
	return do()
}
