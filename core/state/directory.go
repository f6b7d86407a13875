package state

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/pipectl/pipectl/core/diag"
)

// InDirectory keeps state in a local directory, which is created when the
// first object is.
func InDirectory(dir string) Objects { return directory{root: dir} }

type directory struct{ root string }

func (d directory) path(key string) string { return filepath.Join(d.root, filepath.FromSlash(key)) }

// CodePath is the code of the diagnostics about a directory for the state that
// cannot be used. They are about the argument path of the block state.
const CodePath = "state.path"

// unusable says what the system said of the directory, and of which file in it.
func unusable(doing string, err error) error {
	kind, detail := diag.KindConfiguration, "Name a folder that pipectl can make, read and write, or leave the block state out: the state then lies in the lake."
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		kind, detail = diag.KindUnavailable, "Make room, then run again: it goes on from what is there."
	case errors.Is(err, syscall.EIO):
		kind, detail = diag.KindUnavailable, "The disk, or the server behind the mount, did not do it: look at the mount and into the system's log. Once it is well, run again: it goes on from what is there."
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		kind, detail = diag.KindPermission, "Give the user that runs pipectl the right to read and write it."
	}
	return diag.Errorf(kind, CodePath, detail, "The folder of the state cannot be used: %s it: %s", doing, err).At("state", "path").Err()
}

// tempPrefix marks files that a crash may leave behind; no key starts with it,
// because names are percent-encoded and never begin with a dot.
const tempPrefix = ".tmp-"

// Put writes a temporary file in the same directory and then renames it, or
// links it when the key must be absent: link fails where a name exists, on
// every system, and a file is never seen half written.
func (d directory) Put(_ context.Context, key string, data []byte, onlyIfAbsent bool) (err error) {
	path := d.path(key)
	defer func() {
		if err != nil && !errors.Is(err, ErrExists) {
			err = unusable("writing", err)
		}
	}()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	temp := filepath.Join(filepath.Dir(path), tempPrefix+rand.Text())
	if err := writeSynced(temp, data); err != nil {
		return err
	}
	defer os.Remove(temp) //nolint:errcheck // already renamed, or litter that List passes over
	if onlyIfAbsent {
		switch err := os.Link(temp, path); {
		case errors.Is(err, fs.ErrExist):
			return ErrExists
		case errors.Is(err, errors.ErrUnsupported), errors.Is(err, syscall.EPERM):
			return fmt.Errorf("this file system has no hard links, so two runs could not be kept apart; "+
				"choose another state path: %w", err)
		case err != nil:
			return err
		}
	} else if err := os.Rename(temp, path); err != nil {
		return err
	}
	return syncDirectory(filepath.Dir(path))
}

func writeSynced(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncDirectory makes a new name durable. Systems that cannot sync a directory
// (Windows) say so with an error that means nothing here.
func syncDirectory(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	if err := f.Sync(); err != nil && os.PathSeparator == '/' {
		return err
	}
	return nil
}

func (d directory) Get(_ context.Context, key string) ([]byte, bool, error) {
	data, err := os.ReadFile(d.path(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, unusable("reading", err)
	}
	return data, true, nil
}

func (d directory) List(_ context.Context, prefix, startAfter string) ([]string, error) {
	// Only the directory that the prefix names can hold matches.
	base, _ := cutLast(prefix)
	var keys []string
	err := filepath.WalkDir(d.path(base), func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed while walking, or nothing there yet
		}
		if err != nil || entry.IsDir() || strings.HasPrefix(entry.Name(), tempPrefix) {
			return err
		}
		rel, err := filepath.Rel(d.root, path)
		if err != nil {
			return err
		}
		if key := filepath.ToSlash(rel); strings.HasPrefix(key, prefix) && key > startAfter {
			keys = append(keys, key)
		}
		return nil
	})
	if err != nil {
		return nil, unusable("listing", err)
	}
	slices.Sort(keys)
	return keys, nil
}

func cutLast(prefix string) (dir, rest string) {
	i := strings.LastIndexByte(prefix, '/')
	return prefix[:i+1], prefix[i+1:]
}

func (d directory) Delete(_ context.Context, key string) error {
	if err := os.Remove(d.path(key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing state: %w", err)
	}
	return nil
}

// Probe looks at the folder, or at the nearest one around it that exists.
func (d directory) Probe(_ context.Context, prefix string) error {
	for dir := d.path(prefix); ; dir = filepath.Dir(dir) {
		at, err := os.Stat(dir)
		switch {
		case err == nil && !at.IsDir():
			return unusable("writing", &fs.PathError{Op: "mkdir", Path: dir, Err: syscall.ENOTDIR})
		case err == nil:
			if err := access(dir); err != nil {
				return unusable("writing", err)
			}
			return nil
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
			return unusable("writing", err)
		case filepath.Dir(dir) == dir:
			return nil
		}
		if _, err := os.Lstat(dir); err == nil { // a link that leads nowhere
			return unusable("writing", &fs.PathError{Op: "mkdir", Path: dir, Err: fs.ErrNotExist})
		}
	}
}

func (d directory) Place(key string) string { return d.path(key) }
