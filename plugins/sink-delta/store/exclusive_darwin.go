package store

import (
	"os"

	"golang.org/x/sys/unix"
)

// renameNoReplace renames a file to a name that must be free.
func renameNoReplace(oldname, newname string) error {
	if err := unix.RenamexNp(oldname, newname, unix.RENAME_EXCL); err != nil {
		return &os.LinkError{Op: "renamex_np", Old: oldname, New: newname, Err: err}
	}
	return nil
}
