// Package store is the object store under a lake: seven calls that a local
// file system, S3, Azure Blob Storage and Google Cloud Storage can all keep,
// and nothing else. It knows paths and bytes; it must not know Delta, Parquet
// or what a path means.
//
// The promises every Store keeps:
//
//   - A path names either nothing or one complete object. A name never shows
//     before its content is complete and durable, whatever fails in between.
//   - PutIfAbsent creates a name exactly once among any number of writers and
//     processes. This is what a commit protocol may rely on.
//   - List is sorted by the bytes of the path, so a start position works alike
//     everywhere.
//
// Paths are relative, slash separated, without empty, "." or ".." elements.
package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"strings"
	"time"
)

// Errors that callers decide by, tested with errors.Is. Errors of a Store wrap
// one of these when it applies and always name the call and the path.
var (
	// ErrNotExist says that no object has the path. It is fs.ErrNotExist.
	ErrNotExist = fs.ErrNotExist
	// ErrExist says that PutIfAbsent found an object: another writer, or an
	// earlier attempt of the same writer, was first. It is fs.ErrExist.
	ErrExist = fs.ErrExist
	// ErrPermission says that the credentials do not allow the call. It is
	// fs.ErrPermission. Repeating the call does not help.
	ErrPermission = fs.ErrPermission
	// ErrNoSpace says that the disk or the quota is full.
	ErrNoSpace = errors.New("no space left")
	// ErrNotFolder says that a file stands where a folder is needed.
	ErrNotFolder = errors.New("a file stands where a folder is needed")
	// ErrUnsupported says that the place cannot keep a promise of Store, for
	// example a file system without any atomic create. Repeating does not help.
	ErrUnsupported = errors.New("not supported by this storage")
	// ErrInvalidPath says that a path is not in the form this package takes.
	ErrInvalidPath = errors.New("invalid object path")
)

// Info describes one object.
type Info struct {
	// Path is the object's path inside the store.
	Path string
	// Size is the object's length in bytes.
	Size int64
	// Modified is when the object was written, by the store's clock, to at
	// least a second.
	Modified time.Time
}

// Store is one place that holds objects. Implementations are safe for
// concurrent use. Every error but ErrNotExist and ErrExist of the calls below
// leaves open whether a write took place, unless it wraps ErrPermission,
// ErrNoSpace, ErrUnsupported, ErrNotFolder or ErrInvalidPath.
type Store interface {
	// Get returns the whole object. The caller owns the bytes.
	Get(ctx context.Context, path string) ([]byte, error)
	// GetRange returns up to n bytes from offset off, fewer only where the
	// object ends; an offset at or behind the end gives none. n and off are at
	// least 0.
	GetRange(ctx context.Context, path string, off, n int64) ([]byte, error)
	// Head returns size and time of the object.
	Head(ctx context.Context, path string) (Info, error)
	// Put creates or replaces the object in one step. data is not kept.
	Put(ctx context.Context, path string, data []byte) error
	// PutIfAbsent creates the object, or fails with ErrExist and changes
	// nothing. data is not kept.
	PutIfAbsent(ctx context.Context, path string, data []byte) error
	// List yields the objects whose path begins with prefix and is greater than
	// startAfter (empty: all), in ascending order of the path's bytes. It goes
	// into folders. Objects written meanwhile may or may not show. It stops
	// after the first error. A prefix that names nothing yields nothing.
	List(ctx context.Context, prefix, startAfter string) iter.Seq2[Info, error]
	// Delete removes the object. A missing object is no error.
	Delete(ctx context.Context, path string) error
}

// CheckPath returns an error that wraps ErrInvalidPath when path is not in the
// form described in the package comment.
func CheckPath(path string) error {
	if path == "" {
		return fmt.Errorf("%w: empty", ErrInvalidPath)
	}
	if strings.IndexByte(path, 0) >= 0 {
		return fmt.Errorf("%w: %q holds a zero byte", ErrInvalidPath, path)
	}
	for element := range strings.SplitSeq(path, "/") {
		switch element {
		case "", ".", "..":
			return fmt.Errorf("%w: %q has the element %q; paths are relative and plain, as in a/b/c", ErrInvalidPath, path, element)
		}
	}
	return nil
}

// Permanent reports whether err is of a kind that a repeated call would meet
// again: a caller that retries stops at it.
func Permanent(err error) bool {
	return errors.Is(err, ErrPermission) || errors.Is(err, ErrNoSpace) ||
		errors.Is(err, ErrUnsupported) || errors.Is(err, ErrInvalidPath) || errors.Is(err, ErrNotFolder)
}

// pathError says which call on which path failed and why.
func pathError(call, path string, err error) error {
	return fmt.Errorf("%s %q: %w", call, path, err)
}
