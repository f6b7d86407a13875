package plugin

import (
	"context"
	"path"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// TableRef names a table of a sink. Name is the dotted name and its identity
// everywhere; Path only places it ("" = where the sink puts that name).
type TableRef struct{ Name, Path string }

// Place is where the table lies below the root of its sink: its path, else the
// folders that its name gives.
func (r TableRef) Place() string {
	if r.Path == "" {
		return strings.ReplaceAll(r.Name, ".", "/")
	}
	return path.Clean(strings.TrimSuffix(r.Path, "/"))
}

// GetTablesRequest asks about tables at their newest versions; the versions
// answered are pinned by number only.
type GetTablesRequest struct {
	Tables []TableRef
	// AppIDs are looked up in each table's transactions.
	AppIDs []string
}

// TableState is one table, in the order of the request.
type TableState struct {
	Table  TableRef
	Exists bool
	// ID is the table's own identity, new when it is created again.
	ID          string
	Version     int64
	Schema      *arrow.Schema
	Description string
	Properties  map[string]string
	// Txns holds, per app id asked for, its newest version.
	Txns map[string]int64
	// TxnsExpire tells that the table forgets such a version some time after it was
	// recorded: of one that is missing nobody knows whether it ever was.
	TxnsExpire bool
	// Rows and Bytes come from file statistics; -1 when unknown.
	Rows, Bytes int64
	// Features lists table features, for people.
	Features []string
	// Writable is "" or the reason why the sink cannot write the table.
	Writable string
}

// Layout says how a table will be written, so that the sink can choose a form.
type Layout string

// Layouts.
const (
	// LayoutAppend: only appended to (bronze).
	LayoutAppend Layout = "append"
	// LayoutMerge: merged into and large (silver).
	LayoutMerge Layout = "merge"
	// LayoutSmall: small and merged or appended to (facts, control, reports).
	LayoutSmall Layout = "small"
)

// TableSpec is a table as it should be. Converging adds what is missing and
// drops no column, and changes no type of a table that has rows.
type TableSpec struct {
	Table TableRef
	// Schema: field metadata "comment" is the column's comment; every column
	// is nullable.
	Schema      *arrow.Schema
	Description string
	// Properties are set when the table is created, and those with a prefix in
	// Converge also later.
	Properties map[string]string
	Converge   []string
	Layout     Layout
}

// TableAction is what ApplyTable would do.
type TableAction string

// Actions.
const (
	TableNone   TableAction = "none"
	TableCreate TableAction = "create"
	TableAlter  TableAction = "alter"
)

// TablePlan is the difference between a table and its spec. A table that could
// not hold rows of the spec, because a column has another type that it cannot be
// widened to, has none: planning fails with kind schema_changed. Of a table without
// rows that shows one of the properties that converge, a sink may change the type.
type TablePlan struct {
	Action TableAction
	// Changes are lines for people: `add column note string`.
	Changes []string
	// ID and Version are those of the table compared with ("" and -1 when absent).
	ID      string
	Version int64
}

// ApplyTableRequest converges a table.
type ApplyTableRequest struct {
	Spec TableSpec
	// RequireID, when not "", fails with kind stale unless the table has this id;
	// "-" requires that no table exists yet. A creation that loses a race takes
	// the winner's table.
	RequireID string
}

// ApplyTableResult answers it.
type ApplyTableResult struct {
	Action  TableAction
	ID      string
	Version int64
}

// Comparison operators of a filter. Texts are compared by their bytes in UTF-8,
// whatever a collation says: "Z" is before "a", and "a" is not "a ".
const (
	OpEQ      = "="
	OpNE      = "<>"
	OpLT      = "<"
	OpLE      = "<="
	OpGT      = ">"
	OpGE      = ">="
	OpIn      = "in"
	OpIsNull  = "is null"
	OpNotNull = "is not null"
)

// Filter selects rows: any clause, all terms of it. No clause selects all. A
// scan may return more rows than the filter selects, never fewer.
type Filter struct{ Any []Clause }

// Clause is a conjunction.
type Clause struct{ All []Term }

// Term compares a column with literals (several for OpIn, none for null tests).
type Term struct {
	Column   string
	Op       string
	Literals []Literal
}

// LiteralType types a literal.
type LiteralType string

// Literal types. Int holds integers of any width, dates (days since 1970) and
// timestamps (microseconds since 1970).
const (
	LiteralBool         LiteralType = "bool"
	LiteralInt          LiteralType = "int"
	LiteralFloat        LiteralType = "float"
	LiteralDecimal      LiteralType = "decimal"
	LiteralString       LiteralType = "string"
	LiteralBinary       LiteralType = "binary"
	LiteralDate         LiteralType = "date"
	LiteralTimestamp    LiteralType = "timestamp"
	LiteralTimestampNTZ LiteralType = "timestamp_ntz"
)

// Literal is one typed value that is not NULL.
type Literal struct {
	Type  LiteralType
	Bool  bool
	Int   int64
	Float float64
	// Text holds strings and decimals in plain notation.
	Text  string
	Bytes []byte
}

// ScanRequest reads rows of a table, in no order unless it is Ordered.
type ScanRequest struct {
	Table TableRef
	// Version pins; -1 = newest.
	Version int64
	// Columns projects; nil = all.
	Columns []string
	Filter  Filter
	// Ordered asks for the rows in an order that is the same each time for the
	// same version, and for none of them before the sink has seen that all it has
	// to read is there. It may be slower.
	Ordered bool
}

// Commit is one entry of a table's history.
type Commit struct {
	Version      int64
	Micros       int64
	UserMetadata string
	Operation    string
	// DataChange is false for commits that only rearranged files or changed
	// metadata.
	DataChange bool
	// RowsAdded counts rows of added files by statistics; -1 when unknown.
	RowsAdded int64
}

// HistoryRequest lists commits after a version, oldest first.
type HistoryRequest struct {
	Table TableRef
	After int64
	// Limit bounds the answer; 0 = all that the log still holds. With a limit
	// the newest ones are answered.
	Limit int
}

// WriteMode says what a write does.
type WriteMode string

// Write modes.
const (
	WriteAppend    WriteMode = "append"
	WriteOverwrite WriteMode = "overwrite"
	WriteMerge     WriteMode = "merge"
)

// Txn is an idempotency key: a write with it is skipped when the table's
// recorded version for the app id is at least Version.
type Txn struct {
	AppID   string
	Version int64
}

// Merge says how source rows meet target rows. Rows hold columns of the
// target (absent ones are NULL on insert) and the action column ("U" or "D",
// not stored). Keys compare null-safe. Matched and source guard > target guard
// (NULL is lowest; no guard column = always): D deletes, U sets UpdateColumns
// (nil = all). Not matched: U inserts, D is dropped. DeleteAbsent deletes
// target rows whose key is in no part. Two source rows of one key are an
// error. Nothing to change: no commit, unless there are txns to record.
type Merge struct {
	Keys          []string
	Guard         string
	Action        string
	UpdateColumns []string
	DeleteAbsent  bool
}

// BeginWriteRequest opens a write.
type BeginWriteRequest struct {
	Table TableRef
	Mode  WriteMode
	// Schema is that of the rows, constants included, without the action column.
	Schema *arrow.Schema
	// MergeSchema adds columns that the table lacks, in the commit of the rows.
	MergeSchema bool
	// Txns are recorded in the commit; the write is ALREADY when every one of
	// them is recorded. When some are and some are not, its rows are neither all
	// there nor all missing: it fails with kind conflict.
	Txns []Txn
	// RequireID, when not "", fails with kind stale unless the table has it.
	RequireID string
	// BaseVersion, when >= 0, fails with kind conflict when later commits
	// changed data. An overwrite without one replaces what was there when it was
	// begun: data that came later is a conflict too.
	BaseVersion int64
	Merge       *Merge
}

// BeginWriteResponse answers it: an id, or Already.
type BeginWriteResponse struct {
	WriteID string
	Already bool
	Version int64
}

// Constant is a column that has one value in all rows of a part; Value nil is
// NULL of the type.
type Constant struct {
	Name  string
	Type  arrow.DataType
	Value *Literal
}

// WritePartRequest opens one part. Parts of one write run in parallel.
type WritePartRequest struct {
	WriteID string
	Part    int
	// Attempt tells tries of one part apart; only tokens named at Commit count.
	Attempt int
	// Constants are appended after the columns of the frames.
	Constants []Constant
}

// Part is a part that was written to files and committed to nothing.
type Part struct {
	Token string
	Rows  int64
	Bytes int64
}

// CommitOutcome is how a commit ended.
type CommitOutcome string

// Outcomes.
const (
	Committed CommitOutcome = "committed"
	Already   CommitOutcome = "already"
	Nothing   CommitOutcome = "nothing"
)

// CommitRequest commits the named parts; files of other parts are removed. It
// may be repeated and then answers the same.
type CommitRequest struct {
	WriteID string
	Tokens  []string
	// UserMetadata is stored verbatim, "" = none.
	UserMetadata string
}

// CommitResult answers it.
type CommitResult struct {
	Outcome CommitOutcome
	// Version is the committed one, or the newest when nothing was committed.
	Version                    int64
	Inserted, Updated, Deleted int64
}

// Object is a small object beside the tables.
type Object struct {
	Key  string
	Data []byte
}

// Tables is one session of the tables role: a sink, or what the host serves
// of it to silver and check plugins, narrowed to the tables of their step.
type Tables interface {
	GetTables(ctx context.Context, req GetTablesRequest) ([]TableState, error)
	PlanTable(ctx context.Context, spec TableSpec) (TablePlan, error)
	ApplyTable(ctx context.Context, req ApplyTableRequest) (ApplyTableResult, error)
	Scan(ctx context.Context, req ScanRequest) (FrameReader, error)
	History(ctx context.Context, req HistoryRequest) ([]Commit, error)

	BeginWrite(ctx context.Context, req BeginWriteRequest) (BeginWriteResponse, error)
	// WritePart pulls frames until End. It opens its part before the first Recv.
	// It owns frames and closes them, whatever it answers.
	WritePart(ctx context.Context, req WritePartRequest, frames FrameReader) (Part, error)
	Commit(ctx context.Context, req CommitRequest) (CommitResult, error)
	Abort(ctx context.Context, writeID string) error

	// PutObject with onlyIfAbsent answers kind conflict when the key exists.
	PutObject(ctx context.Context, obj Object, onlyIfAbsent bool) error
	// GetObject answers false when there is none.
	GetObject(ctx context.Context, key string) (Object, bool, error)
	// ListObjects lists keys with the prefix, in order, after startAfter.
	ListObjects(ctx context.Context, prefix, startAfter string) ([]string, error)
	DeleteObject(ctx context.Context, key string) error

	Limits() Limits
	Close() error
}

// ObjectProber is of tables that can tell that no object could be written, as far
// as their system does, and write nothing to find out.
type ObjectProber interface {
	// ProbeObjects returns the error that PutObject would of an object below the
	// prefix, which ends in a slash; nil is no promise.
	ProbeObjects(ctx context.Context, prefix string) error
}
