//go:build unix && !linux

package store

import (
	"io/fs"
	"syscall"
)

// writable asks the system whether this process may make names in a folder.
func writable(dir string) error {
	if err := syscall.Access(dir, accessWrite|accessSearch); err != nil {
		return classify(&fs.PathError{Op: "write to", Path: dir, Err: err})
	}
	return nil
}

// Modes of access (POSIX: access, unistd.h).
const (
	accessWrite  = 2
	accessSearch = 1
)
