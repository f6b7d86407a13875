package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/pipectl/pipectl/internal/unprivileged"
	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// What stands in the way of a write is found without one.
func TestProbeTellsWhatStandsInTheWay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "writable"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	type row struct {
		name, root, folder string
		want               error
	}
	rows := []row{
		{"an existing root", "writable", "bronze/orders", nil},
		{"a missing root", "writable/a/b", "bronze/orders", nil},
		{"a file as root", "file", "bronze/orders", store.ErrNotFolder},
		{"a root below a file", "file/lake", "bronze/orders", store.ErrNotFolder},
		{"a file in place of the table", ".", "file", store.ErrNotFolder},
	}
	if runtime.GOOS != "windows" {
		if err := os.Symlink("nowhere", filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row{"a link that leads nowhere", "link", "bronze/orders", store.ErrNotFolder})
	}
	if runtime.GOOS == "linux" {
		rows = append(rows, row{"a root in /proc", "/proc/lake", "bronze/orders", store.ErrPermission})
	}
	for _, c := range rows {
		root := c.root
		if !filepath.IsAbs(root) {
			root = filepath.Join(dir, root)
		}
		local, err := store.NewLocal(root)
		if err != nil {
			t.Fatal(err)
		}
		if err := local.Probe(t.Context(), c.folder); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	entries, err := os.ReadDir(filepath.Join(dir, "writable"))
	if err != nil || len(entries) != 0 {
		t.Errorf("%v, %v: something was written", entries, err)
	}
}

// So are rights that are missing. Where they are not, nothing else stands in the way.
func TestProbeTellsOfMissingRights(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	probed := map[string]error{}
	err := unprivileged.Do(t, dir, func() error {
		for name, mode := range map[string]os.FileMode{"writable": 0o755, "readable": 0o555} {
			if err := os.Mkdir(filepath.Join(dir, name), mode); err != nil {
				return err
			}
		}
		for _, root := range []string{"writable", "writable/lake", "readable", "readable/lake"} {
			local, err := store.NewLocal(filepath.Join(dir, root))
			if err != nil {
				return err
			}
			probed[root] = local.Probe(t.Context(), "bronze/orders")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for root, want := range map[string]error{"writable": nil, "writable/lake": nil, "readable": store.ErrPermission, "readable/lake": store.ErrPermission} {
		if got, there := probed[root]; !there || !errors.Is(got, want) {
			t.Errorf("%s: %v, want %v", root, got, want)
		}
	}
}
