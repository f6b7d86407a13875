// Package storetest holds the contract that every implementation of store.Store keeps.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// Run tests the contract, each part in an empty store that open makes.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	for name, part := range map[string]func(*testing.T, store.Store){
		"calls": calls, "listing": listing, "one winner for each name": oneWinner, "streams show when they are closed": streams,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			part(t, open(t))
		})
	}
}

func paths(t *testing.T, s store.Store, prefix, after string) []string {
	t.Helper()
	var out []string
	for info, err := range s.List(t.Context(), prefix, after) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, info.Path)
	}
	return out
}

func calls(t *testing.T, s store.Store) {
	ctx := t.Context()
	if got := paths(t, s, "", ""); got != nil {
		t.Errorf("an empty store lists %q", got)
	}
	if _, err := s.Get(ctx, "a/b"); !errors.Is(err, store.ErrNotExist) || !strings.Contains(err.Error(), "a/b") {
		t.Errorf("get of nothing: %v", err)
	}
	if _, err := s.Head(ctx, "a/b"); !errors.Is(err, store.ErrNotExist) {
		t.Errorf("head of nothing: %v", err)
	}
	if err := s.Delete(ctx, "a/b"); err != nil {
		t.Errorf("delete of nothing: %v", err)
	}
	data := []byte("0123456789")
	if err := s.PutIfAbsent(ctx, "a/b", data); err != nil {
		t.Fatal(err)
	}
	data[0] = 'x' // the store keeps its own copy
	if err := s.PutIfAbsent(ctx, "a/b", []byte("other")); !errors.Is(err, store.ErrExist) {
		t.Errorf("a second put if absent: %v", err)
	}
	if got, err := s.Get(ctx, "a/b"); err != nil || string(got) != "0123456789" {
		t.Errorf("%q, %v", got, err)
	}
	for _, c := range []struct {
		off, n int64
		want   string
	}{{0, 3, "012"}, {8, 5, "89"}, {10, 1, ""}, {99, 1, ""}, {3, 0, ""}} {
		if got, err := s.GetRange(ctx, "a/b", c.off, c.n); err != nil || string(got) != c.want {
			t.Errorf("range %d+%d: %q, %v", c.off, c.n, got, err)
		}
	}
	if _, err := s.GetRange(ctx, "a/b", -1, 1); err == nil {
		t.Error("a negative offset is taken")
	}
	if info, err := s.Head(ctx, "a/b"); err != nil || info.Size != 10 || info.Path != "a/b" || info.Modified.IsZero() {
		t.Errorf("%+v, %v", info, err)
	}
	if err := s.Put(ctx, "a/b", []byte("new")); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Get(ctx, "a/b"); err != nil || string(got) != "new" {
		t.Errorf("%q, %v", got, err)
	}
	if err := s.Delete(ctx, "a/b"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(ctx, "a/b"); !errors.Is(err, store.ErrNotExist) {
		t.Errorf("get after delete: %v", err)
	}
	for _, bad := range []string{"", "/a", "a/", "a//b", "../a", "a/./b", "a\x00"} {
		if err := s.Put(ctx, bad, nil); !errors.Is(err, store.ErrInvalidPath) || !store.Permanent(err) {
			t.Errorf("path %q: %v", bad, err)
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if err := s.PutIfAbsent(cancelled, "c", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled put: %v", err)
	}
}

func listing(t *testing.T, s store.Store) {
	all := []string{"a-b", "a.b", "a/b/c", "a/b.c", "a/d", "a0", "b", "b!/x", "é"}
	slices.Sort(all)
	for _, p := range all {
		if err := s.Put(t.Context(), p, []byte(p)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ prefix, after string }{
		{"", ""}, {"a", ""}, {"a/", ""}, {"a/b", ""}, {"a/b/", ""}, {"z", ""}, {"z/y", ""},
		{"", "a/b"}, {"", "a/b/c"}, {"a", "a.b"}, {"a/", "a/b/a"}, {"", "a/zzz"}, {"b", "zz"}, {"", "b"},
	} {
		var want []string
		for _, p := range all {
			if strings.HasPrefix(p, c.prefix) && p > c.after {
				want = append(want, p)
			}
		}
		if got := paths(t, s, c.prefix, c.after); !slices.Equal(got, want) {
			t.Errorf("%+v: %q, want %q", c, got, want)
		}
	}
	n := 0
	for range s.List(t.Context(), "", "") {
		if n++; n == 2 {
			break
		}
	}
}

func oneWinner(t *testing.T, s store.Store) {
	const writers, names = 8, 25
	var mu sync.Mutex
	winners := map[string][]string{}
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := range names {
				path, content := fmt.Sprintf("log/%03d", n), fmt.Sprintf("%d of %d", w, n)
				switch err := s.PutIfAbsent(t.Context(), path, []byte(content)); {
				case err == nil:
					mu.Lock()
					winners[path] = append(winners[path], content)
					mu.Unlock()
				case !errors.Is(err, store.ErrExist):
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for n := range names {
		path := fmt.Sprintf("log/%03d", n)
		got, err := s.Get(t.Context(), path)
		if err != nil || len(winners[path]) != 1 || string(got) != winners[path][0] {
			t.Errorf("%s holds %q (%v), winners %q", path, got, err, winners[path])
		}
	}
	if got := paths(t, s, "", ""); len(got) != names {
		t.Errorf("%d objects: %q", len(got), got)
	}
}

func streams(t *testing.T, s store.Store) {
	ctx := t.Context()
	w, err := store.Create(ctx, s, "data/x")
	if err != nil {
		t.Fatal(err)
	}
	content := bytes.Repeat([]byte("0123456789"), 1000)
	if _, err := io.Copy(w, bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	if got := paths(t, s, "", ""); got != nil {
		t.Errorf("an open stream shows: %q", got)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err == nil {
		t.Error("a second close is taken")
	}
	if err := w.Abort(); err != nil {
		t.Error(err)
	}
	dropped, err := store.Create(ctx, s, "data/y")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dropped.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := dropped.Abort(); err != nil {
		t.Error(err)
	}
	if _, err := dropped.Write(content); err == nil {
		t.Error("a write after abort is taken")
	}
	if got := paths(t, s, "", ""); !slices.Equal(got, []string{"data/x"}) {
		t.Errorf("%q", got)
	}
	r, err := store.Open(ctx, s, "data/x")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Size() != int64(len(content)) {
		t.Errorf("size %d", r.Size())
	}
	p := make([]byte, 4)
	if n, err := r.ReadAt(p, 9); n != 4 || err != nil || string(p) != "9012" {
		t.Errorf("%d %v %q", n, err, p)
	}
	if n, err := r.ReadAt(p, r.Size()-2); n != 2 || err != io.EOF {
		t.Errorf("%d %v", n, err)
	}
	if _, err := r.Seek(-3, io.SeekEnd); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(r); err != nil || string(rest) != "789" {
		t.Errorf("%q %v", rest, err)
	}
	if _, err := store.Open(ctx, s, "data/z"); !errors.Is(err, store.ErrNotExist) {
		t.Errorf("open of nothing: %v", err)
	}
}
