package built

import (
	"path/filepath"
	"slices"
	"testing"
)

// What a program is made of is found also where it is a module of its own that
// takes packages from a folder.
func TestSourcesAreAllFoldersOfTheRepository(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string][]string{
		"cmd/pipectl":              {"", "cmd/pipectl", "core/planner", "dsl", "plugins/silver/silver", "plugins/source-mssql/mssql"},
		"examples/plugins/counter": {"", "examples/plugins/counter", "core/sdk", "core/plugin/rows"},
	} {
		got, err := Sources(filepath.Join(root, folder))
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range want {
			if !slices.Contains(got, filepath.Join(root, dir)) {
				t.Errorf("%s: %q is not among %q", folder, dir, got)
			}
		}
	}
}
