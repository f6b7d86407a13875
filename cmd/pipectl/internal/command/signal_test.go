package command

import (
	"bytes"
	"os"
	"syscall"
	"testing"

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
