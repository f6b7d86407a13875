package store

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// OpenFunc opens the store that a URL of one scheme names, rooted at that URL.
type OpenFunc func(ctx context.Context, location *url.URL) (Store, error)

// Schemes says how the URLs of each scheme are opened. It is the one place
// where a binary decides which kinds of storage it carries: each cloud lives in
// a package of its own and is added here by whoever wants it.
type Schemes map[string]OpenFunc

// LocalSchemes opens plain paths and file URLs, nothing else.
func LocalSchemes() Schemes {
	return Schemes{"file": func(_ context.Context, u *url.URL) (Store, error) {
		if u.Host != "" && u.Host != "localhost" {
			return nil, fmt.Errorf("%q names the host %q; file URLs are local, as in file:///lake", u, u.Host)
		}
		return NewLocal(filepath.FromSlash(u.Path))
	}}
}

// Open opens the store at location: a URL of a known scheme, or a plain path,
// which means a local folder.
func (s Schemes) Open(ctx context.Context, location string) (Store, error) {
	u, open, err := s.find(location)
	if err != nil {
		return nil, err
	}
	return open(ctx, u)
}

// Check reports whether Open knows how to open the location. It touches
// nothing.
func (s Schemes) Check(location string) error {
	_, _, err := s.find(location)
	return err
}

func (s Schemes) find(location string) (*url.URL, OpenFunc, error) {
	u, err := ParseLocation(location)
	if err != nil {
		return nil, nil, err
	}
	open, ok := s[u.Scheme]
	if !ok {
		known := slices.Sorted(maps.Keys(s))
		return nil, nil, fmt.Errorf("location %q: %w: scheme %q; this program knows %s", location, ErrUnsupported, u.Scheme, strings.Join(known, ", "))
	}
	return u, open, nil
}

// ParseLocation turns a plain path or a URL into a URL. A plain path becomes a
// file URL with an absolute path.
func ParseLocation(location string) (*url.URL, error) {
	if location == "" {
		return nil, fmt.Errorf("%w: an empty location", ErrInvalidPath)
	}
	// A drive letter (C:\lake) is a path, not a scheme of one letter.
	if i := strings.Index(location, ":"); i > 1 && !strings.ContainsAny(location[:i], `/\`) {
		u, err := url.Parse(location)
		if err != nil {
			return nil, fmt.Errorf("location %q: %w", location, err)
		}
		if u.Opaque != "" {
			return nil, fmt.Errorf("%w: location %q; a URL has the form scheme:///path", ErrInvalidPath, location)
		}
		return u, nil
	}
	abs, err := filepath.Abs(location)
	if err != nil {
		return nil, fmt.Errorf("location %q: %w", location, err)
	}
	return &url.URL{Scheme: "file", Path: filepath.ToSlash(abs)}, nil
}
