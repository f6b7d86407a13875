package ledger

import "github.com/pipectl/pipectl/core/plugin"

// fact is one row of the facts table. What is nil, zero or "" is NULL.
type fact struct {
	appID                     string
	batchID                   *int64
	rows                      *int64
	min, max                  plugin.Position
	deletes, inserts, updates *int64
	startedAt, durationMillis *int64
	measures                  measures
	event                     string
	lostFrom, lostTo          *int64
	end                       plugin.Position
	detail                    string
	target                    string
	writtenAt                 int64
}

// measures are the columns that come from what the source measured.
type measures struct {
	rttMillis, readSeconds, readMB *float64
	networkWaitMillis              *int64
	watermark                      *int64
	headroomHours                  *float64
	sourceMax                      *int64
	captureLag, ingestionLag       *float64
}

// Events of the facts table. Names of events that a source reports are its own.
const (
	EventBootstrap     = "bootstrap"
	EventResnapshot    = "resnapshot"
	EventSnapshotOpen  = "snapshot_open"
	EventSnapshotPlan  = "snapshot_plan"
	EventSnapshotChunk = "snapshot_chunk"
)

func commitMicros(p plugin.Position) *int64 {
	if !p.HasCommit {
		return nil
	}
	return &p.CommitMicros
}

// factsColumns are in the order in which the table is created. Names and types
// are shared with other writers and never change.
var factsColumns = []column[fact]{
	text("app_id", "Identity of the stream generation that wrote the row; the transaction app id of its writes to the target.", func(f *fact) string { return f.appID }),
	long("batch_id", "Number of the micro-batch. With app_id it names a batch row; events of a batch carry it too. NULL on snapshot events.", func(f *fact) *int64 { return f.batchID }),
	long("rows", "Rows written to the target by the batch, every operation counted; 0 when it read none. On bootstrap and resnapshot the rows of the snapshot (NULL when one was found that existed before), on snapshot_chunk those of the chunk, else 0.", func(f *fact) *int64 { return f.rows }),
	text("min_lsn", "Smallest commit position of the rows. On events the event's own.", func(f *fact) string { return f.min.Text }),
	text("max_lsn", "Largest commit position of the rows. On events the event's own; on snapshot_chunk the newest position after its read.", func(f *fact) string { return f.max.Text }),
	moment("min_commit_ts", "Commit time of min_lsn.", func(f *fact) *int64 { return commitMicros(f.min) }),
	moment("max_commit_ts", "Commit time of max_lsn.", func(f *fact) *int64 { return commitMicros(f.max) }),
	long("deletes", "Rows with operation 1.", func(f *fact) *int64 { return f.deletes }),
	long("inserts", "Rows with operation 2.", func(f *fact) *int64 { return f.inserts }),
	long("updates", "Rows with operation 4: each update once.", func(f *fact) *int64 { return f.updates }),
	moment("started_at", "When the batch began to be read, or the snapshot; of a chunked one, when it was opened.", func(f *fact) *int64 { return f.startedAt }),
	long("duration_ms", "Milliseconds from started_at until the target held the rows: reading and appending, not planning.", func(f *fact) *int64 { return f.durationMillis }),
	double("source_rtt_ms", "Median over the ranges of one round trip to the source before the read.", func(f *fact) *float64 { return f.measures.rttMillis }),
	double("read_seconds", "Seconds of reading, summed over ranges; above wall time when they ran in parallel.", func(f *fact) *float64 { return f.measures.readSeconds }),
	double("read_mb", "Megabytes (10^6 bytes) read, summed over ranges.", func(f *fact) *float64 { return f.measures.readMB }),
	long("network_wait_ms", "Milliseconds the source waited for its reader, summed over ranges; NULL when one of them could not tell.", func(f *fact) *int64 { return f.measures.networkWaitMillis }),
	moment("retention_watermark_ts", "Commit time of the oldest change the source still held after the read. On rows with a gap equal to lost_to_ts.", func(f *fact) *int64 { return f.measures.watermark }),
	double("retention_headroom_hours", "Hours from retention_watermark_ts to the position of the stream (end_commit_ts, else max_commit_ts): how much time is left before changes it needs are removed.", func(f *fact) *float64 { return f.measures.headroomHours }),
	text("event", "NULL on batch rows. bootstrap or resnapshot: a snapshot is complete. snapshot_open, snapshot_plan, snapshot_chunk: its course. schema_change, capture_instance_switched, data_skipped: what happened at the source.", func(f *fact) string { return f.event }),
	moment("lost_from_ts", "On rows with a gap: commit time of the last position processed before it.", func(f *fact) *int64 { return f.lostFrom }),
	moment("lost_to_ts", "On rows with a gap: commit time of the oldest change left when the loss was found.", func(f *fact) *int64 { return f.lostTo }),
	moment("source_max_commit_ts", "Commit time of the newest position of the source after the read.", func(f *fact) *int64 { return f.measures.sourceMax }),
	double("capture_lag_seconds", "Seconds from source_max_commit_ts to now, on the reader's clock.", func(f *fact) *float64 { return f.measures.captureLag }),
	double("ingestion_lag_seconds", "Seconds from the position of the stream to source_max_commit_ts.", func(f *fact) *float64 { return f.measures.ingestionLag }),
	text("end_lsn", "Where the batch ended, rows or not. On events the event's own position.", func(f *fact) string { return f.end.Text }),
	moment("end_commit_ts", "Commit time of end_lsn.", func(f *fact) *int64 { return commitMicros(f.end) }),
	text("detail", "JSON whose members depend on the event: warnings of a batch, mode and kind of a snapshot; the text of the statement on schema_change. No key values: those are in the table of snapshot plans.", func(f *fact) string { return f.detail }),
	text("target", "Name of the bronze table.", func(f *fact) string { return f.target }),
	moment("written_at", "When the row was written, after the target's commit; the same for all rows of one commit.", func(f *fact) *int64 { return &f.writtenAt }),
}
