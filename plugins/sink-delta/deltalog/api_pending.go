package deltalog

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// This file holds the signatures that are being filled in.

var errPending = errors.New("not built yet")

// Table is a Delta table in a store. It is safe for concurrent use.
type Table struct{}

// Open finds the table at path inside st (empty: the store's root is the
// table). It fails with ErrNotTable when there is no log.
func Open(ctx context.Context, st store.Store, path string, opts ...Option) (*Table, error) {
	return nil, errPending
}

// CreateSpec says what a new table is.
type CreateSpec struct {
	Schema           *Struct
	PartitionColumns []string
	Name             string
	Description      string
	// Properties are table properties. Features that the schema or a property
	// needs (timestampNtz, deletionVectors, columnMapping, ...) are added to the
	// protocol.
	Properties map[string]string
	// Operation is what history shows; empty means CREATE TABLE.
	Operation string
}

// Create makes a table with no rows. It fails with ErrTableExists when there is
// one, also when another creator was quicker.
func Create(ctx context.Context, st store.Store, path string, spec CreateSpec, opts ...Option) (*Table, error) {
	return nil, errPending
}

// Store is the store that holds the table, Path the table's folder in it.
func (t *Table) Store() store.Store { return nil }

// Path is described with Store.
func (t *Table) Path() string { return "" }

// Locate says where the object lies that a path of the log names: of an Add, a
// Remove or an absolute deletion vector.
func (t *Table) Locate(ctx context.Context, path string) (store.Store, string, error) {
	return nil, "", errPending
}

// Snapshot returns the newest version. It reads only what is new since the
// newest snapshot that the table has given out.
func (t *Table) Snapshot(ctx context.Context) (*Snapshot, error) { return nil, errPending }

// SnapshotAt returns one version: ErrVersionNotFound when it does not exist
// yet or its log is gone.
func (t *Table) SnapshotAt(ctx context.Context, version int64) (*Snapshot, error) {
	return nil, errPending
}

// Checkpoint writes a checkpoint of the snapshot and the hint to it.
func (t *Table) Checkpoint(ctx context.Context, s *Snapshot) error { return errPending }

// History yields the commits after a version (-1: all that are left), oldest
// first.
func (t *Table) History(ctx context.Context, after int64) iter.Seq2[*Commit, error] { return nil }

// Commit is one entry of the history.
type Commit struct {
	Version int64
	// Timestamp is the commit's in-commit timestamp, else the time of its file.
	Timestamp time.Time
	Info      CommitInfo
	// DataChange is true when the commit changed rows, not only their place.
	DataChange bool
	// Added and Removed count files.
	Added, Removed int
	// MetadataChanged and ProtocolChanged say whether the commit has such an
	// action.
	MetadataChanged, ProtocolChanged bool
	// Txns are the application versions that the commit recorded.
	Txns []Txn
}

// Begin starts a transaction on what the snapshot shows.
func (t *Table) Begin(s *Snapshot) *Transaction { return nil }

// ReadDeletionVector loads a deletion vector: checked for size, CRC, magic and
// cardinality.
func (t *Table) ReadDeletionVector(ctx context.Context, dv *DeletionVector) (*roaring64.Bitmap, error) {
	return nil, errPending
}

// NewDeletionVectors begins a file for the deletion vectors of one commit.
func (t *Table) NewDeletionVectors() *DeletionVectors { return nil }

// DeletionVectors collects deletion vectors into one file.
type DeletionVectors struct{}

// Add appends the vector and returns its descriptor. It is valid once Close
// has returned nil.
func (d *DeletionVectors) Add(rows *roaring64.Bitmap) (*DeletionVector, error) {
	return nil, errPending
}

// Close writes the file, if anything was added.
func (d *DeletionVectors) Close(ctx context.Context) error { return errPending }

// Path is the file's object path, to delete it if the commit does not happen;
// empty when nothing was added.
func (d *DeletionVectors) Path() string { return "" }

