package command

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pipectl/pipectl/cmd/pipectl/internal/exit"
	"github.com/pipectl/pipectl/cmd/pipectl/internal/view"
)

// A signal that comes while nothing has been changed ends the command with the
// code of the signal, also when the work was over before it could be cut off.
func TestASignalEndsInterruptibleWork(t *testing.T) {
	t.Parallel()
	for signal, want := range map[os.Signal]int{syscall.SIGTERM: exit.Terminated, os.Interrupt: exit.Interrupted} {
		signals := make(chan os.Signal, 1)
		var out bytes.Buffer
		e := &Environment{Streams: &view.Streams{Out: &out, Err: &out}, Signals: signals}
		ctx, stop := e.interruptible(t.Context())
		if err := e.interruption(); err != nil {
			t.Fatalf("before the signal: %v", err)
		}
		signals <- signal
		<-ctx.Done()
		stop()
		err := e.interruption()
		if err == nil {
			t.Fatalf("%v is forgotten", signal)
		}
		if code := e.fail(err, nil); code != want || out.String() != "Interrupted before anything was changed.\n" {
			t.Errorf("%v: exit %d, %q", signal, code, out.String())
		}
	}
}

// Whoever is asked may also go: a signal at the question ends the command.
func TestASignalEndsTheQuestion(t *testing.T) {
	t.Parallel()
	stdin, writer := io.Pipe() // nobody answers
	defer writer.Close()
	signals := make(chan os.Signal, 1)
	signals <- syscall.SIGTERM
	var out bytes.Buffer
	e := &Environment{Streams: &view.Streams{Out: &out, Err: &out}, Signals: signals, Stdin: stdin, Interactive: true}
	if code, yes := e.confirm(); yes || code != exit.Terminated || !strings.HasSuffix(out.String(), "Interrupted before anything was changed.\n") {
		t.Errorf("exit %d, %v, %q", code, yes, out.String())
	}
}

// A signal that comes before the work begins leaves all of it out, and the last
// event says so; another failure is no cut.
func TestASignalBeforeTheWorkCutsItShort(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		signal os.Signal
		want   string
	}{
		{nil, `"exit":3,"tables":0,"done":0,"failed":0,"skipped":0,"refused":0,"cut_short":false`},
		{os.Interrupt, `"exit":130,"tables":0,"done":0,"failed":0,"skipped":0,"refused":0,"cut_short":true`},
		{syscall.SIGTERM, `"exit":143,"tables":0,"done":0,"failed":0,"skipped":0,"refused":0,"cut_short":true`},
	} {
		for _, command := range eventful {
			var out, logs bytes.Buffer
			e := &Environment{Streams: &view.Streams{Out: &out, Err: &logs}, Clock: time.Now, Lookup: func(string) (string, bool) { return "", false }}
			if c.signal != nil {
				e.interrupted.Store(&c.signal)
			}
			Main(t.Context(), e, []string{command, "-json", filepath.Join(t.TempDir(), "none.hcl")})
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			if last := lines[len(lines)-1]; !strings.Contains(last, `"type":"finished"`) || !strings.Contains(last, c.want) {
				t.Errorf("%s, %v: %s", command, c.signal, out.String())
			}
		}
	}
}
