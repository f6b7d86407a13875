package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// stores are the implementations that must behave alike.
func stores(t *testing.T) map[string]Store {
	local, err := NewLocal(filepath.Join(t.TempDir(), "not", "there", "yet"))
	if err != nil {
		t.Fatal(err)
	}
	noLinks, err := NewLocal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	noLinks.link = func(string, string) error { return syscall.EPERM }
	all := map[string]Store{"memory": NewMemory(nil), "local": local, "faulty without faults": NewFaulty(NewMemory(nil))}
	probe := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(probe, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := renameNoReplace(probe, probe+"b"); err == nil {
		all["local without links"] = noLinks
	}
	return all
}

func paths(t *testing.T, s Store, prefix, after string) []string {
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

func TestStoresBehaveAlike(t *testing.T) {
	t.Parallel()
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			if got := paths(t, s, "", ""); got != nil {
				t.Errorf("an empty store lists %q", got)
			}
			if _, err := s.Get(ctx, "a/b"); !errors.Is(err, ErrNotExist) || !strings.Contains(err.Error(), "a/b") {
				t.Errorf("get of nothing: %v", err)
			}
			if _, err := s.Head(ctx, "a/b"); !errors.Is(err, ErrNotExist) {
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
			if err := s.PutIfAbsent(ctx, "a/b", []byte("other")); !errors.Is(err, ErrExist) {
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
			if _, err := s.Get(ctx, "a/b"); !errors.Is(err, ErrNotExist) {
				t.Errorf("get after delete: %v", err)
			}
			for _, bad := range []string{"", "/a", "a/", "a//b", "../a", "a/./b", "a\x00"} {
				if err := s.Put(ctx, bad, nil); !errors.Is(err, ErrInvalidPath) || !Permanent(err) {
					t.Errorf("path %q: %v", bad, err)
				}
			}
			cancelled, cancel := context.WithCancel(ctx)
			cancel()
			if err := s.PutIfAbsent(cancelled, "c", nil); !errors.Is(err, context.Canceled) {
				t.Errorf("a cancelled put: %v", err)
			}
		})
	}
}

func TestListIsSortedByPathBytes(t *testing.T) {
	t.Parallel()
	all := []string{"a-b", "a.b", "a/b/c", "a/b.c", "a/d", "a0", "b", "b!/x", "é"}
	slices.Sort(all)
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
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
		})
	}
}

func TestOneWinnerForEachName(t *testing.T) {
	t.Parallel()
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
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
						case !errors.Is(err, ErrExist):
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
		})
	}
}

func TestStreamsShowWhenTheyAreClosed(t *testing.T) {
	t.Parallel()
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			w, err := Create(ctx, s, "data/x")
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
			dropped, err := Create(ctx, s, "data/y")
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
			r, err := Open(ctx, s, "data/x")
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
			if _, err := Open(ctx, s, "data/z"); !errors.Is(err, ErrNotExist) {
				t.Errorf("open of nothing: %v", err)
			}
		})
	}
}

func TestLocalRefusesAFileSystemWithoutAtomicCreate(t *testing.T) {
	t.Parallel()
	l, err := NewLocal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l.link = func(string, string) error { return syscall.EPERM }
	l.rename = func(string, string) error { return syscall.EINVAL }
	err = l.PutIfAbsent(t.Context(), "a/b", []byte("x"))
	if !errors.Is(err, ErrUnsupported) || !Permanent(err) || !strings.Contains(err.Error(), "hard links") {
		t.Errorf("%v", err)
	}
	if got := paths(t, l, "", ""); got != nil {
		t.Errorf("left behind: %q", got)
	}
}

