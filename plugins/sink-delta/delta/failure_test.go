package delta

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/plugins/sink-delta/deltatable"
)

// A failure tells what a person can do about it, by what the call was about.
func TestWhatAFailureMeans(t *testing.T) {
	t.Parallel()
	written := func(err error) error {
		return fmt.Errorf("put: %w", &fs.PathError{Op: "write", Path: "part", Err: err})
	}
	for name, c := range map[string]struct {
		doing string
		err   error
		kind  diag.Kind
		code  string
		says  string
	}{
		"a full disk":                    {"writing", written(syscall.ENOSPC), diag.KindUnavailable, "delta.disk_full", "Make room"},
		"a file that is too big":         {"writing", written(syscall.EFBIG), diag.KindUnavailable, "delta.disk_full", "ulimit -f"},
		"a disk that breaks, at a write": {"writing", written(syscall.EIO), diag.KindUnavailable, "delta.disk_error", "nothing was written in part"},
		"a disk that breaks, at a read":  {"reading", written(syscall.EIO), diag.KindUnavailable, "delta.disk_error", "look at the mount"},
		"a write that broke":             {"writing", errors.New("odd"), diag.KindInternal, "delta.failed", "Nothing of this call is in the table"},
		"a file that was cut":            {"reading", fmt.Errorf("scan: %w", deltatable.ErrDamaged), diag.KindInternal, "delta.corrupt", "Restore the file"},
		"a read that broke":              {"reading", errors.New("odd"), diag.KindInternal, "delta.failed", "Nothing was changed"},
	} {
		kind, code, detail := classify(c.doing, c.err)
		if kind != c.kind || code != c.code || !strings.Contains(detail, c.says) {
			t.Errorf("%s: %s %s %q", name, kind, code, detail)
		}
	}
}
