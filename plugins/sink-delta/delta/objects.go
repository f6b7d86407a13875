package delta

import (
	"context"
	"errors"
	"strings"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// PutObject writes a small object beside the tables.
func (s *session) PutObject(ctx context.Context, obj plugin.Object, onlyIfAbsent bool) error {
	st, err := s.lake(ctx)
	if err != nil {
		return err
	}
	if !onlyIfAbsent {
		return s.object(obj.Key, "writing", st.Put(ctx, obj.Key, obj.Data))
	}
	err = st.PutIfAbsent(ctx, obj.Key, obj.Data)
	if errors.Is(err, store.ErrExist) {
		return diag.Errorf(diag.KindConflict, "delta.object_exists", "", "The object %s exists already", obj.Key).Err()
	}
	return s.object(obj.Key, "writing", err)
}

// GetObject reads a small object.
func (s *session) GetObject(ctx context.Context, key string) (plugin.Object, bool, error) {
	st, err := s.lake(ctx)
	if err != nil {
		return plugin.Object{}, false, err
	}
	data, err := st.Get(ctx, key)
	if errors.Is(err, store.ErrNotExist) {
		return plugin.Object{}, false, nil
	}
	if err != nil {
		return plugin.Object{}, false, s.object(key, "reading", err)
	}
	return plugin.Object{Key: key, Data: data}, true, nil
}

// ListObjects lists keys in order.
func (s *session) ListObjects(ctx context.Context, prefix, startAfter string) ([]string, error) {
	st, err := s.lake(ctx)
	if err != nil {
		return nil, err
	}
	var keys []string
	for info, err := range st.List(ctx, prefix, startAfter) {
		if err != nil {
			return nil, s.object(prefix, "listing", err)
		}
		keys = append(keys, info.Path)
	}
	return keys, nil
}

// ProbeObjects finds out, where the store can tell, that no object can be written.
func (s *session) ProbeObjects(ctx context.Context, prefix string) error {
	st, err := s.lake(ctx)
	if err != nil {
		return err
	}
	prober, ok := st.(store.Prober)
	if !ok {
		return nil
	}
	return s.object(prefix, "writing", prober.Probe(ctx, strings.TrimSuffix(prefix, "/")))
}

// DeleteObject removes a small object; one that is not there is removed.
func (s *session) DeleteObject(ctx context.Context, key string) error {
	st, err := s.lake(ctx)
	if err != nil {
		return err
	}
	if err := st.Delete(ctx, key); !errors.Is(err, store.ErrNotExist) {
		return s.object(key, "removing", err)
	}
	return nil
}

// object turns an error of the store into a diagnostic.
func (s *session) object(key, doing string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	kind, code, detail := classify(doing, err)
	switch {
	case code == codeDiskFull:
		return diag.Errorf(kind, code, detail, "No room for %s in %s: %s", key, s.settings.root, disk(err)).Err()
	case errors.Is(err, store.ErrNotFolder):
		return diag.Errorf(diag.KindUnavailable, "delta.object", "Move that file away, or give the sink another root.", "%s %s in %s: %v", capital(doing), key, s.settings.root, err).Err()
	case kind == diag.KindInternal:
		kind, code = diag.KindUnavailable, "delta.object"
		detail = "Check that the lake's folder is there, and whole."
	}
	return diag.Errorf(kind, code, detail, "%s %s in %s: %v", capital(doing), key, s.settings.root, err).Err()
}

func stale(ref plugin.TableRef, why string) error {
	return diag.Errorf(diag.KindStale, "delta.stale", "Begin again: a plan, an apply and a run each go by what is there then.", "Table %s is not the one that this began with: %s", ref.Name, why).Err()
}
