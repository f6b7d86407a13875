package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pipectl/pipectl/core/plugin/wire"
)

// pluginProcess is a running plugin.
type pluginProcess struct {
	pid, parent int
	// plugin is the name it was started as, such as "silver".
	plugin string
	args   []string
}

// pluginProcesses lists the plugins that run in a folder, orphans included: a
// plugin inherits the folder of its host, and keeps it when the host is gone.
func pluginProcesses(dir string) []pluginProcess {
	entries, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil // the pattern is well formed
	}
	var out []pluginProcess
	for _, entry := range entries {
		// What cannot be read has ended meanwhile.
		if cwd, err := os.Readlink(filepath.Join(entry, "cwd")); err != nil || cwd != dir {
			continue
		}
		line, err := os.ReadFile(filepath.Join(entry, "cmdline"))
		if err != nil {
			continue
		}
		args := strings.Split(string(bytes.TrimRight(line, "\x00")), "\x00")
		if len(args) != 3 || args[1] != wire.BundledArgument {
			continue
		}
		stat, err := os.ReadFile(filepath.Join(entry, "stat"))
		if err != nil {
			continue
		}
		// The name in parentheses may hold blanks; state and parent follow it.
		_, rest, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(rest)
		if len(fields) < 2 || fields[0] == "Z" {
			continue
		}
		p := pluginProcess{plugin: strings.TrimPrefix(args[2], "pipectl/"), args: args}
		var errs [2]error
		p.pid, errs[0] = strconv.Atoi(filepath.Base(entry))
		p.parent, errs[1] = strconv.Atoi(fields[1])
		if errors.Join(errs[:]...) == nil {
			out = append(out, p)
		}
	}
	return out
}

// orphan is a process whose end is waited for, although it is nobody's child
// here. Its number cannot be taken by another process.
type orphan struct {
	pluginProcess
	fd int
}

func follow(p pluginProcess) (orphan, error) {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err != nil {
		return orphan{}, fmt.Errorf("following process %d: %w", p.pid, err)
	}
	return orphan{p, fd}, nil
}

// end waits until the process is gone.
func (o orphan) end(t testing.TB) {
	t.Helper()
	defer unix.Close(o.fd)
	for deadline := time.Now().Add(patience); ; {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(o.fd), Events: unix.POLLIN}}, int(time.Until(deadline).Milliseconds()))
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			t.Fatalf("waiting for process %d: %v", o.pid, err)
		case n == 0:
			t.Fatalf("plugin %s (process %d) outlives its host", o.plugin, o.pid)
		default:
			return
		}
	}
}
