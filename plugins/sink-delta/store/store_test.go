package store

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

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
