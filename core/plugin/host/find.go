package host

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin/wire"
)

// Spec is one declared plugin: an entry of required_plugins.
type Spec struct {
	// Name is the local name in the configuration.
	Name string
	// Source is the name of a bundled plugin ("pipectl/source-mssql"), or the
	// path of a file: "./plugins/mine", relative to Dir.
	Source string
	// Dir is the folder of the configuration.
	Dir string
	// Digest is the sha256 of the file in lower-case hex, as pipectl.lock.hcl
	// pins it; "" when it pins none. Bundled plugins have none.
	Digest string
	// PassEnv names environment variables that the process may see, each
	// exactly or with a trailing *.
	PassEnv []string
}

// bundled reports whether the source names a bundled plugin: a path starts
// with a dot or a slash.
func (s Spec) bundled() bool {
	return !strings.HasPrefix(s.Source, ".") && !filepath.IsAbs(s.Source)
}

// path of a third party's file.
func (s Spec) path() string {
	if filepath.IsAbs(s.Source) {
		return s.Source
	}
	return filepath.Join(s.Dir, filepath.FromSlash(s.Source))
}

// command builds the program of a plugin. A file that is not pinned, or is
// another than the pinned one, is refused.
func (s Spec) command(executable string) (*exec.Cmd, error) {
	if s.bundled() {
		return bundledCommand(executable, s.Source)
	}
	path := s.path()
	have, err := Digest(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, refused(s, "plugin.absent", "Build or copy it there, or correct the path in required_plugins.",
			"The file %s of plugin %q does not exist", path, s.Name)
	case err != nil:
		return nil, refused(s, "plugin.unreadable", "", "The file of plugin %q cannot be read: %v", s.Name, err)
	case s.Digest == "":
		return nil, refused(s, "plugin.unlocked", "A file is run only when pipectl.lock.hcl pins its sha256. `pipectl plugins lock` pins the file as it is now.",
			"Plugin %q (%s) is not pinned", s.Name, path)
	case !strings.EqualFold(s.Digest, have):
		return nil, refused(s, "plugin.digest", "If the file was replaced on purpose, `pipectl plugins lock` pins the new one.",
			"The file %s of plugin %q is not the pinned one: its sha256 is %s, pipectl.lock.hcl says %s", path, s.Name, have, s.Digest)
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("the path of plugin %q: %w", s.Name, err)
	}
	return exec.Command(absolute), nil
}

// bundledCommand starts a program again as one of its plugins. On Linux the
// program is named by /proc/self/exe, which stays right when the file was
// replaced meanwhile, by an upgrade for instance.
func bundledCommand(executable, source string) (*exec.Cmd, error) {
	argument0 := os.Args[0]
	if executable == "" {
		executable = "/proc/self/exe"
		if runtime.GOOS != "linux" {
			var err error
			if executable, err = os.Executable(); err != nil {
				return nil, fmt.Errorf("finding the program itself: %w", err)
			}
		}
	} else {
		argument0 = executable
	}
	cmd := exec.Command(executable)
	cmd.Args = []string{argument0, wire.BundledArgument, source}
	return cmd, nil
}

func refused(s Spec, code, detail, summary string, args ...any) error {
	d := diag.Errorf(diag.KindUnavailable, code, detail, summary, args...)
	d.Path = diag.Path{"required_plugins", s.Name, "source"}
	d.Data = map[string]string{"plugin": s.Name}
	return d.Err()
}

// Digest is the sha256 of a file in lower-case hex.
func Digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