func TestLocalErrorsHaveTheirKind(t *testing.T) {
	t.Parallel()
	for errno, want := range map[error]error{
		syscall.ENOSPC: ErrNoSpace, syscall.EDQUOT: ErrNoSpace, syscall.EROFS: ErrPermission, syscall.EACCES: ErrPermission,
		syscall.ENOENT: ErrNotExist, syscall.ENOTDIR: ErrNotExist, syscall.EEXIST: ErrExist,
	} {
		if err := classify(&os.PathError{Op: "open", Path: "x", Err: errno}); !errors.Is(err, want) {
			t.Errorf("%v is not %v", err, want)
		}
	}
	l, err := NewLocal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Put(t.Context(), "a", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Get(t.Context(), "a/b"); !errors.Is(err, ErrNotExist) {
		t.Errorf("below a file: %v", err)
	}
	if err := l.Put(t.Context(), "a/b", nil); !errors.Is(err, ErrNotFolder) {
		t.Errorf("below a file: %v", err)
	}
}

func TestLocalSweepsWhatDeadWritersLeft(t *testing.T) {
	t.Parallel()
	l, err := NewLocal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w, err := l.Create(t.Context(), "t/x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("half")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		folder string
		before time.Time
		want   int
	}{
		{"t", time.Now().Add(-time.Hour), 0},    // young
		{"other", time.Now().Add(time.Hour), 0}, // not there
		{"t/x", time.Now().Add(time.Hour), 0},
	} {
		if n, err := l.Sweep(t.Context(), c.folder, c.before); n != c.want || err != nil {
			t.Errorf("%s: %d, %v, want %d", c.folder, n, err, c.want)
		}
	}
	if runtime.GOOS == "linux" { // of which it is known that the kernel tells
		if n, err := l.Sweep(t.Context(), "t", time.Now().Add(time.Hour)); n != 0 || err != nil {
			t.Errorf("the file of a living writer is swept: %d, %v", n, err)
		}
	}
	w.(*localWriter).file.Close() // as the kernel does when the process dies
	if n, err := l.Sweep(t.Context(), "t", time.Now().Add(time.Hour)); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if err := w.Close(); err == nil {
		t.Error("a writer whose file is gone closes well")
	}
}

// A write that fails leaves nothing, also when nobody aborts it: on a disk that is
// full each attempt would take more of what room there is.
func TestALocalWriteThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	l, err := NewLocal(root)
	if err != nil {
		t.Fatal(err)
	}
	w, err := l.create(t.Context(), "write", "t/x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("half")); err != nil {
		t.Fatal(err)
	}
	w.file.Close() // the kernel refuses the next write
	if _, err := w.Write([]byte("the rest")); err == nil {
		t.Fatal("written to a closed file")
	}
	if err := w.Close(); err == nil {
		t.Error("a write that failed closes well")
	}
	if left, err := os.ReadDir(filepath.Join(root, "t")); err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
}

func TestFaultsHappenWhereTheyAreAsked(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	mem := NewMemory(nil)
	f := NewFaulty(mem,
		Fault{Op: OpPut, Path: "a", Nth: 2, Effect: Fail},
		Fault{Op: OpPutIfAbsent, Path: "amb", Effect: Ambiguous, Err: ErrNoSpace},
		Fault{Op: OpDelete, Effect: KillAfter})
	if err := f.Put(ctx, "a1", nil); err != nil {
		t.Error(err)
	}
	if err := f.Put(ctx, "a2", nil); !errors.Is(err, ErrInjected) {
		t.Error(err)
	}
	if err := f.Put(ctx, "a3", nil); err != nil {
		t.Error(err)
	}
	if err := f.PutIfAbsent(ctx, "amb", nil); !errors.Is(err, ErrNoSpace) {
		t.Error(err)
	}
	if err := f.Delete(ctx, "a1"); !errors.Is(err, ErrKilled) {
		t.Error(err)
	}
	if _, err := f.Get(ctx, "a3"); !errors.Is(err, ErrKilled) {
		t.Error(err)
	}
	for _, err := range f.List(ctx, "", "") {
		if !errors.Is(err, ErrKilled) {
			t.Error(err)
		}
	}
	if got := paths(t, mem, "", ""); !slices.Equal(got, []string{"a3", "amb"}) {
		t.Errorf("%q", got)
	}
	if n := len(f.Calls()); n != 7 {
		t.Errorf("%d calls: %v", n, f.Calls())
	}
}

func TestLocationsBecomeStores(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, location := range []string{dir, "file://" + filepath.ToSlash(dir), "file:" + filepath.ToSlash(dir)} {
		s, err := LocalSchemes().Open(t.Context(), location)
		if err != nil {
			t.Errorf("%s: %v", location, err)
			continue
		}
		if l := s.(*Local); l.Root() != dir {
			t.Errorf("%s: %s", location, l.Root())
		}
	}
	for location, want := range map[string]string{
		"": "empty", "s3://bucket/lake": `scheme "s3"`, "file://host/lake": "host", "s3:lake": "scheme:///path",
	} {
		if _, err := LocalSchemes().Open(t.Context(), location); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", location, err)
		}
	}
	s, err := LocalSchemes().Open(t.Context(), "relative/folder")
	if err != nil || !filepath.IsAbs(s.(*Local).Root()) {
		t.Errorf("%v, %v", s, err)
	}
}
