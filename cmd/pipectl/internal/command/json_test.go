package command

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pipectl/pipectl/cmd/pipectl/internal/exit"
	"github.com/pipectl/pipectl/cmd/pipectl/internal/view"
)

// A command that fails with -json writes JSON alone, to standard output: a
// configuration that is not there, and a line that cannot be understood.
func TestACommandThatFailsWritesJSONAlone(t *testing.T) {
	t.Parallel()
	none := filepath.Join(t.TempDir(), "none.hcl")
	for name, args := range map[string][]string{
		"validate": {}, "plan": {}, "apply": {"-yes"}, "run": {}, "check": {}, "status": {}, "graph": {},
		"final": {"-until", "2026-01-01T00:00:00Z", "silver.orders"}, "show": {"stream.orders"}, "tail": {"stream.orders"},
		"plugins": {"list"}, "unlock": {"bronze.orders"}, "table": {"rows"},
	} {
		for _, more := range [][]string{{none}, {none, none, none}, {"-nope"}} {
			line := append(append([]string{name, "-json"}, args...), more...)
			var out, err bytes.Buffer
			e := &Environment{Streams: &view.Streams{Out: &out, Err: &err}, Clock: time.Now, Lookup: func(string) (string, bool) { return "", false }}
			if code := Main(t.Context(), e, line); code == exit.Done || err.Len() > 0 {
				t.Errorf("%q: %d, %s%s", line, code, err.String(), out.String())
			}
			lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
			var last struct {
				Type  string
				Valid *bool
			}
			for _, l := range lines {
				if json.Unmarshal([]byte(l), &last) != nil {
					t.Errorf("%q: no JSON: %s", line, l)
				}
			}
			if want := map[bool]string{true: "finished", false: "diagnostic"}[name == "apply" || name == "run" || name == "check"]; last.Type != want && last.Valid == nil {
				t.Errorf("%q ends with %s", line, lines[len(lines)-1])
			}
		}
	}
}
