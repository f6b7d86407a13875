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
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/host"
)

// freeze stops the process, as a debugger or a hung disk does. The signal may
// reach another thread first; this one goes nowhere meanwhile.
func freeze() {
	syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	select {}
}

// A plugin that stops answering is found by keepalive, which grpc does not
// send more often than every 10 s, and killed by pid.
func TestAFrozenPluginIsFoundAndKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for keepalive")
	}
	t.Parallel()
	source := openSource(t, startOne(t, quick()), "")
	_, err := source.Start(t.Context(), plugin.StartRequest{Table: orders, From: "freeze"})
	if !diag.Is(err, diag.KindTransient) || !strings.Contains(err.Error(), "stopped answering") {
		t.Fatalf("error %v", err)
	}
	if _, err := source.Start(t.Context(), plugin.StartRequest{Table: orders, From: "earliest"}); err != nil {
		t.Fatalf("after it was killed: %v", err)
	}
}

// Stopping does not wait for a frozen plugin longer than the grace.
func TestAFrozenPluginDoesNotHoldUpTheEnd(t *testing.T) {
	t.Parallel()
	environ, accept := line(t)
	options := quick()
	options.Environ, options.StopGrace = environ, 100*time.Millisecond
	h := host.New(options)
	plugins, err := h.Start(t.Context(), []host.Spec{{Name: "shop", Source: "test/odd", PassEnv: []string{lineVariable}}})
	if err != nil {
		t.Fatal(err)
	}
	said := accept()
	source := openSource(t, plugins["shop"], "")
	pid, err := source.Start(t.Context(), plugin.StartRequest{Table: orders, From: "pid"})
	if err != nil {
		t.Fatal(err)
	}
	var number int
	if _, err := fmt.Sscan(pid.Text, &number); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(number, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	h.Stop()
	if s, err := said.ReadString('\n'); !errors.Is(err, io.EOF) {
		t.Fatalf("the plugin lives: %q, %v", s, err)
	}
}

// runHostForOrphanTest is a host that has one plugin and waits for its end.
func runHostForOrphanTest() {
	h := host.New(host.Options{})
	plugins, err := h.Start(context.Background(), []host.Spec{{Name: "shop", Source: "test/odd", PassEnv: []string{lineVariable}}})
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
	source, err := plugins["shop"].OpenSource(context.Background(), open(""))
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
	fmt.Println("ready")
	// A call under way does not keep the orphan alive.
	source.Start(context.Background(), plugin.StartRequest{Table: orders, From: "hang"})
	select {}
}

// A host killed by SIGKILL tells nobody; the plugin goes with its last
// connection.
func TestAPluginGoesWithItsHost(t *testing.T) {
	t.Parallel()
	environ, accept := line(t)
	cmd := exec.Command(os.Args[0], hostMode)
	cmd.Env = environ()
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if got, err := bufio.NewReader(out).ReadString('\n'); err != nil || got != "ready\n" {
		t.Fatalf("the host said %q, %v", got, err)
	}
	said := accept()
	if got := hear(t, said); got != "hanging" {
		t.Fatalf("heard %q", got)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if got := hear(t, said); got != "cancelled" {
		t.Errorf("heard %q: the call under way was not cancelled", got)
	}
	if s, err := said.ReadString('\n'); !errors.Is(err, io.EOF) {
		t.Fatalf("the plugin lives: %q, %v", s, err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the killed host exited as if nothing were")
	}
}
