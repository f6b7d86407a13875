package plugin

import (
	"context"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
)

// Names of the metadata columns that rows of every source carry, in this
// order, before the captured ones. A source without an equivalent leaves
// _seqval and _command_id NULL.
const (
	ColumnCaptureInstance = "_capture_instance" // utf8
	ColumnStartLSN        = "_start_lsn"        // utf8, the position's text
	ColumnSeqval          = "_seqval"           // utf8
	ColumnOperation       = "_operation"        // int32
	ColumnCommandID       = "_command_id"       // int32
	ColumnCommitTS        = "_commit_ts"        // timestamp[us] without zone, UTC
)

// Names of the columns that bronze has after the captured ones, in this order.
// They have one value per part of a write, so the sink adds them as constants.
const (
	ColumnBatchID  = "_batch_id" // int32
	ColumnSnapshot = "_snapshot" // utf8
	ColumnChunk    = "_chunk"    // int32
)

// Values of _operation.
const (
	OpSnapshot     int32 = 0
	OpDelete       int32 = 1
	OpInsert       int32 = 2
	OpUpdateBefore int32 = 3
	OpUpdateAfter  int32 = 4
)

// SourceTable names a table of a source and how it is read. Address is the
// table's address and its identity inside a session.
type SourceTable struct {
	Address string
	// Object is the plugin-ruled body of the table block.
	Object cty.Value
	// Read is the plugin-ruled read block of the stream (defaults when the
	// caller is no stream).
	Read cty.Value
	// Key overrides the key that the source finds; empty = the source's.
	Key     []string
	Columns []ColumnRule
}

// ColumnRule says what happens to one column; a name that the source lacks is
// an error.
type ColumnRule struct {
	Name string
	Drop bool
	// As names the type to read the column as: "string", "long", "decimal(18,4)".
	As string
}

// CodeSnapshotKeys is the code of the diagnostic with which a source says that a
// snapshot cannot be cut on the columns which the table block chooses for that. From
// Inspect it is a warning, because only a snapshot needs them: a plan that would take
// one makes it an error of that step.
const CodeSnapshotKeys = "source.snapshot_keys"

// CodeSnapshotIsolation is the code of the diagnostic with which a source says that
// its database does not allow the isolation that snapshots are to be read under. It
// is a warning and becomes an error as that of CodeSnapshotKeys does.
const CodeSnapshotIsolation = "source.snapshot_isolation"

// InspectRequest asks about all tables of a source at once.
type InspectRequest struct {
	Tables []SourceTable
	// Since holds, per table address, the position from which pending commits
	// are counted; a table that is absent is not counted. A position that the
	// source no longer has is an error of kind rewound in the table's diagnostics.
	Since map[string]Position
	// PendingLimit bounds the count.
	PendingLimit int64
	// Identities holds, per table address, the TableInfo.Identity of the table that
	// a stream was started with, where there is one: a table that is not there under
	// its name may be found by it and named in the error. It is for that error alone.
	Identities map[string]string
}

// InspectResponse is what a source says of itself and its tables.
type InspectResponse struct {
	// Identity is the database, stable over failover: another identity later
	// is an error, never a restart.
	Identity string
	// Alias is by what the database is known when it has no such identity, before
	// it has it or after: "" when it is known by nothing else. See Database.
	Alias string
	// Display names the server and database for people.
	Display string
	Newest  Position
	Tables  []TableInfo
}

// TableInfo is one table, in the order of the request.
type TableInfo struct {
	Address string
	// Object is the table's name at the source, for people: dbo.orders.
	Object string
	// Identity changes when the table is dropped and created again.
	Identity string
	// Schema is the shape of the rows that Read sends, metadata columns
	// included; nil when Diagnostics has an error.
	Schema *arrow.Schema
	Key    []string
	// Instances are the names under which its rows may appear, lower case.
	Instances []string
	// Discontinued are columns of Schema that the table has and that changes are
	// not given any more, or will not be from a position on that is known already:
	// their values there are NULL whatever the table holds.
	Discontinued []string
	// DiscontinuedFrom is the position of the first change that lacks them, empty
	// when that is not known: what was read before it has them.
	DiscontinuedFrom Position
	// RowsEstimate comes from metadata, -1 when unknown.
	RowsEstimate int64
	Oldest       Position
	// Pending counts commits after Since up to the limit; -1 = not asked or
	// not known. They may be commits of other tables.
	Pending     int64
	Diagnostics diag.List
}

// StartRequest asks for the position of a new stream: "earliest", "latest"
// or a position's text (exclusive).
type StartRequest struct {
	Table SourceTable
	From  string
}

// LatestRequest asks for the end of the next batch.
type LatestRequest struct {
	Table SourceTable
	After Position
	// Until is this run's target; none = the newest position.
	Until Position
	// MaxCommits bounds the batch; 0 = no bound.
	MaxCommits int
	// CaptureLag asks for it.
	CaptureLag bool
}

// LatestResponse answers it.
type LatestResponse struct {
	// End is After itself when nothing is new.
	End    Position
	Newest Position
	// CaptureLag is how old the newest commit is that can be read as changes, by the
	// source's own clock, when this was answered: whatever was committed longer ago
	// can be read. Nil when it was not asked for, or is not known.
	CaptureLag *time.Duration
}

// PlanBatchRequest asks for the ranges of the batch (Start, End].
type PlanBatchRequest struct {
	Table      SourceTable
	Start, End Position
	// SkipLost moves past purged changes (recorded as data_skipped) instead of
	// failing with kind data_loss.
	SkipLost bool
}

