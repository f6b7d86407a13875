package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Prober is a store that can tell, as far as its system does, that writes would
// fail, and writes nothing to find out.
type Prober interface {
	// Probe returns why no object can be written below a folder, which need not
	// exist yet: an error that wraps ErrNotFolder or ErrPermission where it is
	// one of these. nil is no promise.
	Probe(ctx context.Context, folder string) error
}

var _ Prober = (*Local)(nil)

// Probe implements Prober: the folder, or the nearest one around it that
// exists, must be a folder that this process may write.
func (l *Local) Probe(ctx context.Context, folder string) error {
	dir, err := l.file("look at", folder)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return pathError("look at", folder, err)
	}
	for {
		st, err := os.Stat(dir)
		switch {
		case err == nil && !st.IsDir():
			return fmt.Errorf("%w: %s", ErrNotFolder, dir)
		case err == nil:
			return writable(dir)
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
			return classify(err)
		}
		if _, err := os.Lstat(dir); err == nil { // a link that leads nowhere
			return fmt.Errorf("%w: %s", ErrNotFolder, dir)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return classify(err)
		}
		dir = parent
	}
}
