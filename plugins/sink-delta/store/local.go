package store

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Local keeps objects as files under one folder.
//
// A write goes to a temporary name in the folder of its destination, is synced,
// then takes its name in one step, and the folder is synced. Temporary names
// begin with a dot and end in .tmp; List does not show them and a crash may
// leave them behind (see Sweeper).
type Local struct {
	root string
	// link gives an existing file a name that must not exist yet. Tests put a
	// file system without hard links in its place.
	link func(oldname, newname string) error
	// rename is the way out where link is not supported.
	rename func(oldname, newname string) error
}

var (
	_ Store   = (*Local)(nil)
	_ Creator = (*Local)(nil)
	_ Opener  = (*Local)(nil)
	_ Sweeper = (*Local)(nil)
)

// NewLocal returns the store of the folder root. The folder need not exist; it
// is created by the first write.
func NewLocal(root string) (*Local, error) {
	if root == "" {
		return nil, fmt.Errorf("%w: an empty folder name", ErrInvalidPath)
	}
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("open folder %q: %w", root, err)
	}
	return &Local{root: abs, link: os.Link, rename: renameNoReplace}, nil
}

// Root is the absolute path of the folder.
func (l *Local) Root() string { return l.root }

func (l *Local) file(call, path string) (string, error) {
	if err := CheckPath(path); err != nil {
		return "", pathError(call, path, err)
	}
	return filepath.Join(l.root, filepath.FromSlash(path)), nil
}

// classify gives err the kind that callers test for.
func classify(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w: %w", ErrNoSpace, err)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: %w", ErrPermission, err)
	case errors.Is(err, syscall.ENOTDIR):
		// A file stands where a folder of the path would be: nothing is there.
		return fmt.Errorf("%w: %w", ErrNotExist, err)
	}
	return err
}

// Get implements Store.
func (l *Local) Get(ctx context.Context, path string) ([]byte, error) {
	name, err := l.file("get", path)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, pathError("get", path, err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, pathError("get", path, classify(err))
	}
	return data, nil
}

// GetRange implements Store.
func (l *Local) GetRange(ctx context.Context, path string, off, n int64) ([]byte, error) {
	if off < 0 || n < 0 {
		return nil, pathError("get range of", path, fmt.Errorf("offset %d and length %d must not be negative", off, n))
	}
	r, err := l.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	n = max(0, min(n, r.Size()-off))
	data := make([]byte, n)
	got, err := r.ReadAt(data, off)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, pathError("get range of", path, err)
	}
	return data[:got], nil
}

// Head implements Store.
func (l *Local) Head(ctx context.Context, path string) (Info, error) {
	name, err := l.file("head", path)
	if err != nil {
		return Info{}, err
	}
	if err := ctx.Err(); err != nil {
		return Info{}, pathError("head", path, err)
	}
	st, err := os.Stat(name)
	if err != nil {
		return Info{}, pathError("head", path, classify(err))
	}
	if st.IsDir() {
		return Info{}, pathError("head", path, fmt.Errorf("%w: it is a folder", ErrNotExist))
	}
	return Info{Path: path, Size: st.Size(), Modified: st.ModTime()}, nil
}

// Put implements Store.
func (l *Local) Put(ctx context.Context, path string, data []byte) error {
	w, err := l.create(ctx, "put", path)
	if err != nil {
		return err
	}
	defer w.Abort()
	if _, err := w.Write(data); err != nil {
		return err
	}
	return w.Close()
}

// PutIfAbsent implements Store.
func (l *Local) PutIfAbsent(ctx context.Context, path string, data []byte) error {
	w, err := l.create(ctx, "put if absent", path)
	if err != nil {
		return err
	}
	defer w.Abort()
	// The usual loser is told before it has written anything.
	if _, err := os.Lstat(w.name); err == nil {
		return pathError("put if absent", path, ErrExist)
	}
	if _, err := w.Write(data); err != nil {
		return err
	}
	return w.closeExclusive()
}

// Delete implements Store.
func (l *Local) Delete(ctx context.Context, path string) error {
	name, err := l.file("delete", path)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return pathError("delete", path, err)
	}
	if err := os.Remove(name); err != nil {
		if err = classify(err); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return pathError("delete", path, err)
	}
	return nil
}

// Create implements Creator.
func (l *Local) Create(ctx context.Context, path string) (Writer, error) {
	return l.create(ctx, "write", path)
}

