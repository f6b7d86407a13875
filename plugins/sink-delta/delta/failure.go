package delta

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"syscall"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
	"github.com/pipectl/pipectl/plugins/sink-delta/deltatable"
	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// creating is what is done to a table that is not there.
const creating = "creating"

// failed turns an error of the libraries into a diagnostic that says which
// table, and what to do. What breaks because the table was removed meanwhile is
// not told by what broke first; one that is being created is not there yet.
func (s *session) failed(ctx context.Context, ref plugin.TableRef, doing string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var carried *diag.Err
	if errors.As(err, &carried) {
		return err
	}
	if doing != creating && (errors.Is(err, deltalog.ErrNotTable) || s.gone(ctx, ref, err)) {
		s.forget(ref)
		return s.absent(ref)
	}
	kind, code, detail := classify(doing, err)
	summary := fmt.Sprintf("%s table %s in %s: %v", capital(doing), ref.Name, s.settings.root, err)
	if code == codeDiskFull {
		summary = fmt.Sprintf("No room for table %s in %s: %s", ref.Name, s.settings.root, disk(err))
	}
	d := diag.Errorf(kind, code, detail, "%s", summary)
	d.Data = map[string]string{"table": ref.Name}
	return d.Err()
}

// codeDiskFull is told by where the room is missing, not by all that was under
// way.
const codeDiskFull = "delta.disk_full"

// codeDiskError is of a disk, or a mount, that does not do what it is asked.
const codeDiskError = "delta.disk_error"

// disk is what the system said of which file.
func disk(err error) error {
	var said *fs.PathError
	if errors.As(err, &said) {
		return fmt.Errorf("%s: %w", said.Path, said.Err)
	}
	return err
}

// classify is what an error means for a call that did something to a table.
func classify(doing string, err error) (kind diag.Kind, code, detail string) {
	var name *deltatable.NameError
	switch {
	case errors.Is(err, deltalog.ErrConflict):
		return diag.KindConflict, "delta.conflict", "Another writer was faster. Nothing is lost; the next try starts from its version."
	case errors.Is(err, deltalog.ErrCommitUnknown):
		return diag.KindTransient, "delta.commit_unknown", "The answer to the commit was lost. The next try finds out whether it is there."
	case errors.Is(err, deltatable.ErrReplaced):
		return diag.KindStale, "delta.replaced", "It was dropped and made again, or put back. Begin again: a plan, an apply and a run each go by what is there then."
	case errors.Is(err, deltalog.ErrUnsupported):
		return diag.KindUnsupported, "delta.unsupported", "Another program raised what the table demands. Use a newer pipectl that knows it, take it back with the program that raised it, or give the block another target."
	case errors.Is(err, deltalog.ErrAppendOnly):
		return diag.KindUnsupported, "delta.append_only", "Remove the table property delta.appendOnly, or leave the table to appends."
	case errors.As(err, &name):
		return diag.KindSchemaChanged, "delta.column_name", fmt.Sprintf("To go on without it, add to the table block: exclude = [%s]. %s A table that is made anew with such a column gets column mapping.",
			quoted(name.Columns), plugin.LoadAnew)
	case errors.Is(err, deltatable.ErrSchema):
		return diag.KindSchemaChanged, "delta.schema", "Give the block, and what follows it, another target: those tables are then built with the new type. A type that only widens is taken by a table with the property delta.enableTypeWidening, which some readers refuse."
	case errors.Is(err, deltatable.ErrDuplicateKey):
		return diag.KindConfiguration, "delta.duplicate_key", "The key columns do not identify a row. Name others in the table block."
	case errors.Is(err, deltalog.ErrVersionNotFound):
		return diag.KindStale, "delta.no_version", "Old versions go with cleanup of the log. Take a newer one."
	case errors.Is(err, deltalog.ErrCorrupt):
		return diag.KindInternal, "delta.corrupt", "The table's log is damaged. Restore the file that the message names, or read an older version."
	case errors.Is(err, deltatable.ErrDamaged):
		return diag.KindInternal, "delta.corrupt", "Restore the file that the message names, or restore the table to a version without it. Nothing was changed."
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return diag.KindUnavailable, codeDiskFull, "Make room, then run again: it goes on from what is there, and nothing was written in part."
	case errors.Is(err, syscall.EFBIG):
		return diag.KindUnavailable, codeDiskFull, "The system takes no file of that size: the limit of the user (ulimit -f), or of the file system. Raise it, then run again: it goes on from what is there, and nothing was written in part."
	case errors.Is(err, syscall.EIO):
		return diag.KindUnavailable, codeDiskError, "The disk, or the server behind the mount, did not do it: look at the mount and into the system's log. Once it is well, run again: it goes on from what is there, and nothing was written in part."
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return diag.KindPermission, "delta.not_writable", "Give the user that runs pipectl the right to read and write the lake's folder."
	case errors.Is(err, fs.ErrNotExist):
		return diag.KindInternal, "delta.file_gone", "A file that the table's log names is gone: restore it, or restore the table to a version without it."
	}
	if strings.HasPrefix(doing, reading) {
		return diag.KindInternal, codeFailed, "Nothing was changed."
	}
	return diag.KindInternal, codeFailed, "Nothing of this call is in the table."
}

// reading begins what calls do that only read.
const reading = "reading"

// codeFailed is of what none of the other codes tells.
const codeFailed = "delta.failed"

// quoted is a list of names as a configuration holds them.
func quoted(names []string) string {
	var out []string
	for _, n := range names {
		out = append(out, strconv.Quote(n))
	}
	return strings.Join(out, ", ")
}

func unreachable(root string, err error) error {
	kind, code := diag.KindUnavailable, "delta.unreachable"
	if errors.Is(err, fs.ErrPermission) {
		kind, code = diag.KindPermission, "delta.not_writable"
	}
	return diag.Errorf(kind, code, "Check root in the sink block and the rights on that folder.", "The lake %s cannot be opened: %v", root, err).At("root").Err()
}

// notWritable says why nothing can be written to a lake.
func notWritable(root string, err error) error {
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, store.ErrNotFolder):
		return diag.Errorf(diag.KindUnavailable, "delta.root", "Move that file away, or give the sink another root.", "The lake %s cannot be written: %v", root, err).At("root").Err()
	case errors.Is(err, store.ErrPermission):
		return diag.Errorf(diag.KindPermission, "delta.not_writable", "Give the user that runs pipectl the right to read and write the lake's folder, or give the sink another root.", "The lake %s cannot be written: %v", root, err).At("root").Err()
	}
	return unreachable(root, err)
}

func capital(doing string) string {
	if doing == "" {
		return doing
	}
	return fmt.Sprintf("%c%s", doing[0]-'a'+'A', doing[1:])
}