// Snapshot is one version of a table. It does not change and is safe for
// concurrent use.
type Snapshot struct{}

// Version is the table version.
func (s *Snapshot) Version() int64 { return 0 }

// Timestamp is the in-commit timestamp of the version, else the time of its
// commit file.
func (s *Snapshot) Timestamp() time.Time { return time.Time{} }

// Metadata is what the table is. It must not be changed.
func (s *Snapshot) Metadata() *Metadata { return nil }

// Protocol is what the table needs. It must not be changed.
func (s *Snapshot) Protocol() *Protocol { return nil }

// Schema is the table's schema, partition columns included. It must not be
// changed.
func (s *Snapshot) Schema() *Struct { return nil }

// Properties are the table properties.
func (s *Snapshot) Properties() Properties { return nil }

// MappingMode is the column mapping in force.
func (s *Snapshot) MappingMode() MappingMode { return MappingNone }

// Txn is the newest version that the application has recorded.
func (s *Snapshot) Txn(appID string) (version int64, ok bool) { return 0, false }

// Domain is the configuration of a metadata domain.
func (s *Snapshot) Domain(name string) (configuration string, ok bool) { return "", false }

// NumFiles is the number of live files, SizeInBytes their sum.
func (s *Snapshot) NumFiles() int { return 0 }

// SizeInBytes is described with NumFiles.
func (s *Snapshot) SizeInBytes() int64 { return 0 }

// Files yields the live files that may hold rows for which p is true: more
// than needed, never fewer. The Add is the caller's own.
func (s *Snapshot) Files(p Predicate) iter.Seq[*Add] { return nil }

// PartitionValue reads a partition value of a file by its column's type.
func (s *Snapshot) PartitionValue(a *Add, column string) (Value, error) { return Value{}, errPending }

// CheckWrite says whether this package may write the table: nil, or an
// *UnsupportedError.
func (s *Snapshot) CheckWrite() error { return errPending }

// Properties are the properties of a table, with typed getters.
type Properties map[string]string

// MappingMode is how columns are found in data files.
type MappingMode string

// The modes of column mapping.
const (
	MappingNone MappingMode = "none"
	MappingName MappingMode = "name"
	MappingID   MappingMode = "id"
)

// Transaction collects what one commit will do. It is not safe for concurrent
// use and good for one Commit.
type Transaction struct{}

// Snapshot is what the transaction was begun on.
func (tx *Transaction) Snapshot() *Snapshot { return nil }

// AddFile adds a data file that has been written. Path must be percent-encoded
// (see EncodePath). Empty statistics are allowed, except with a deletion vector.
func (tx *Transaction) AddFile(a *Add) {}

// RemoveFile removes a file that the snapshot has. dataChange is false when the
// commit only rearranges rows.
func (tx *Transaction) RemoveFile(a *Add, dataChange bool) {}

// ReplaceDeletionVector marks more rows of a file as deleted: it removes the
// file as it is and adds it with dv, which must hold the old rows too.
// Statistics are kept as wide bounds.
func (tx *Transaction) ReplaceDeletionVector(a *Add, dv *DeletionVector) {}

// SetTxn records how far an application has come. Commit fails with *TxnError
// when the table has that version or a later one.
func (tx *Transaction) SetTxn(appID string, version int64) {}

// SetDomain sets the configuration of a metadata domain.
func (tx *Transaction) SetDomain(name, configuration string) {}

// RemoveDomain removes a metadata domain.
func (tx *Transaction) RemoveDomain(name string) {}

// SetUserMetadata sets the text that the commit carries, verbatim.
func (tx *Transaction) SetUserMetadata(text string) {}

// SetOperation says what history shows: a name such as WRITE or MERGE and
// parameters. Parameter values are text, by Spark's habit often JSON.
func (tx *Transaction) SetOperation(name string, parameters map[string]string) {}