// BatchPlan is the ranges of a batch: the same request against an unchanged
// source gives the same ranges and the same events.
type BatchPlan struct {
	Ranges []Range
	Events []Event
	// Warnings are said of the run, each with a code of the plugin's, and their
	// summaries are kept in the facts of the batch.
	Warnings diag.List
	// Schema is the shape of the rows of all ranges.
	Schema *arrow.Schema
	// Discontinued are columns of Schema that the table has and that rows of this
	// batch lack: what TableInfo.Discontinued foretells has come. A batch with one
	// that nobody accepted is not read.
	Discontinued []string
}

// Range is one piece of a batch, opaque to all but the source; it holds
// everything that reading it needs.
type Range []byte

// Event is something that happened at the source and is recorded in the facts.
type Event struct {
	// Name: schema_change, capture_instance_switched, data_skipped.
	Name string
	// Position is the event's own.
	Position Position
	// Detail is text; JSON where the event's form asks for it.
	Detail string
	// LostFrom and LostTo bound a gap by commit times (microseconds UTC), nil
	// when unknown.
	LostFrom, LostTo *int64
}

// Chunk is a piece of the key space of a snapshot. Lo and Hi are JSON texts
// (inclusive, exclusive); "" is an open end.
type Chunk struct {
	Index  int32
	Lo, Hi string
	// Last is true for the chunk that ends the plan.
	Last bool
}

// ReadRequest asks for one range of changes, or one chunk of a snapshot:
// exactly one of Range and Chunk is set.
type ReadRequest struct {
	Table SourceTable
	Range Range
	Chunk *Chunk
	// Stamp is the position written on snapshot rows.
	Stamp Position
	// Keys are the columns a chunk is cut on.
	Keys []string
	// Isolation is "" (read committed) or "snapshot".
	Isolation string
	// Columns projects: metadata columns always come, of the captured ones
	// only these; nil = all.
	Columns []string
	// LockTimeoutMillis bounds waits for locks of a snapshot read; 0 = the
	// source's own setting.
	LockTimeoutMillis int64
}

// ReadMetrics is what was measured over one range. Pointers are nil when the
// source cannot tell.
type ReadMetrics struct {
	From, To string
	Rows     int64
	Bytes    int64
	Seconds  float64
	// RTTMillis is one round trip before the read.
	RTTMillis     *float64
	NetworkWaitMs *int64
	// The rest comes with the last range of a batch only. Times are
	// microseconds UTC.
	Last               bool
	ToCommit           *int64
	RetentionWatermark *int64
	SourceMaxCommit    *int64
	CaptureLagSeconds  *float64
}

// SnapshotInfo is an opened snapshot: the stamp was recorded before the
// extent was looked at.
type SnapshotInfo struct {
	Stamp Position
	Keys  []string
	// Extent is a JSON text of the source's; "" when the key cannot be cut.
	Extent string
	// CaptureInstance is what snapshot rows carry.
	CaptureInstance string
	Schema          *arrow.Schema
}

// OpenSnapshotRequest asks for a stamp, then keys and extent.
type OpenSnapshotRequest struct{ Table SourceTable }

// PlanChunksRequest cuts the key space: into Parts pieces (whole snapshots),
// or into chunks of ChunkRows rows.
type PlanChunksRequest struct {
	Table     SourceTable
	Keys      []string
	Extent    string
	Parts     int
	ChunkRows int64
	Isolation string
}

// LostRequest asks whether the changes right after each position are gone.
type LostRequest struct {
	Table     SourceTable
	Positions []Position
}

// LostResponse answers per position.
type LostResponse struct {
	Lost []bool
	// Oldest is the oldest position still kept.
	Oldest Position
}

// AggregateKind chooses what Aggregate computes.
type AggregateKind string

// The aggregates; the rows that each answers with:
//
//	bounds   lo, hi          (utf8 JSON, one row; NULL when empty)
//	count    n               (int64, one row)
//	buckets  bucket, n, sum  (int64, int64, decimal128(38,0); non-empty buckets,
//	                          bucket = floor(key / width), date = days since 1970)
//	tiles    lo, n           (utf8 JSON key, int64; n tiles of the key order)
const (
	AggregateBounds  AggregateKind = "bounds"
	AggregateCount   AggregateKind = "count"
	AggregateBuckets AggregateKind = "buckets"
	AggregateTiles   AggregateKind = "tiles"
)

// AggregateRequest asks for counts of the source table itself.
type AggregateRequest struct {
	Table SourceTable
	Kind  AggregateKind
	Keys  []string
	// Width is the bucket width, Tiles the number of tiles.
	Width int64
	Tiles int
	// Lo and Hi bound the keys (JSON, inclusive, exclusive), "" = open.
	Lo, Hi string
	// At is what the counts must cover: a replica that lacks commits up to it does
	// not count, but fails in a way that may pass. None = the rows as they are.
	At Position
}

// Source is one source session. Inspect, Start, Latest, PlanBatch and Read
// are required; the others need their capability.
type Source interface {
	Inspect(ctx context.Context, req InspectRequest) (InspectResponse, error)
	Start(ctx context.Context, req StartRequest) (Position, error)
	Latest(ctx context.Context, req LatestRequest) (LatestResponse, error)
	PlanBatch(ctx context.Context, req PlanBatchRequest) (BatchPlan, error)
	Read(ctx context.Context, req ReadRequest) (FrameReader, error)

	// Stamp records a position that a read which starts later covers.
	Stamp(ctx context.Context, table SourceTable) (Position, error)
	OpenSnapshot(ctx context.Context, req OpenSnapshotRequest) (SnapshotInfo, error)
	PlanChunks(ctx context.Context, req PlanChunksRequest) ([]Chunk, error)
	Lost(ctx context.Context, req LostRequest) (LostResponse, error)
	Aggregate(ctx context.Context, req AggregateRequest) (FrameReader, error)

	Limits() Limits
	Close() error
}
