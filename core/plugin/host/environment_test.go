package host_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin/host"
)

// A folder for temporary files that cannot be used is told once, by the name of
// the variable, however many plugins there are. The test sets the environment,
// so it runs alone.
func TestTheTemporaryFolderIsToldOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("NOT TESTED HERE: a TMPDIR that cannot be used; Windows finds another folder")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"/nonexistent", file} {
		t.Setenv("TMPDIR", dir)
		h := host.New(quick())
		_, err := h.Start(t.Context(), []host.Spec{{Name: "a", Source: "test/odd"}, {Name: "b", Source: "test/odd"}})
		h.Stop()
		list := diag.FromError(err)
		if len(list) != 1 || list[0].Code != "plugin.temporary" || list[0].Kind != diag.KindUnavailable || !strings.Contains(list[0].Summary, "(TMPDIR), "+dir+", ") {
			t.Errorf("%s: %+v", dir, list)
		}
	}
}
