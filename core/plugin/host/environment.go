package host

import (
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin/wire"
)

// passed lists the variables of the host's environment that every plugin sees:
// where programs and temporary files are, language and time zone, proxies and
// certificates, where profiles go, and how much memory a Go program takes (Go:
// package runtime, Environment Variables). Everything else, secrets above all, stays with the host.
func passed() []string {
	names := []string{
		"PATH", "HOME", "TMPDIR", "LANG", "TZ",
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
		"SSL_CERT_FILE", "SSL_CERT_DIR", wire.ProfileVariable, "GOGC", "GOMEMLIMIT",
	}
	if runtime.GOOS == "windows" {
		// A Windows process does not start, or has no network, without these.
		names = append(names, "SystemRoot", "SystemDrive", "ComSpec", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "ProgramData")
	}
	return names
}

// environment picks the variables that a plugin sees.
func environment(all, passEnv []string) []string {
	names := append(passed(), passEnv...)
	var out []string
	for _, entry := range all {
		name, _, ok := strings.Cut(entry, "=")
		if ok && name != "" && slices.ContainsFunc(names, func(pattern string) bool { return matchesName(pattern, name) }) {
			out = append(out, entry)
		}
	}
	return out
}

func matchesName(pattern, name string) bool {
	if runtime.GOOS == "windows" {
		pattern, name = strings.ToUpper(pattern), strings.ToUpper(name)
	}
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, prefix)
	}
	return pattern == name
}

// checkTempDir makes a folder in the system's one for temporary files, and
// removes it: without one no plugin has a socket, nor room for what does not fit
// into memory.
func checkTempDir() error {
	dir := os.TempDir()
	made, err := os.MkdirTemp(dir, "pipectl-")
	if err == nil {
		return os.Remove(made)
	}
	var at *os.PathError // which names the folder that was to be made
	if errors.As(err, &at) {
		err = at.Err
	}
	variable := "TMPDIR"
	if runtime.GOOS == "windows" {
		variable = "TMP"
	}
	return diag.Errorf(diag.KindUnavailable, "plugin.temporary",
		"Let the environment variable "+variable+" name a folder that exists and that this user may write.",
		"The folder for temporary files (%s), %s, cannot be used: %v", variable, dir, err).Err()
}

// maxTempDir leaves room for go-plugin's folder and file names: the path of a
// unix socket holds about 100 bytes.
const maxTempDir = 48

// socketParent is the folder under which the private folder (0700) of a
// plugin's sockets is made: the system's temporary folder, never the lake.
func socketParent() string {
	dir := os.TempDir()
	if len(dir) > maxTempDir && runtime.GOOS != "windows" {
		return "/tmp"
	}
	return dir
}