func (l *Local) create(ctx context.Context, call, path string) (*localWriter, error) {
	name, err := l.file(call, path)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, pathError(call, path, err)
	}
	dir := filepath.Dir(name)
	if err := makeDir(dir); err != nil {
		return nil, pathError(call, path, classify(err))
	}
	var random [8]byte
	rand.Read(random[:]) // never fails
	temp := filepath.Join(dir, tempPrefix+hex.EncodeToString(random[:])+tempSuffix)
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, pathError(call, path, classify(err))
	}
	hold(f)
	return &localWriter{local: l, ctx: ctx, call: call, path: path, name: name, temp: temp, file: f}, nil
}

// makeDir creates dir and its parents and makes each new name durable.
func makeDir(dir string) error {
	if st, err := os.Stat(dir); err == nil && st.IsDir() {
		return nil
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := makeDir(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		if errors.Is(err, fs.ErrExist) {
			if st, serr := os.Stat(dir); serr == nil && st.IsDir() {
				return nil
			}
			return fmt.Errorf("%w: %s", ErrNotFolder, dir)
		}
		return err
	}
	return syncDir(parent)
}

const (
	tempPrefix = ".store-"
	tempSuffix = ".tmp"
)

func isTemp(name string) bool {
	return strings.HasPrefix(name, tempPrefix) && strings.HasSuffix(name, tempSuffix)
}

// List implements Store.
func (l *Local) List(ctx context.Context, prefix, startAfter string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		// Only the folder part of the prefix can be opened; the rest filters names.
		dir := ""
		if i := strings.LastIndexByte(prefix, '/'); i >= 0 {
			dir = prefix[:i]
			if err := CheckPath(dir); err != nil {
				yield(Info{}, pathError("list", prefix, err))
				return
			}
		}
		l.walk(ctx, dir, prefix, startAfter, yield)
	}
}

// walk yields the objects below the folder dir. It returns false to stop.
func (l *Local) walk(ctx context.Context, dir, prefix, startAfter string, yield func(Info, error) bool) bool {
	if err := ctx.Err(); err != nil {
		yield(Info{}, pathError("list", prefix, err))
		return false
	}
	objects, err := l.objects(dir, prefix, startAfter)
	if err != nil {
		if err = classify(err); errors.Is(err, fs.ErrNotExist) {
			return true
		}
		yield(Info{}, pathError("list", prefix, err))
		return false
	}
	for _, o := range objects {
		if o.IsDir() {
			if !l.walk(ctx, strings.TrimSuffix(o.path, "/"), prefix, startAfter, yield) {
				return false
			}
			continue
		}
		if !yield(Info{Path: o.path, Size: o.Size(), Modified: o.ModTime()}, nil) {
			return false
		}
	}
	return true
}

// object is a file or folder with its path in the store: a folder's ends with a slash.
type object struct {
	fs.FileInfo
	path string
}

// objects are what a listing takes of a folder, in the order of their paths' bytes, in
// which a folder stands as "name/". Of the rest only the names are read, neither looked
// at nor sorted: the log of a table with many commits is listed for the newest ones.
func (l *Local) objects(dir, prefix, startAfter string) ([]object, error) {
	folder := filepath.Join(l.root, filepath.FromSlash(dir))
	f, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if dir != "" {
		dir += "/"
	}
	// The parts of both that are below this folder. Outside of it, prefix holds for all in
	// it; startAfter too, or for nothing.
	prefix, _ = cutFolder(prefix, dir)
	rest, inside := cutFolder(startAfter, dir)
	if !inside && startAfter > dir {
		return nil, nil
	}
	startAfter = rest
	var out []object
	for {
		names, err := f.Readdirnames(1024)
		for _, name := range names {
			// A folder counts when something in it can have the prefix and lie behind
			// startAfter.
			file := name > startAfter && strings.HasPrefix(name, prefix) && !isTemp(name)
			sub := strings.HasPrefix(name+"/", prefix) || strings.HasPrefix(prefix, name+"/")
			if sub {
				sub = name+"/" >= startAfter || strings.HasPrefix(startAfter, name+"/")
			}
			if !file && !sub {
				continue
			}
			st, err := os.Lstat(filepath.Join(folder, name))
			switch {
			case errors.Is(err, fs.ErrNotExist): // deleted since the folder was read
			case err != nil:
				return nil, err
			case st.IsDir() && sub:
				out = append(out, object{st, dir + name + "/"})
			case !st.IsDir() && file:
				out = append(out, object{st, dir + name})
			}
		}
		if errors.Is(err, io.EOF) {
			slices.SortFunc(out, func(a, b object) int { return strings.Compare(a.path, b.path) })
			return out, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// cutFolder is what of a path is below a folder, "" and false when nothing is.
func cutFolder(path, dir string) (string, bool) {
	rest, ok := strings.CutPrefix(path, dir)
	if !ok {
		return "", false
	}
	return rest, true
}
