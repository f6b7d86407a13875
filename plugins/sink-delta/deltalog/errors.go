package deltalog

import (
	"errors"
	"fmt"
	"strings"
)

// Errors that callers decide by, tested with errors.Is.
var (
	// ErrNotTable says that there is no Delta log at the path.
	ErrNotTable = errors.New("not a Delta table")
	// ErrTableExists says that Create found a table.
	ErrTableExists = errors.New("the Delta table exists already")
	// ErrVersionNotFound says that a version does not exist yet, or can no
	// longer be read because its log was cleaned up.
	ErrVersionNotFound = errors.New("table version not available")
	// ErrCorrupt says that the log breaks the protocol: a gap, a line that is
	// no JSON, a checkpoint that cannot be read, a deletion vector whose
	// checksum is wrong.
	ErrCorrupt = errors.New("corrupt Delta log")
	// ErrUnsupported says that the table needs a protocol version or feature
	// that this package does not have; see UnsupportedError.
	ErrUnsupported = errors.New("unsupported Delta table feature")
	// ErrAppendOnly says that a commit would take rows out of a table with
	// delta.appendOnly.
	ErrAppendOnly = errors.New("the table is append-only")
	// ErrInvalidCommit says that a transaction breaks the protocol: a mistake
	// of the program that built it.
	ErrInvalidCommit = errors.New("invalid Delta commit")
	// ErrCommitUnknown says that it could not be settled whether a commit took
	// place: the write failed and so did every attempt to look.
	ErrCommitUnknown = errors.New("the outcome of the Delta commit is unknown")
	// ErrRetriesExhausted says that other writers won every attempt until the
	// budget was spent. It is a conflict: the caller may begin again.
	ErrRetriesExhausted = fmt.Errorf("%w: commit retries exhausted", ErrConflict)
)

// Kinds of conflict. A commit that meets one fails with a *ConflictError, for
// which errors.Is holds with the kind and with ErrConflict.
var (
	// ErrConflict is every kind of conflict.
	ErrConflict = errors.New("conflict with another commit")
	// ErrConcurrentAppend: another commit added rows that this one should have
	// read.
	ErrConcurrentAppend = errors.New("concurrent append")
	// ErrConcurrentDeleteRead: another commit removed a file this one has read.
	ErrConcurrentDeleteRead = errors.New("concurrent delete of a file that was read")
	// ErrConcurrentDeleteDelete: both commits remove one file.
	ErrConcurrentDeleteDelete = errors.New("concurrent delete of a file that is deleted here")
	// ErrConcurrentTransaction: another commit recorded a version of the same
	// application.
	ErrConcurrentTransaction = errors.New("concurrent transaction of the same application")
	// ErrMetadataChanged: another commit changed schema or properties.
	ErrMetadataChanged = errors.New("the table's metadata was changed")
	// ErrProtocolChanged: another commit changed the protocol.
	ErrProtocolChanged = errors.New("the table's protocol was changed")
	// ErrConcurrentWrite: another commit wrote the same metadata domain or
	// created the table.
	ErrConcurrentWrite = errors.New("concurrent write")
)

// ConflictError says which commit won and what the two disagree about.
type ConflictError struct {
	// Kind is one of the kinds of conflict above.
	Kind error
	// Version is the commit that won, Operation what it says it did.
	Version   int64
	Operation string
	// Detail names the file, application or domain.
	Detail string
}

func (e *ConflictError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v in version %d", e.Kind, e.Version)
	if e.Operation != "" {
		fmt.Fprintf(&b, " (%s)", e.Operation)
	}
	if e.Detail != "" {
		fmt.Fprintf(&b, ": %s", e.Detail)
	}
	return b.String()
}

// Unwrap makes errors.Is hold for the kind and for ErrConflict.
func (e *ConflictError) Unwrap() []error { return []error{e.Kind, ErrConflict} }

// TxnError says that the application's version is already in the table, so
// what the transaction holds must not be written again.
type TxnError struct {
	AppID string
	// Version is what the transaction would record, Recorded what the table has.
	Version, Recorded int64
}

func (e *TxnError) Error() string {
	return fmt.Sprintf("version %d of application %q is already committed (the table has %d)", e.Version, e.AppID, e.Recorded)
}

// UnsupportedError names what the table needs and this package lacks.
type UnsupportedError struct {
	// Reading is true when the table cannot even be read.
	Reading bool
	// Features are names of table features; empty when a version is at fault.
	Features []string
	// Version is the reader or writer version at fault, 0 when features are.
	Version int
	// Detail says more, for example which column uses the feature.
	Detail string
}

func (e *UnsupportedError) Error() string {
	side, verb := "writer", "write"
	if e.Reading {
		side, verb = "reader", "read"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "cannot %s this Delta table: ", verb)
	if e.Version != 0 {
		fmt.Fprintf(&b, "%s version %d is not supported", side, e.Version)
	} else {
		fmt.Fprintf(&b, "unsupported %s feature %s", side, strings.Join(e.Features, ", "))
	}
	if e.Detail != "" {
		fmt.Fprintf(&b, " (%s)", e.Detail)
	}
	return b.String()
}

// Unwrap makes errors.Is(err, ErrUnsupported) hold.
func (e *UnsupportedError) Unwrap() error { return ErrUnsupported }
