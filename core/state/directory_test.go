package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/internal/unprivileged"
)

// What the system says of the folder of a state has a kind of its own, and a
// remedy that fits it.
func TestWhatTheSystemSaysOfTheFolderIsToldByItsKind(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err    error
		kind   diag.Kind
		remedy string
	}{
		{syscall.EIO, diag.KindUnavailable, "look at the mount"},
		{syscall.ENOSPC, diag.KindUnavailable, "Make room"},
		{syscall.EDQUOT, diag.KindUnavailable, "Make room"},
		{syscall.EACCES, diag.KindPermission, "Give the user"},
		{syscall.EROFS, diag.KindPermission, "Give the user"},
		{syscall.ENOTDIR, diag.KindConfiguration, "Name a folder"},
	} {
		err := unusable("reading", fmt.Errorf("once more: %w", &fs.PathError{Op: "read", Path: "/mnt/state/shop/format.json", Err: c.err}))
		list := diag.FromError(err)
		if len(list) != 1 || list[0].Kind != c.kind || list[0].Code != CodePath || !strings.Contains(list[0].Detail, c.remedy) ||
			!strings.Contains(list[0].Summary, "/mnt/state/shop/format.json: "+c.err.Error()) {
			t.Errorf("%v: %+v", c.err, list)
		}
	}
}

// That a state could not be written is found without a write.
func TestProbeTellsWhatStandsInTheWay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		make func(dir string) error
		want diag.Kind // "" = nothing stands in the way
	}{
		"nothing yet": {make: func(string) error { return nil }},
		"a folder":    {make: func(dir string) error { return os.MkdirAll(filepath.Join(dir, "state/shop/locks"), 0o755) }},
		"a file":      {make: func(dir string) error { return os.WriteFile(filepath.Join(dir, "state"), nil, 0o644) }, want: diag.KindConfiguration},
		"a file for the locks": {make: func(dir string) error {
			return errors.Join(os.MkdirAll(filepath.Join(dir, "state/shop"), 0o755), os.WriteFile(filepath.Join(dir, "state/shop/locks"), nil, 0o644))
		}, want: diag.KindConfiguration},
		"a link to nowhere": {make: func(dir string) error { return os.Symlink("nowhere", filepath.Join(dir, "state")) }, want: diag.KindConfiguration},
		"a folder to read only": {make: func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, "state"), 0o755), os.Mkdir(filepath.Join(dir, "state/shop"), 0o555))
		}, want: diag.KindPermission},
		"no folder, in such one": {make: func(dir string) error { return os.Mkdir(filepath.Join(dir, "state"), 0o555) }, want: diag.KindPermission},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := &Store{objects: InDirectory(filepath.Join(dir, "state")), root: "shop/"}
			var unmade error
			probe := func() error {
				if unmade = c.make(dir); unmade != nil {
					return nil
				}
				return s.Probe(t.Context())
			}
			var err error
			if c.want == diag.KindPermission {
				err = unprivileged.Do(t, dir, probe)
			} else {
				err = probe()
			}
			if unmade != nil && runtime.GOOS == "windows" {
				t.Skipf("NOT TESTED HERE: Windows makes links for administrators alone: %v", unmade)
			}
			if unmade != nil {
				t.Fatal(unmade)
			}
			if list := diag.FromError(err); (err != nil) != (c.want != "") || err != nil && (list[0].Kind != c.want || list[0].Code != CodePath) {
				t.Errorf("%v", err)
			}
		})
	}
}
