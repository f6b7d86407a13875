package memory

import (
	"context"

	"github.com/pipectl/pipectl/core/plugin"
)

// Tables wraps a session of the tables role, real or fake.
func (f *Faults) Tables(t plugin.Tables) plugin.Tables { return &faultyTables{Tables: t, faults: f} }

// Source wraps a session of the source role, real or fake.
func (f *Faults) Source(s plugin.Source) plugin.Source { return &faultySource{Source: s, faults: f} }

// Ledger wraps a ledger.
func (f *Faults) Ledger(l plugin.Ledger) plugin.Ledger { return &faultyLedger{inner: l, faults: f} }

type faultyTables struct {
	plugin.Tables // Limits and Close
	faults        *Faults
}

func (t *faultyTables) GetTables(ctx context.Context, req plugin.GetTablesRequest) ([]plugin.TableState, error) {
	return call(t.faults, "Tables.GetTables", "", func() ([]plugin.TableState, error) { return t.Tables.GetTables(ctx, req) })
}

func (t *faultyTables) PlanTable(ctx context.Context, spec plugin.TableSpec) (plugin.TablePlan, error) {
	return call(t.faults, "Tables.PlanTable", spec.Table.Name, func() (plugin.TablePlan, error) { return t.Tables.PlanTable(ctx, spec) })
}

func (t *faultyTables) ApplyTable(ctx context.Context, req plugin.ApplyTableRequest) (plugin.ApplyTableResult, error) {
	return call(t.faults, "Tables.ApplyTable", req.Spec.Table.Name, func() (plugin.ApplyTableResult, error) { return t.Tables.ApplyTable(ctx, req) })
}

func (t *faultyTables) Scan(ctx context.Context, req plugin.ScanRequest) (plugin.FrameReader, error) {
	return t.faults.open("Tables.Scan", req.Table.Name, func() (plugin.FrameReader, error) { return t.Tables.Scan(ctx, req) })
}

func (t *faultyTables) History(ctx context.Context, req plugin.HistoryRequest) ([]plugin.Commit, error) {
	return call(t.faults, "Tables.History", req.Table.Name, func() ([]plugin.Commit, error) { return t.Tables.History(ctx, req) })
}

func (t *faultyTables) BeginWrite(ctx context.Context, req plugin.BeginWriteRequest) (plugin.BeginWriteResponse, error) {
	return call(t.faults, "Tables.BeginWrite", req.Table.Name, func() (plugin.BeginWriteResponse, error) { return t.Tables.BeginWrite(ctx, req) })
}

func (t *faultyTables) WritePart(ctx context.Context, req plugin.WritePartRequest, frames plugin.FrameReader) (plugin.Part, error) {
	defer frames.Close() // a call that is not made closes them too
	return call(t.faults, "Tables.WritePart", req.WriteID, func() (plugin.Part, error) {
		return t.Tables.WritePart(ctx, req, t.faults.frames("Tables.WritePart", req.WriteID, frames))
	})
}

func (t *faultyTables) Commit(ctx context.Context, req plugin.CommitRequest) (plugin.CommitResult, error) {
	return call(t.faults, "Tables.Commit", req.WriteID, func() (plugin.CommitResult, error) { return t.Tables.Commit(ctx, req) })
}

func (t *faultyTables) Abort(ctx context.Context, writeID string) error {
	return t.faults.do("Tables.Abort", writeID, func() error { return t.Tables.Abort(ctx, writeID) })
}

func (t *faultyTables) PutObject(ctx context.Context, obj plugin.Object, onlyIfAbsent bool) error {
	return t.faults.do("Tables.PutObject", obj.Key, func() error { return t.Tables.PutObject(ctx, obj, onlyIfAbsent) })
}

func (t *faultyTables) GetObject(ctx context.Context, key string) (plugin.Object, bool, error) {
	found := false
	obj, err := call(t.faults, "Tables.GetObject", key, func() (obj plugin.Object, err error) {
		obj, found, err = t.Tables.GetObject(ctx, key)
		return obj, err
	})
	return obj, found && err == nil, err
}

func (t *faultyTables) ListObjects(ctx context.Context, prefix, startAfter string) ([]string, error) {
	return call(t.faults, "Tables.ListObjects", prefix, func() ([]string, error) { return t.Tables.ListObjects(ctx, prefix, startAfter) })
}

