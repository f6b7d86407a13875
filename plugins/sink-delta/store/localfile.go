package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// localWriter is a file under a temporary name on its way to its own.
type localWriter struct {
	local *Local
	ctx   context.Context
	call  string
	path  string
	name  string
	temp  string
	file  *os.File
}

func (w *localWriter) Write(p []byte) (int, error) {
	if w.file == nil {
		return 0, pathError(w.call, w.path, errClosed)
	}
	n, err := w.file.Write(p)
	if err != nil {
		// On a disk that is full the room is needed, and nothing else gives it back.
		_ = w.Abort()
		return n, pathError(w.call, w.path, classify(err))
	}
	return n, nil
}

// finish makes the content durable under the temporary name.
func (w *localWriter) finish() error {
	if w.file == nil {
		return errClosed
	}
	// A cancelled writer must not show its object.
	if err := w.ctx.Err(); err != nil {
		return err
	}
	err := w.file.Sync()
	if cerr := w.file.Close(); err == nil {
		err = cerr
	}
	w.file = nil
	return classify(err)
}

// Close gives the file its name, replacing what has it.
func (w *localWriter) Close() error {
	if err := w.finish(); err != nil {
		w.Abort()
		return pathError(w.call, w.path, err)
	}
	if err := os.Rename(w.temp, w.name); err != nil {
		w.Abort()
		return pathError(w.call, w.path, classify(err))
	}
	w.temp = ""
	if err := syncDir(filepath.Dir(w.name)); err != nil {
		return pathError(w.call, w.path, classify(err))
	}
	return nil
}

// closeExclusive gives the file its name, which must be free.
//
// A hard link is the classic way: it fails when the name exists and shows the
// complete file when it does not. File systems without hard links (FAT, some
// network mounts) may have a rename that does not replace. O_EXCL is no way
// out: it shows the name before the content is there.
func (w *localWriter) closeExclusive() error {
	defer w.Abort()
	if err := w.finish(); err != nil {
		return pathError(w.call, w.path, err)
	}
	err := w.local.link(w.temp, w.name)
	if linkUnsupported(err) {
		if err = w.local.rename(w.temp, w.name); err == nil {
			w.temp = ""
		} else if linkUnsupported(err) {
			return pathError(w.call, w.path, fmt.Errorf("%w: the file system has neither hard links nor a rename that does not replace, so two writers could overwrite each other; use another file system (%w)", ErrUnsupported, err))
		}
	}
	if err != nil {
		return pathError(w.call, w.path, classify(err))
	}
	if err := syncDir(filepath.Dir(w.name)); err != nil {
		return pathError(w.call, w.path, classify(err))
	}
	return nil
}

// Abort removes the temporary file, if it is still there.
func (w *localWriter) Abort() error {
	if w.file != nil {
		w.file.Close()
		w.file = nil
	}
	if w.temp == "" {
		return nil
	}
	temp := w.temp
	w.temp = ""
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return pathError("abort", w.path, classify(err))
	}
	return nil
}

// linkUnsupported reports whether the file system, not the file, is why a name
// could not be taken. EPERM is what Linux says of a file system without links.
func linkUnsupported(err error) bool {
	return errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSYS) ||
		errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported)
}

// Open implements Opener.
func (l *Local) Open(ctx context.Context, path string) (Reader, error) {
	name, err := l.file("open", path)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, pathError("open", path, err)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, pathError("open", path, classify(err))
	}
	st, err := f.Stat()
	if err == nil && st.IsDir() {
		err = fmt.Errorf("%w: it is a folder", ErrNotExist)
	}
	if err != nil {
		f.Close()
		return nil, pathError("open", path, classify(err))
	}
	return &localReader{File: f, size: st.Size()}, nil
}

type localReader struct {
	*os.File
	size int64
}

func (r *localReader) Size() int64 { return r.size }

// Sweep implements Sweeper.
func (l *Local) Sweep(ctx context.Context, folder string, before time.Time) (removed int, err error) {
	name, err := l.file("sweep", folder)
	if err != nil {
		return 0, err
	}
	entries, err := os.ReadDir(name)
	if err != nil {
		if err = classify(err); errors.Is(err, fs.ErrNotExist) {
			return 0, nil
		}
		return 0, pathError("sweep", folder, err)
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return removed, pathError("sweep", folder, err)
		}
		if e.IsDir() || !isTemp(e.Name()) {
			continue
		}
		st, err := e.Info()
		if err != nil || !st.ModTime().Before(before) {
			continue // gone, or young
		}
		temp := filepath.Join(name, e.Name())
		if held(temp) {
			continue
		}
		if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, pathError("sweep", folder, classify(err))
		}
		removed++
	}
	return removed, nil
}
