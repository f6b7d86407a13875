package command

import (
	"bytes"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pipectl/pipectl/cmd/pipectl/internal/exit"
	"github.com/pipectl/pipectl/cmd/pipectl/internal/view"
)

// refusing is a writer that takes nothing.
type refusing struct{ err error }

func (r refusing) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "/dev/stdout", Err: r.err}
}

// An answer that was not written is no success; a reader of a pipe that has seen
// enough is no failure. A failure keeps its code.
func TestAnAnswerThatCannotBeWrittenIsNoSuccess(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		line string
		err  error
		code int
		says string
	}{
		"a full disk":                     {"version", syscall.ENOSPC, exit.Failed, "Error: Standard output could not be written: no space left on device "},
		"a full disk for help":            {"help", syscall.ENOSPC, exit.Failed, "Error: Standard output could not be written: no space left on device "},
		"a full disk for help of a flag":  {"run -h", syscall.ENOSPC, exit.Failed, "Error: Standard output could not be written: no space left on device "},
		"a full disk for a wrong command": {"nope -json", syscall.ENOSPC, exit.Configuration, "Error: Standard output could not be written: no space left on device "},
		"a reader that went away":         {"version", syscall.EPIPE, exit.Done, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var stderr bytes.Buffer
			e := &Environment{Streams: &view.Streams{Out: refusing{c.err}, Err: &stderr}, Clock: time.Now, Lookup: func(string) (string, bool) { return "", false }}
			code := Main(t.Context(), e, strings.Fields(c.line))
			if code != c.code || !strings.HasPrefix(stderr.String(), c.says) || c.says == "" && stderr.Len() > 0 {
				t.Errorf("%d, %q", code, stderr.String())
			}
		})
	}
}
