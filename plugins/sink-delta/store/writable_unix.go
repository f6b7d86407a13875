//go:build unix

package store

import (
	"io/fs"
	"syscall"
)

// Modes of access (POSIX: access, unistd.h).
const (
	accessWrite  = 2
	accessSearch = 1
)

// writable asks the system whether this process may make names in a folder.
// root may in every one, also where no file can be made.
func writable(dir string) error {
	if err := syscall.Access(dir, accessWrite|accessSearch); err != nil {
		return classify(&fs.PathError{Op: "write to", Path: dir, Err: err})
	}
	return takesFiles(dir)
}
