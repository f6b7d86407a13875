package stream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/ledger"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/rows"
	"github.com/pipectl/pipectl/core/state"
)

// bootstrap makes sure that bronze holds a whole snapshot of the table and
// returns the position it was taken at, where a new stream starts. A table is
// never read twice: what is in bronze is found. Deleting its rows with operation
// 0 from bronze makes the next run take another.
func (s *stream) bootstrap(ctx context.Context, log state.Log) (plugin.Position, error) {
	recorded, err := s.Ledger.Snapshots(ctx, s.Bronze.Name)
	if err != nil {
		return plugin.Position{}, err
	}
	chunked, complete := ledger.OpenChunked(recorded, s.AppID)
	if chunked != nil && !complete {
		return plugin.Position{}, diag.Errorf(diag.KindConfiguration, "stream.snapshot_open",
			"Finish it with bootstrap = \"chunked\", which reads the rest of it.",
			"A chunked snapshot of %s is open at %s (generation %d), so no whole one can be taken", s.Bronze.Name, chunked.Stamp.Text, chunked.Generation).Err()
	}
	found, err := s.findSnapshot(ctx, recorded, log)
	if err != nil {
		return plugin.Position{}, err
	}
	switch {
	case !found.IsZero():
		return found, s.bootstrapped(ctx, ledger.SnapshotCompletion{Stamp: found})
	case chunked != nil:
		return chunked.Stamp, nil
	}
	return s.takeSnapshot(ctx)
}

// bootstrapped records the snapshot. A row that is there already stays.
func (s *stream) bootstrapped(ctx context.Context, c ledger.SnapshotCompletion) error {
	if s.eventsTxn >= int64(s.generation) {
		return nil
	}
	c.AppID, c.KeyApp, c.Target, c.Generation = s.sinkID, s.AppID, s.Bronze.Name, s.generation
	if err := s.Ledger.Bootstrapped(ctx, c); err != nil {
		return fmt.Errorf("recording the snapshot of %s: %w", s.Bronze.Name, err)
	}
	s.eventsTxn = int64(s.generation)
	return nil
}

// findSnapshot returns the position of the newest whole snapshot that bronze
// holds, none when there is none.
func (s *stream) findSnapshot(ctx context.Context, recorded []ledger.SnapshotRow, log state.Log) (plugin.Position, error) {
	var event *ledger.SnapshotRow
	for i, r := range recorded {
		if r.Event == ledger.EventBootstrap && ledger.Family(s.AppID, r.AppID) && (event == nil || r.Stamp.Text > event.Stamp.Text) {
			event = &recorded[i]
		}
	}
	if event != nil && event.Rows != nil && *event.Rows == 0 {
		return event.Stamp, nil // of an empty table: it left no row to be found
	}
	if event != nil && log.Newest >= 0 {
		// The stream has gone on from the snapshot: one row of it is proof enough,
		// and looking at all of them would cost every run a scan of the table.
		found, err := s.scanSnapshot(ctx, event.Stamp.Text)
		if err != nil || !found.IsZero() {
			return found, err
		}
	}
	return s.scanSnapshot(ctx, "")
}

// scanSnapshot looks for rows of whole snapshots: the newest, or any row of the
// one at a position.
func (s *stream) scanSnapshot(ctx context.Context, at string) (plugin.Position, error) {
	has := func(column string) bool { return len(s.bronze.Schema.FieldIndices(column)) > 0 }
	columns := []string{plugin.ColumnCaptureInstance, plugin.ColumnStartLSN, plugin.ColumnOperation, plugin.ColumnCommitTS}
	terms := []plugin.Term{{Column: plugin.ColumnOperation, Op: plugin.OpEQ, Literals: []plugin.Literal{{Type: plugin.LiteralInt, Int: int64(plugin.OpSnapshot)}}}}
	if has(plugin.ColumnSnapshot) {
		columns = append(columns, plugin.ColumnSnapshot)
	}
	if has(plugin.ColumnChunk) {
		columns = append(columns, plugin.ColumnChunk)
		terms = append(terms, plugin.Term{Column: plugin.ColumnChunk, Op: plugin.OpIsNull})
	}
	if at != "" {
		terms = append(terms, plugin.Term{Column: plugin.ColumnStartLSN, Op: plugin.OpEQ, Literals: []plugin.Literal{{Type: plugin.LiteralString, Text: at}}})
	}
	frames, err := s.Tables.Scan(ctx, plugin.ScanRequest{
		Table: s.Bronze, Version: -1, Columns: columns, Filter: plugin.Filter{Any: []plugin.Clause{{All: terms}}},
	})
	if err == nil {
		var reader *rows.Reader
		if reader, err = rows.NewReader(frames, memory.DefaultAllocator); err == nil {
			var newest plugin.Position
			_, err = reader.ForEach(func(b arrow.RecordBatch) error { return s.newestSnapshot(b, at, &newest) })
			if err == nil || errors.Is(err, errFound) {
				return newest, nil
			}
		}
	}
	return plugin.Position{}, fmt.Errorf("looking for a snapshot in %s: %w", s.Bronze.Name, err)
}

var errFound = errors.New("found")

