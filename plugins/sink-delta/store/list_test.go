package store_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// A listing of a folder, which reads names and looks at few of them, gives what one of a map of paths gives.
func TestListingsOfFoldersAndOfMemoryAreTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		local, err := store.NewLocal(tempDir(t))
		if err != nil {
			t.Fatal(err)
		}
		memory := store.NewMemory(nil)
		element := rapid.SampledFrom([]string{"a", "a0", "a-", "aa", "b", "_log", ".x", "0001", "0002"})
		path := rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(element, 1, 3).Draw(t, "elements"), "/")
		})
		var paths []string
		for _, p := range rapid.SliceOfN(path, 0, 10).Draw(t, "paths") {
			// A file stands where no folder is, and the other way round.
			if !slices.ContainsFunc(paths, func(q string) bool { return strings.HasPrefix(p+"/", q+"/") || strings.HasPrefix(q+"/", p+"/") }) {
				paths = append(paths, p)
			}
		}
		for _, p := range paths {
			for _, s := range []store.Store{local, memory} {
				if err := s.Put(t.Context(), p, []byte(p)); err != nil {
					t.Fatal(err)
				}
			}
		}
		some := rapid.OneOf(rapid.Just(""), path, rapid.Map(path, func(p string) string { return p + "/" }), rapid.Map(path, func(p string) string { return p[:len(p)-1] }))
		prefix, after := some.Draw(t, "prefix"), some.Draw(t, "after")
		want := listed(t, memory, prefix, after)
		if got := listed(t, local, prefix, after); !slices.Equal(got, want) {
			t.Errorf("prefix %q behind %q of %q:\n%q, not\n%q", prefix, after, paths, got, want)
		}
	})
}

func listed(t *rapid.T, s store.Store, prefix, after string) (out []string) {
	for info, err := range s.List(t.Context(), prefix, after) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, info.Path)
	}
	return out
}

func tempDir(t *rapid.T) string {
	dir, err := os.MkdirTemp("", "list-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