func (t *faultyTables) DeleteObject(ctx context.Context, key string) error {
	return t.faults.do("Tables.DeleteObject", key, func() error { return t.Tables.DeleteObject(ctx, key) })
}

func (f *Faults) do(name, detail string, do func() error) error {
	_, err := call(f, name, detail, func() (struct{}, error) { return struct{}{}, do() })
	return err
}

func (f *Faults) open(name, detail string, do func() (plugin.FrameReader, error)) (plugin.FrameReader, error) {
	r, err := call(f, name, detail, do)
	if err != nil {
		return nil, err
	}
	return f.frames(name, detail, r), nil
}

type faultySource struct {
	plugin.Source // Limits and Close
	faults        *Faults
}

func (s *faultySource) Inspect(ctx context.Context, req plugin.InspectRequest) (plugin.InspectResponse, error) {
	return call(s.faults, "Source.Inspect", "", func() (plugin.InspectResponse, error) { return s.Source.Inspect(ctx, req) })
}

func (s *faultySource) Start(ctx context.Context, req plugin.StartRequest) (plugin.Position, error) {
	return call(s.faults, "Source.Start", req.Table.Address, func() (plugin.Position, error) { return s.Source.Start(ctx, req) })
}

func (s *faultySource) Latest(ctx context.Context, req plugin.LatestRequest) (plugin.LatestResponse, error) {
	return call(s.faults, "Source.Latest", req.Table.Address, func() (plugin.LatestResponse, error) { return s.Source.Latest(ctx, req) })
}

func (s *faultySource) PlanBatch(ctx context.Context, req plugin.PlanBatchRequest) (plugin.BatchPlan, error) {
	return call(s.faults, "Source.PlanBatch", req.Table.Address, func() (plugin.BatchPlan, error) { return s.Source.PlanBatch(ctx, req) })
}

func (s *faultySource) Read(ctx context.Context, req plugin.ReadRequest) (plugin.FrameReader, error) {
	return s.faults.open("Source.Read", req.Table.Address, func() (plugin.FrameReader, error) { return s.Source.Read(ctx, req) })
}

func (s *faultySource) Stamp(ctx context.Context, table plugin.SourceTable) (plugin.Position, error) {
	return call(s.faults, "Source.Stamp", table.Address, func() (plugin.Position, error) { return s.Source.Stamp(ctx, table) })
}

func (s *faultySource) OpenSnapshot(ctx context.Context, req plugin.OpenSnapshotRequest) (plugin.SnapshotInfo, error) {
	return call(s.faults, "Source.OpenSnapshot", req.Table.Address, func() (plugin.SnapshotInfo, error) { return s.Source.OpenSnapshot(ctx, req) })
}

func (s *faultySource) PlanChunks(ctx context.Context, req plugin.PlanChunksRequest) ([]plugin.Chunk, error) {
	return call(s.faults, "Source.PlanChunks", req.Table.Address, func() ([]plugin.Chunk, error) { return s.Source.PlanChunks(ctx, req) })
}

func (s *faultySource) Lost(ctx context.Context, req plugin.LostRequest) (plugin.LostResponse, error) {
	return call(s.faults, "Source.Lost", req.Table.Address, func() (plugin.LostResponse, error) { return s.Source.Lost(ctx, req) })
}

func (s *faultySource) Aggregate(ctx context.Context, req plugin.AggregateRequest) (plugin.FrameReader, error) {
	return s.faults.open("Source.Aggregate", req.Table.Address, func() (plugin.FrameReader, error) { return s.Source.Aggregate(ctx, req) })
}

type faultyLedger struct {
	inner  plugin.Ledger
	faults *Faults
}

func (l *faultyLedger) ReadLedger(ctx context.Context, target string) (plugin.LedgerView, error) {
	return call(l.faults, "Ledger.ReadLedger", target, func() (plugin.LedgerView, error) { return l.inner.ReadLedger(ctx, target) })
}

func (l *faultyLedger) Chunks(ctx context.Context, snapshot string) ([]plugin.ChunkRow, error) {
	return call(l.faults, "Ledger.Chunks", snapshot, func() ([]plugin.ChunkRow, error) { return l.inner.Chunks(ctx, snapshot) })
}

func (l *faultyLedger) Advance(ctx context.Context, req plugin.AdvanceRequest) (*int64, error) {
	return call(l.faults, "Ledger.Advance", req.Target, func() (*int64, error) { return l.inner.Advance(ctx, req) })
}
