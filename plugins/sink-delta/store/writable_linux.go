package store

import (
	"fmt"
	"io/fs"
	"syscall"
)

// writable asks the system whether this process may make names in a folder.
// root may in every one, so the file systems of the kernel, which take no files,
// are told by their kind.
func writable(dir string) error {
	if err := syscall.Access(dir, accessWrite|accessSearch); err != nil {
		return classify(&fs.PathError{Op: "write to", Path: dir, Err: err})
	}
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err == nil && (st.Type == procMagic || st.Type == sysfsMagic) {
		return fmt.Errorf("%w: %s is a file system of the kernel and takes no files", ErrPermission, dir)
	}
	return nil
}

// Modes of access (POSIX: access, unistd.h), and kinds of file systems (Linux:
// statfs(2)).
const (
	accessWrite  = 2
	accessSearch = 1
	procMagic    = 0x9fa0
	sysfsMagic   = 0x62656572
)
