//go:build unix

package host_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/host"
)

// script is a plugin of one file whose processes hold a pipe as their fd 3.
type script struct {
	spec host.Spec
	pipe string
	// held is an end for writing that keeps the pipe open until one of them has it.
	held  *os.File
	lines *bufio.Reader
}

func newScript(t *testing.T, body string) *script {
	t.Helper()
	dir := t.TempDir()
	s, file := &script{pipe: filepath.Join(dir, "pipe")}, filepath.Join(dir, "mine")
	if err := syscall.Mkfifo(s.pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	// For reading, too: to open one end alone waits for the other.
	if s.held, err = os.OpenFile(s.pipe, os.O_RDWR, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.held.Close() })
	alive, err := os.Open(s.pipe)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { alive.Close() })
	s.lines = bufio.NewReader(alive)
	if err := os.WriteFile(file, fmt.Appendf(nil, "#!/bin/sh\nexec 3>%s\n%s\n", s.pipe, body), 0o755); err != nil {
		t.Fatal(err)
	}
	digest, err := host.Digest(file)
	if err != nil {
		t.Fatal(err)
	}
	s.spec = host.Spec{Name: "mine", Source: "./mine", Dir: dir, Digest: digest}
	return s
}

// cancelled starts the plugin, and gives that up when it has said a line, which is
// returned.
func (s *script) cancelled(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	h := host.New(quick())
	defer h.Stop()
	ended := make(chan error, 1)
	go func() {
		_, err := h.Start(ctx, []host.Spec{s.spec})
		ended <- err
	}()
	said, err := s.lines.ReadString('\n')
	if err != nil {
		t.Errorf("it said %q, %v", said, err)
	}
	s.held.Close()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	return strings.TrimSpace(said)
}

// A plugin that starts other processes holds nobody up: they hold its pipes, and
// are killed with it.
func TestTheProcessesOfAPluginEndWithIt(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"one waits for another":    "echo started >&3; sleep 1000; true",
		"one goes and leaves some": "sleep 1000 & echo started >&3",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScript(t, body)
			s.cancelled(t)
			if rest, err := io.ReadAll(s.lines); err != nil || len(rest) != 0 {
				t.Errorf("after its end it said %q, %v", rest, err)
			}
		})
	}
}

// A process that left the group of its plugin is not killed, and its hold on the
// plugin's pipes is not waited for.
func TestNobodyWaitsForThePipesOfAPlugin(t *testing.T) {
	t.Parallel()
	setsid, err := exec.LookPath("setsid")
	if err != nil {
		t.Skip("NOT TESTED HERE: a child that leaves its group; there is no setsid")
	}
	s := newScript(t, setsid+" sh -c 'echo $$ >&3; exec sleep 1000' & wait")
	pid, err := strconv.Atoi(s.cancelled(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("it lives no more: %v", err)
	}
}

// A plugin that crashes is told as that, whoever holds its pipes: a child of its
// group, or one that left it.
func TestACrashIsToldThoughAChildHoldsThePipes(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("NOT TESTED HERE: a child that leaves its group; there is no setsid")
	}
	for _, how := range []string{"exit before its child", "exit before a child that left"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			source := openSource(t, startOne(t, quick()), "")
			_, err := source.Start(t.Context(), plugin.StartRequest{Table: orders, From: how})
			list := diag.FromError(err)
			if len(list) != 1 || list[0].Code != "plugin.crashed" || !strings.HasSuffix(list[0].Summary, "ended unexpectedly: exit status 3") ||
				!strings.Contains(list[0].Detail, "gone before its child") {
				t.Errorf("%+v", list)
			}
		})
	}
}
