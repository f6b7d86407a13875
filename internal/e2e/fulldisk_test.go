package e2e

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/sdk"
	"github.com/pipectl/pipectl/plugins/sink-delta/delta"
	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// fullDiskSink is the name under which the test binary is a plugin: the Delta
// sink on a disk that is full where a script wants it. So a full disk needs no
// right to mount one. The store fails as a local one does when the kernel
// answers ENOSPC: in the middle of a file.
const fullDiskSink = "sink-on-a-full-disk"

// fullDiskFile lies beside the lake. It holds a piece of the paths that find no
// room; none, or an empty one, is a disk with room.
const fullDiskFile = "full"

// deniedFile is the same for paths that the user may not write, which a test as
// root cannot have of the system: the kernel's answer is EACCES.
const deniedFile = "denied"

func serveFullDisk() {
	schemes := store.Schemes{"file": func(_ context.Context, u *url.URL) (store.Store, error) {
		local, err := store.NewLocal(filepath.FromSlash(u.Path))
		if err != nil {
			return nil, err
		}
		return &fullDisk{Local: local}, nil
	}}
	sdk.Serve(func(*slog.Logger) plugin.Plugin { return delta.NewOver(plugin.Release, schemes) })
}

// fullDisk is a local store in which some paths find no room.
type fullDisk struct{ *store.Local }

// named reports whether a file beside the lake holds a piece of a path.
func (d *fullDisk) named(file, path string) (bool, error) {
	piece, err := os.ReadFile(filepath.Join(filepath.Dir(d.Root()), file))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	text := strings.TrimSpace(string(piece))
	return text != "" && strings.Contains(path, text), err
}

// full is the error of a write to a path that finds no room, or is denied.
func (d *fullDisk) full(call, path string) error {
	name := filepath.Join(d.Root(), filepath.FromSlash(path))
	if hit, err := d.named(fullDiskFile, path); err != nil {
		return err
	} else if hit {
		return fmt.Errorf("%s %q: %w: %w", call, path, store.ErrNoSpace, &fs.PathError{Op: "write", Path: name, Err: syscall.ENOSPC})
	}
	if hit, err := d.named(deniedFile, path); err != nil {
		return err
	} else if hit {
		return fmt.Errorf("%s %q: %w", call, path, &fs.PathError{Op: "open", Path: name, Err: syscall.EACCES})
	}
	return nil
}

// Probe implements store.Prober: the folder of a path that is denied is.
func (d *fullDisk) Probe(ctx context.Context, folder string) error {
	if hit, err := d.named(deniedFile, folder); err != nil {
		return err
	} else if hit {
		return &fs.PathError{Op: "write to", Path: filepath.Join(d.Root(), filepath.FromSlash(folder)), Err: syscall.EACCES}
	}
	return d.Local.Probe(ctx, folder)
}

// Put implements store.Store.
func (d *fullDisk) Put(ctx context.Context, path string, data []byte) error {
	if err := d.full("put", path); err != nil {
		return err
	}
	return d.Local.Put(ctx, path, data)
}

// PutIfAbsent implements store.Store.
func (d *fullDisk) PutIfAbsent(ctx context.Context, path string, data []byte) error {
	if err := d.full("put if absent", path); err != nil {
		return err
	}
	return d.Local.PutIfAbsent(ctx, path, data)
}

// Create implements store.Creator.
func (d *fullDisk) Create(ctx context.Context, path string) (store.Writer, error) {
	w, err := d.Local.Create(ctx, path)
	if err != nil {
		return nil, err
	}
	return &fullWriter{Writer: w, disk: d, path: path}, nil
}

// fullWriter is a file that the disk takes the first half of.
type fullWriter struct {
	store.Writer
	disk *fullDisk
	path string
}

func (w *fullWriter) Write(p []byte) (int, error) {
	err := w.disk.full("write", w.path)
	if err == nil {
		return w.Writer.Write(p)
	}
	n, werr := w.Writer.Write(p[:len(p)/2])
	return n, errors.Join(err, werr)
}
