package command

import (
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pipectl/pipectl/core/state"
)

// A process that was killed keeps its number until its parent asks how it ended,
// which may be never: it holds no lock all the same.
func TestAProcessThatHasEndedIsGone(t *testing.T) {
	t.Parallel()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command("cat")
	end, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	holder := state.Holder{Host: host, PID: child.Process.Pid}
	if processGone(holder) {
		t.Error("it lives")
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for err = unix.EINTR; err == unix.EINTR; {
		err = unix.Waitid(unix.P_PID, holder.PID, nil, unix.WEXITED|unix.WNOWAIT, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	if !processGone(holder) {
		t.Error("it was killed, and nobody has waited for it")
	}
	if elsewhere := (state.Holder{Host: host + "-2", PID: holder.PID}); processGone(elsewhere) {
		t.Error("another machine's")
	}
	end.Close()
	child.Wait() //nolint:errcheck // it was killed
	if !processGone(holder) {
		t.Error("it was waited for")
	}
}
