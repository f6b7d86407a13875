package store

import (
	"fmt"
	"syscall"
)

// Kinds of file systems (Linux: statfs(2)).
const (
	procMagic  = 0x9fa0
	sysfsMagic = 0x62656572
)

// takesFiles tells the file systems of the kernel, which take no files, by their
// kind.
func takesFiles(dir string) error {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err == nil && (st.Type == procMagic || st.Type == sysfsMagic) {
		return fmt.Errorf("%w: %s is a file system of the kernel and takes no files", ErrPermission, dir)
	}
	return nil
}
