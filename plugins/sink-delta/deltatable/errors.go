package deltatable

import (
	"errors"
	"fmt"
	"strings"
)

// Errors that callers decide by, tested with errors.Is. Errors of package
// deltalog pass through: deltalog.ErrConflict is every kind of conflict.
var (
	// ErrSchema says that rows or changes do not go together with the table's
	// schema; see SchemaError and NameError.
	ErrSchema = errors.New("the schema does not fit the table")
	// ErrDuplicateKey says that two rows of a merge have the same key; see
	// DuplicateKeyError.
	ErrDuplicateKey = errors.New("two rows of a merge have the same key")
	// ErrReplaced says that the table at the path is another one than the write
	// asked for: it was dropped and made again, or put back to a version before
	// the one that the write was planned on.
	ErrReplaced = errors.New("the table was replaced by another one")
	// ErrDamaged says that a data file is not what was written: cut, changed, or
	// with bytes that cannot be Parquet.
	ErrDamaged = errors.New("damaged data file")
	// ErrWriteClosed says that a write was already committed or aborted.
	ErrWriteClosed = errors.New("the write has ended")
)

// SchemaError says what does not fit, and how to go on.
type SchemaError struct{ Detail string }

func (e *SchemaError) Error() string { return ErrSchema.Error() + ": " + e.Detail }

// Unwrap makes errors.Is(err, ErrSchema) hold.
func (e *SchemaError) Unwrap() error { return ErrSchema }

// NameError names columns that cannot be added to a table without column
// mapping, since their names hold a character that Delta refuses there. A new
// table with such a column gets column mapping; see CreateIfAbsent.
type NameError struct{ Columns []string }

func (e *NameError) Error() string {
	quoted := make([]string, len(e.Columns))
	for i, c := range e.Columns {
		quoted[i] = fmt.Sprintf("%q", c)
	}
	return ErrSchema.Error() + ": the table has no column mapping, and without it Delta does not allow the column name " + strings.Join(quoted, ", ") +
		"; to add it, set the table properties delta.columnMapping.mode = 'name', delta.minReaderVersion = '2', delta.minWriterVersion = '5' " +
		"(this raises the protocol for every reader and writer of the table)"
}

// Unwrap makes errors.Is(err, ErrSchema) hold.
func (e *NameError) Unwrap() error { return ErrSchema }

// DuplicateKeyError names the key that two rows of a merge have.
type DuplicateKeyError struct {
	// Key is the key, readable: column = value, ...
	Key string
}

func (e *DuplicateKeyError) Error() string {
	return ErrDuplicateKey.Error() + ": " + e.Key + "; send one row per key, the newest"
}

// Unwrap makes errors.Is(err, ErrDuplicateKey) hold.
func (e *DuplicateKeyError) Unwrap() error { return ErrDuplicateKey }