// SetMetrics sets the operation metrics, for example numOutputRows.
func (tx *Transaction) SetMetrics(metrics map[string]int64) {}

// ReadPredicate says that the rows that p selects were read: a commit in
// between that adds or removes files with such rows is a conflict. A
// transaction that reads nothing and only adds is a blind append.
func (tx *Transaction) ReadPredicate(p Predicate) {}

// ReadTable says that everything was read.
func (tx *Transaction) ReadTable() {}

// ReadFile says that one file was read.
func (tx *Transaction) ReadFile(a *Add) {}

// Schema is the schema as changed by this transaction.
func (tx *Transaction) Schema() *Struct { return nil }

// SetSchema replaces the table's schema, for widened types and changed fields.
// Fields without column mapping metadata get it when the table has mapping;
// features that new types need are added to the protocol.
func (tx *Transaction) SetSchema(s *Struct) error { return errPending }

// AddColumns adds columns at the end. They must be nullable and new, ignoring
// case.
func (tx *Transaction) AddColumns(fields ...Field) error { return errPending }

// SetComment changes the description of a top-level column.
func (tx *Transaction) SetComment(column, text string) error { return errPending }

// SetDescription changes the description of the table.
func (tx *Transaction) SetDescription(text string) error { return errPending }

// SetProperties sets table properties. Features that they need are added to
// the protocol.
func (tx *Transaction) SetProperties(p map[string]string) error { return errPending }

// Commit writes the transaction as the next free version and returns it. It
// repeats while other commits win that do not conflict. See the errors of this
// package for what can go wrong; only after ErrCommitUnknown may the commit
// have happened.
func (tx *Transaction) Commit(ctx context.Context) (version int64, err error) { return 0, errPending }

// ParseSchema reads a schema in Spark's JSON form.
func ParseSchema(text string) (*Struct, error) { return nil, errPending }

// FormatSchema writes a schema in Spark's JSON form.
func FormatSchema(s *Struct) (string, error) { return "", errPending }

// ArrowOptions say how ToArrow names columns.
type ArrowOptions struct {
	// Physical takes physical names, as data files have them.
	Physical bool
	// FieldIDs puts column mapping ids where Parquet writers look for field ids.
	FieldIDs bool
}

// ToArrow is the Arrow schema of a Delta schema. Comments go into the field
// metadata key "comment".
func ToArrow(s *Struct, o ArrowOptions) (*arrow.Schema, error) { return nil, errPending }

// FromArrow is the Delta schema of an Arrow schema: the reverse of ToArrow, and
// the nearest type for Arrow types that Delta does not have.
func FromArrow(s *arrow.Schema) (*Struct, error) { return nil, errPending }

// EncodePath turns an object path relative to the table into the form that the
// log keeps.
func EncodePath(path string) string { return path }

// FormatPartitionValue writes a value as partitionValues keep it; nil is NULL.
func FormatPartitionValue(v Value, t Type) (*string, error) { return nil, errPending }

// Stats are the statistics of one data file.
type Stats struct {
	// NumRecords is the number of rows in the file, deleted ones included.
	NumRecords int64
	// TightBounds is false when bounds may be wider than the live rows.
	TightBounds bool
	// Columns has one entry per leaf column with any statistics.
	Columns []ColumnStats
}

// ColumnStats are the statistics of one leaf column.
type ColumnStats struct {
	// Path leads to the leaf by physical names.
	Path []string
	// Type is the leaf's type.
	Type Type
	// Min and Max bound the values; NULL means not known.
	Min, Max Value
	// NullCount is the number of nulls, -1 when not known.
	NullCount int64
}

// Encode writes the statistics as Add.Stats keeps them. Strings are cut,
// timestamps too, so bounds stay bounds.
func (s *Stats) Encode() (string, error) { return "", errPending }

// ParseStats reads Add.Stats for the columns of a schema.
func ParseStats(text string, schema *Struct) (*Stats, error) { return nil, errPending }
