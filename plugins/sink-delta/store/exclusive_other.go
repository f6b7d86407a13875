//go:build !linux && !darwin

package store

import (
	"errors"
	"os"
)

// renameNoReplace is not known for this system: hard links are the only way.
func renameNoReplace(oldname, newname string) error {
	return &os.LinkError{Op: "rename", Old: oldname, New: newname, Err: errors.ErrUnsupported}
}
