//go:build unix

package state

import (
	"io/fs"
	"syscall"
)

// Modes of access (POSIX: access, unistd.h).
const (
	accessWrite  = 2
	accessSearch = 1
)

// access asks the system whether this process may make names in a folder.
func access(dir string) error {
	if err := syscall.Access(dir, accessWrite|accessSearch); err != nil {
		return &fs.PathError{Op: "write to", Path: dir, Err: err}
	}
	return nil
}
