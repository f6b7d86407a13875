package store

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"
)

// Memory keeps objects in memory: for tests and for what need not last.
type Memory struct {
	mu      sync.RWMutex
	objects map[string]memoryObject
	now     func() time.Time
}

type memoryObject struct {
	data     []byte
	modified time.Time
}

var _ Store = (*Memory)(nil)

// NewMemory returns an empty store. now gives objects their times; nil means
// the system's clock.
func NewMemory(now func() time.Time) *Memory {
	if now == nil {
		now = time.Now
	}
	return &Memory{objects: map[string]memoryObject{}, now: now}
}

// Get implements Store.
func (m *Memory) Get(ctx context.Context, path string) ([]byte, error) {
	o, err := m.object(ctx, "get", path)
	return bytes.Clone(o.data), err
}

// GetRange implements Store.
func (m *Memory) GetRange(ctx context.Context, path string, off, n int64) ([]byte, error) {
	if off < 0 || n < 0 {
		return nil, pathError("get range of", path, fmt.Errorf("offset %d and length %d must not be negative", off, n))
	}
	o, err := m.object(ctx, "get range of", path)
	if err != nil {
		return nil, err
	}
	size := int64(len(o.data))
	off = min(off, size)
	return bytes.Clone(o.data[off : off+min(n, size-off)]), nil
}

// Head implements Store.
func (m *Memory) Head(ctx context.Context, path string) (Info, error) {
	o, err := m.object(ctx, "head", path)
	if err != nil {
		return Info{}, err
	}
	return Info{Path: path, Size: int64(len(o.data)), Modified: o.modified}, nil
}

func (m *Memory) object(ctx context.Context, call, path string) (memoryObject, error) {
	if err := CheckPath(path); err != nil {
		return memoryObject{}, pathError(call, path, err)
	}
	if err := ctx.Err(); err != nil {
		return memoryObject{}, pathError(call, path, err)
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	o, ok := m.objects[path]
	if !ok {
		return o, pathError(call, path, ErrNotExist)
	}
	return o, nil
}

// Put implements Store.
func (m *Memory) Put(ctx context.Context, path string, data []byte) error {
	return m.put(ctx, "put", path, data, false)
}

// PutIfAbsent implements Store.
func (m *Memory) PutIfAbsent(ctx context.Context, path string, data []byte) error {
	return m.put(ctx, "put if absent", path, data, true)
}

func (m *Memory) put(ctx context.Context, call, path string, data []byte, absent bool) error {
	if err := CheckPath(path); err != nil {
		return pathError(call, path, err)
	}
	if err := ctx.Err(); err != nil {
		return pathError(call, path, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.objects[path]; ok && absent {
		return pathError(call, path, ErrExist)
	}
	m.objects[path] = memoryObject{data: bytes.Clone(data), modified: m.now()}
	return nil
}

// List implements Store.
func (m *Memory) List(ctx context.Context, prefix, startAfter string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(Info{}, pathError("list", prefix, err))
			return
		}
		for _, info := range m.infos(prefix, startAfter) {
			if !yield(info, nil) {
				return
			}
		}
	}
}

func (m *Memory) infos(prefix, startAfter string) []Info {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var infos []Info
	for path, o := range m.objects {
		if strings.HasPrefix(path, prefix) && path > startAfter {
			infos = append(infos, Info{Path: path, Size: int64(len(o.data)), Modified: o.modified})
		}
	}
	slices.SortFunc(infos, func(a, b Info) int { return strings.Compare(a.Path, b.Path) })
	return infos
}

// Delete implements Store.
func (m *Memory) Delete(ctx context.Context, path string) error {
	if err := CheckPath(path); err != nil {
		return pathError("delete", path, err)
	}
	if err := ctx.Err(); err != nil {
		return pathError("delete", path, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.objects, path)
	return nil
}

// Clone returns an independent store with the same objects.
func (m *Memory) Clone() *Memory {
	m.mu.RLock()
	defer m.mu.RUnlock()
	c := NewMemory(m.now)
	for path, o := range m.objects {
		c.objects[path] = o // contents are never changed in place
	}
	return c
}
