package memory

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

func (s *session) PutObject(_ context.Context, obj plugin.Object, onlyIfAbsent bool) error {
	s.lake.mu.Lock()
	defer s.lake.mu.Unlock()
	if _, ok := s.lake.objects[obj.Key]; ok && onlyIfAbsent {
		return diag.Errorf(diag.KindConflict, "memory.object_exists", "", "There is an object %q already", obj.Key).Err()
	}
	s.lake.objects[obj.Key] = slices.Clone(obj.Data)
	return nil
}

func (s *session) GetObject(_ context.Context, key string) (plugin.Object, bool, error) {
	s.lake.mu.Lock()
	defer s.lake.mu.Unlock()
	data, ok := s.lake.objects[key]
	if !ok {
		return plugin.Object{}, false, nil
	}
	return plugin.Object{Key: key, Data: slices.Clone(data)}, true, nil
}

// ProbeObjects implements plugin.ObjectProber.
func (s *session) ProbeObjects(_ context.Context, prefix string) error {
	if s.lake.Sealed == "" {
		return nil
	}
	return diag.Errorf(diag.KindPermission, "memory.sealed", "", "No object can be written below %s: %s", prefix, s.lake.Sealed).Err()
}

func (s *session) ListObjects(_ context.Context, prefix, startAfter string) ([]string, error) {
	s.lake.mu.Lock()
	defer s.lake.mu.Unlock()
	var out []string
	for _, key := range slices.Sorted(maps.Keys(s.lake.objects)) {
		if strings.HasPrefix(key, prefix) && key > startAfter {
			out = append(out, key)
		}
	}
	return out, nil
}

func (s *session) DeleteObject(_ context.Context, key string) error {
	s.lake.mu.Lock()
	defer s.lake.mu.Unlock()
	delete(s.lake.objects, key)
	return nil
}
