package host_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/host"
)

// A process that lived long forgets older crashes once: restarts that fail
// leave it the one that ended last, and would otherwise go on without an end.
func TestRestartsThatFailCountAlsoAfterALongLife(t *testing.T) {
	t.Parallel()
	self, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "mine")
	if err := os.WriteFile(file, self, 0o755); err != nil {
		t.Fatal(err)
	}
	digest, err := host.Digest(file)
	if err != nil {
		t.Fatal(err)
	}
	var now atomic.Int64
	options := quick()
	options.Clock = func() time.Time { return time.Unix(now.Load(), 0) }
	h := host.New(options)
	defer h.Stop()
	plugins, err := h.Start(t.Context(), []host.Spec{{Name: "mine", Source: "./mine", Dir: dir, Digest: digest}})
	if err != nil {
		t.Fatal(err)
	}
	source := openSource(t, plugins["mine"], "")
	start := func(from string) error {
		_, err := source.Start(t.Context(), plugin.StartRequest{Table: orders, From: from})
		return err
	}
	now.Add(3600)
	if err := start("exit"); !diag.Is(err, diag.KindTransient) {
		t.Fatalf("error %v", err)
	}
	if err := os.Rename(file, file+".away"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"plugin.absent", "plugin.absent", "plugin.crashes", "plugin.crashes"} {
		err := start("pid")
		if list := diag.FromError(err); len(list) != 1 || list[0].Code != want {
			t.Fatalf("error %v, want %s", err, want)
		}
		if want == "plugin.crashes" && !strings.Contains(err.Error(), "ended unexpectedly or did not start 3 times") {
			t.Errorf("error %v", err)
		}
	}
	if n := plugins["mine"].Restarts(); n != 2 {
		t.Errorf("%d restarts", n)
	}
}

// A caller that gives up while a process starts says nothing of the plugin: the
// restarts are there for those who still want it.
func TestARestartThatItsCallerGaveUpIsNotCounted(t *testing.T) {
	t.Parallel()
	// The environment is asked for when a process is about to start.
	var starting atomic.Pointer[context.CancelFunc]
	options := quick()
	options.Environ = func() []string {
		if cancel := starting.Load(); cancel != nil {
			(*cancel)()
		}
		return os.Environ()
	}
	h := host.New(options)
	defer h.Stop()
	plugins, err := h.Start(t.Context(), []host.Spec{{Name: "odd", Source: "test/odd"}})
	if err != nil {
		t.Fatal(err)
	}
	source := openSource(t, plugins["odd"], "")
	start := func(ctx context.Context, from string) error {
		_, err := source.Start(ctx, plugin.StartRequest{Table: orders, From: from})
		return err
	}
	if err := start(t.Context(), "exit"); !diag.Is(err, diag.KindTransient) {
		t.Fatalf("error %v", err)
	}
	for range len(options.Backoff) + 1 {
		ctx, cancel := context.WithCancel(t.Context())
		starting.Store(&cancel)
		if err := start(ctx, "pid"); !errors.Is(err, context.Canceled) {
			t.Fatalf("error %v", err)
		}
	}
	starting.Store(nil)
	if n := plugins["odd"].Restarts(); n != 0 {
		t.Errorf("%d restarts", n)
	}
	if err := start(t.Context(), "pid"); err != nil {
		t.Error(err)
	}
}

func TestACallAfterTheEndOfTheHostSaysWhatToDo(t *testing.T) {
	t.Parallel()
	h := host.New(quick())
	plugins, err := h.Start(t.Context(), []host.Spec{{Name: "shop", Source: "test/odd"}})
	if err != nil {
		t.Fatal(err)
	}
	h.Stop()
	_, err = plugins["shop"].OpenSource(t.Context(), open(""))
	if list := diag.FromError(err); len(list) != 1 || list[0].Code != "plugin.stopped" || list[0].Detail != "Run again." {
		t.Fatalf("diagnostics %+v", list)
	}
}
