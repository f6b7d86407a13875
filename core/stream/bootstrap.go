package stream

import (
	"context"
	"fmt"
	"time"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/ledger"
	"github.com/pipectl/pipectl/core/plugin"
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
	found, err := FindSnapshot(ctx, s.Tables, SnapshotQuery{
		AppID: s.AppID, Bronze: s.bronze, Recorded: recorded, Instances: s.Info.Instances, Begun: log.Newest >= 0,
	})
	if err != nil {
		return plugin.Position{}, err
	}
	switch {
	case !found.IsZero():
		return found, s.bootstrapped(ctx, ledger.SnapshotCompletion{Stamp: found})
	case chunked != nil:
		return chunked.Stamp, nil
	case s.SnapshotKnown:
		return plugin.Position{}, diag.Errorf(diag.KindStale, "stream.snapshot_gone",
			"Nothing was read. Look with `pipectl plan` at what it would read now, and accept it with `pipectl apply`.",
			"No rows of a snapshot are in %s, and there were when this was planned", s.Bronze.Name).Err()
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

// takeSnapshot reads the whole table under one stamp, which is recorded before
// the first row is read, and appends it in one commit.
func (s *stream) takeSnapshot(ctx context.Context) (plugin.Position, error) {
	started := s.Clock()
	info, err := s.Source.OpenSnapshot(ctx, plugin.OpenSnapshotRequest{Table: s.Table})
	if err != nil {
		return plugin.Position{}, fmt.Errorf("opening a snapshot of %s: %w", s.Info.Object, err)
	}
	// From here on positions are recorded, which mean something in this database
	// only.
	if err := s.State.Stream(s.AppID).Claim(ctx, s.identity); err != nil {
		return plugin.Position{}, err
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

// appendSnapshot returns the number of rows appended. A run that repeats it has
// looked for the rows before. That look must still hold when the commit is made,
// so rows that came after it are a conflict, and so is the number of the
// snapshot when it is taken: a run that was overtaken, because it stood still or
// is what a killed host left behind, does not append a second snapshot.
func (s *stream) appendSnapshot(ctx context.Context, info plugin.SnapshotInfo) (int64, error) {
	chunks, err := s.Source.PlanChunks(ctx, plugin.PlanChunksRequest{Table: s.Table, Keys: info.Keys, Extent: info.Extent, Parts: cap(s.Slots)})
	if err != nil {
		return 0, fmt.Errorf("cutting it into parts: %w", err)
	}
	schema, err := withSinkColumns(info.Schema)
	if err != nil {
		return 0, err
	}
	number := Txn(s.bronze, plugin.SnapshotsApp) + 1
	begun, err := s.Tables.BeginWrite(ctx, plugin.BeginWriteRequest{
		Table: s.Bronze, Mode: plugin.WriteAppend, Schema: schema, MergeSchema: true,
		RequireID: s.bronze.ID, BaseVersion: s.bronze.Version,
		Txns: []plugin.Txn{{AppID: plugin.SnapshotsApp, Version: number}, {AppID: plugin.SnapshotsOf(s.bronze.ID), Version: number}},
	})
	if err != nil {
		return 0, fmt.Errorf("writing to %s: %w", s.Bronze.Name, err)
	}
	if begun.Already {
		return 0, s.overtaken()
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
	outcome, err := s.commit(ctx, into, tokens, ledger.SnapshotMetadata(info.CaptureInstance, info.Stamp))
	if err == nil && outcome == plugin.Already {
		err = s.overtaken()
	}
	return counts.Rows, err
}

// overtaken is the conflict with a run that has read the table meanwhile.
func (s *stream) overtaken() error {
	return diag.Errorf(diag.KindConflict, "stream.snapshot_taken", "Nothing is lost: the step begins again from what is there now.",
		"Another run has appended a snapshot to %s meanwhile", s.Bronze.Name).Err()
}
