// Package built builds programs of this repository for tests that start them.
// It knows no program and no plugin: callers name folders.
package built

import (
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
)

// Program builds the command of a folder into a file, without what only a
// debugger reads, which halves the time of the linker. The folder may be a
// module of its own.
//
// Go's test cache knows of the files that a test opened, not of those that a
// compiler opened for it (go help test): it would answer "ok (cached)" whatever
// had been changed in the program. So the folders of all its packages that are
// not in the module cache are read here, too, as are go.mod and go.sum.
func Program(folder, to string) error {
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", to, ".")
	cmd.Dir, cmd.Env = folder, environ()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %w\n%s", folder, err, out)
	}
	sources, err := Sources(folder)
	if err != nil {
		return err
	}
	for _, dir := range sources {
		if _, err := os.ReadDir(dir); err != nil {
			return fmt.Errorf("reading the sources of %s: %w", folder, err)
		}
	}
	return nil
}

// Sources are the folders of the packages that a command is made of, those of
// its own module and of modules that are replaced by folders, and of the
// module itself.
func Sources(folder string) ([]string, error) {
	const own = `{{with .Module}}{{if or .Main .Replace}}{{$.Dir}}{{"\n"}}{{.Dir}}{{end}}{{end}}`
	cmd := exec.Command("go", "list", "-deps", "-f", own, ".")
	cmd.Dir, cmd.Env = folder, environ()
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("listing the packages of %s: %w\n%s", folder, err, problems.String())
	}
	dirs := strings.Split(strings.TrimSpace(string(out)), "\n")
	slices.Sort(dirs)
	return slices.Compact(dirs), nil
}

// environ is what a program is built under: without cgo under the race detector,
// which needs cgo for itself, so that it is the one that `make build` compiled.
func environ() []string {
	info, _ := debug.ReadBuildInfo()
	if info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		return append(os.Environ(), "CGO_ENABLED=0")
	}
	return os.Environ()
}