// newestSnapshot raises newest to the newest snapshot among the rows of a batch.
func (s *stream) newestSnapshot(b arrow.RecordBatch, at string, newest *plugin.Position) error {
	instances, starts := textColumn(b, plugin.ColumnCaptureInstance), textColumn(b, plugin.ColumnStartLSN)
	snapshots := textColumn(b, plugin.ColumnSnapshot)
	operations, ok := columnOf(b, plugin.ColumnOperation).(*array.Int32)
	if instances == nil || starts == nil || !ok {
		return fmt.Errorf("the columns of %s do not have the types of a change log", s.Bronze.Name)
	}
	commits, _ := columnOf(b, plugin.ColumnCommitTS).(*array.Timestamp)
	chunks := columnOf(b, plugin.ColumnChunk)
	for i := range int(b.NumRows()) {
		if operations.IsNull(i) || operations.Value(i) != plugin.OpSnapshot || chunks != nil && chunks.IsValid(i) {
			continue
		}
		if at != "" && starts.Value(i) != at || !slices.Contains(s.Info.Instances, strings.ToLower(instances.Value(i))) {
			continue
		}
		// Rows older than the column _snapshot carry the position as their own.
		stamp := starts.Value(i)
		if snapshots != nil && snapshots.IsValid(i) {
			stamp = snapshots.Value(i)
		}
		if stamp <= newest.Text {
			continue
		}
		*newest = plugin.Position{Text: strings.Clone(stamp)}
		if commits != nil && commits.IsValid(i) {
			newest.CommitMicros, newest.HasCommit = int64(commits.Value(i)), true
		}
		if at != "" {
			return errFound
		}
	}
	return nil
}

func columnOf(b arrow.RecordBatch, name string) arrow.Array {
	index := b.Schema().FieldIndices(name)
	if len(index) == 0 {
		return nil
	}
	return b.Column(index[0])
}

func textColumn(b arrow.RecordBatch, name string) array.StringLike {
	column, _ := columnOf(b, name).(array.StringLike)
	return column
}

// takeSnapshot reads the whole table under one stamp, which is recorded before
// the first row is read, and appends it in one commit.
func (s *stream) takeSnapshot(ctx context.Context) (plugin.Position, error) {
	started := s.Clock()
	info, err := s.Source.OpenSnapshot(ctx, plugin.OpenSnapshotRequest{Table: s.Table})
	if err != nil {
		return plugin.Position{}, fmt.Errorf("opening a snapshot of %s: %w", s.Info.Object, err)
	}
	opening := ledger.SnapshotOpening{AppID: s.sinkID, Target: s.Bronze.Name, Stamp: info.Stamp, Generation: s.generation}
	if err := s.Ledger.OpenFull(ctx, opening); err != nil {
		return plugin.Position{}, fmt.Errorf("recording that a snapshot of %s begins: %w", s.Bronze.Name, err)
	}
	s.report.update(func(p *Progress) {
		p.Stage, p.Batch, p.RowsTotal, p.Position = "snapshot", -1, s.Info.RowsEstimate, info.Stamp
	})
	n, err := s.appendSnapshot(ctx, info)
	if err != nil {
		return plugin.Position{}, fmt.Errorf("snapshot of %s: %w", s.Info.Object, err)
	}
	s.result.SnapshotRows = n
	took := s.Clock().Sub(started)
	return info.Stamp, s.bootstrapped(ctx, ledger.SnapshotCompletion{
		Stamp: info.Stamp, Rows: &n, StartedAt: &started, Duration: new(took.Round(time.Microsecond)),
	})
}

// appendSnapshot returns the number of rows appended. It has no transaction
// key: a run that repeats it has looked for the rows before. That look must
// still hold when the commit is made, so rows that came after it are a
// conflict: a run that was overtaken, because it stood still or is what a
// killed host left behind, does not append a second snapshot.
func (s *stream) appendSnapshot(ctx context.Context, info plugin.SnapshotInfo) (int64, error) {
	chunks, err := s.Source.PlanChunks(ctx, plugin.PlanChunksRequest{Table: s.Table, Keys: info.Keys, Extent: info.Extent, Parts: cap(s.Slots)})
	if err != nil {
		return 0, fmt.Errorf("cutting it into parts: %w", err)
	}
	schema, err := withSinkColumns(info.Schema)
	if err != nil {
		return 0, err
	}
	begun, err := s.Tables.BeginWrite(ctx, plugin.BeginWriteRequest{
		Table: s.Bronze, Mode: plugin.WriteAppend, Schema: schema, MergeSchema: true,
		RequireID: s.bronze.ID, BaseVersion: s.bronze.Version,
	})
	if err != nil {
		return 0, fmt.Errorf("writing to %s: %w", s.Bronze.Name, err)
	}
	reads := make([]plugin.ReadRequest, len(chunks))
	for i := range chunks {
		reads[i] = plugin.ReadRequest{Table: s.Table, Chunk: &chunks[i], Stamp: info.Stamp, Keys: info.Keys}
	}
	into := target{writeID: begun.WriteID, constants: snapshotConstants(info.Stamp.Text)}
	ends, tokens, err := s.relay(ctx, into, reads)
	if err != nil {
		s.abort(ctx, into)
		return 0, err
	}
	var counts ledger.Counts
	for _, end := range ends {
		counts.Add(end)
	}
	if counts.Rows == 0 {
		s.abort(ctx, into)
		return 0, nil
	}
	return counts.Rows, s.commit(ctx, into, tokens, ledger.SnapshotMetadata(info.CaptureInstance, info.Stamp))
}
