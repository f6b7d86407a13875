package plugin

import (
	"context"
	"slices"
	"sync"

	"github.com/pipectl/pipectl/core/diag"
)

// Access names what one step of a silver or check may touch. A name that is
// not in it does not exist for the step.
type Access struct {
	// Read, Append and Merge hold tables, told apart by name. A call for one is
	// about the table as it stands here, whatever path it gives. A table that may
	// be appended to may be created and altered; one that may be merged into may
	// also be appended to and overwritten. Both may be read.
	Read, Append, Merge []TableRef
	// Source holds the source tables, told apart by address. A call for one
	// reads it as it stands here, so that no step widens what its block says:
	// another object, or a column that is left out.
	Source []SourceTable
	// Targets holds the targets whose ledger may be read, Advance those whose
	// position may also be moved.
	Targets, Advance []string
}

// Narrow returns a host that does only what the access allows: other tables
// answer with kind permission. Writes are known by the narrowed host that
// opened them and by no other; objects are out of reach.
func (a Access) Narrow(h Host) Host {
	out := Host{Ledger: narrowLedger{access: a, inner: h.Ledger}}
	out.Tables = &narrowTables{Tables: h.Tables, access: a, writes: map[string]bool{}}
	if h.Source != nil {
		out.Source = narrowSource{Source: h.Source, access: a}
	}
	return out
}

// mayMerge, mayAppend and mayRead replace a table by the one that the access
// names, and report whether it names one for that.
func (a Access) mayMerge(t *TableRef) bool { return replace(t, a.Merge) }

func (a Access) mayAppend(t *TableRef) bool { return a.mayMerge(t) || replace(t, a.Append) }

func (a Access) mayRead(t *TableRef) bool { return a.mayAppend(t) || replace(t, a.Read) }

func replace(t *TableRef, allowed []TableRef) bool {
	i := slices.IndexFunc(allowed, func(have TableRef) bool { return have.Name == t.Name })
	if i >= 0 {
		*t = allowed[i]
	}
	return i >= 0
}

func denied(what, name string) error {
	return diag.Errorf(diag.KindPermission, "plugin.access", "A step may touch only what its block names.",
		"This step may not %s %q", what, name).Err()
}

// narrowTables embeds Limits; Close does not end the host's session.
type narrowTables struct {
	Tables
	access Access

	mu     sync.Mutex
	writes map[string]bool
}

func (n *narrowTables) Close() error { return nil }

func (n *narrowTables) GetTables(ctx context.Context, req GetTablesRequest) ([]TableState, error) {
	req.Tables = slices.Clone(req.Tables)
	for i := range req.Tables {
		if t := &req.Tables[i]; !n.access.mayRead(t) {
			return nil, denied("read", t.Name)
		}
	}
	return n.Tables.GetTables(ctx, req)
}

func (n *narrowTables) PlanTable(ctx context.Context, spec TableSpec) (TablePlan, error) {
	if !n.access.mayRead(&spec.Table) {
		return TablePlan{}, denied("read", spec.Table.Name)
	}
	return n.Tables.PlanTable(ctx, spec)
}

func (n *narrowTables) ApplyTable(ctx context.Context, req ApplyTableRequest) (ApplyTableResult, error) {
	if !n.access.mayAppend(&req.Spec.Table) {
		return ApplyTableResult{}, denied("change", req.Spec.Table.Name)
	}
	return n.Tables.ApplyTable(ctx, req)
}

func (n *narrowTables) Scan(ctx context.Context, req ScanRequest) (FrameReader, error) {
	if !n.access.mayRead(&req.Table) {
		return nil, denied("read", req.Table.Name)
	}
	return n.Tables.Scan(ctx, req)
}

func (n *narrowTables) History(ctx context.Context, req HistoryRequest) ([]Commit, error) {
	if !n.access.mayRead(&req.Table) {
		return nil, denied("read", req.Table.Name)
	}
	return n.Tables.History(ctx, req)
}

func (n *narrowTables) BeginWrite(ctx context.Context, req BeginWriteRequest) (BeginWriteResponse, error) {
	may := n.access.mayMerge
	if req.Mode == WriteAppend {
		may = n.access.mayAppend
	}
	if !may(&req.Table) {
		return BeginWriteResponse{}, denied("write", req.Table.Name)
	}
	out, err := n.Tables.BeginWrite(ctx, req)
	if err == nil && !out.Already {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.writes[out.WriteID] = true
	}
	return out, err
}

func (n *narrowTables) owns(writeID string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.writes[writeID] {
		return denied("continue the write", writeID)
	}
	return nil
}

func (n *narrowTables) WritePart(ctx context.Context, req WritePartRequest, frames FrameReader) (Part, error) {
	if err := n.owns(req.WriteID); err != nil {
		frames.Close()
		return Part{}, err
	}
	return n.Tables.WritePart(ctx, req, frames)
}

func (n *narrowTables) Commit(ctx context.Context, req CommitRequest) (CommitResult, error) {
	if err := n.owns(req.WriteID); err != nil {
		return CommitResult{}, err
	}
	return n.Tables.Commit(ctx, req)
}

func (n *narrowTables) Abort(ctx context.Context, writeID string) error {
	if err := n.owns(writeID); err != nil {
		return err
	}
	return n.Tables.Abort(ctx, writeID)
}

func (n *narrowTables) PutObject(_ context.Context, obj Object, _ bool) error {
	return denied("write the object", obj.Key)
}

func (n *narrowTables) GetObject(_ context.Context, key string) (Object, bool, error) {
	return Object{}, false, denied("read the object", key)
}

func (n *narrowTables) ListObjects(_ context.Context, prefix, _ string) ([]string, error) {
	return nil, denied("list the objects", prefix)
}

func (n *narrowTables) DeleteObject(_ context.Context, key string) error {
	return denied("delete the object", key)
}

// narrowSource embeds Limits; Close does not end the host's session.
type narrowSource struct {
	Source
	access Access
}

func (n narrowSource) Close() error { return nil }

// allow replaces a table by the one that the access names.
func (n narrowSource) allow(t *SourceTable) error {
	for _, allowed := range n.access.Source {
		if allowed.Address == t.Address {
			*t = allowed
			return nil
		}
	}
	return denied("read", t.Address)
}

func (n narrowSource) Inspect(ctx context.Context, req InspectRequest) (InspectResponse, error) {
	req.Tables = slices.Clone(req.Tables)
	for i := range req.Tables {
		if err := n.allow(&req.Tables[i]); err != nil {
			return InspectResponse{}, err
		}
	}
	return n.Source.Inspect(ctx, req)
}

func (n narrowSource) Start(ctx context.Context, req StartRequest) (Position, error) {
	if err := n.allow(&req.Table); err != nil {
		return Position{}, err
	}
	return n.Source.Start(ctx, req)
}

func (n narrowSource) Latest(ctx context.Context, req LatestRequest) (LatestResponse, error) {
	if err := n.allow(&req.Table); err != nil {
		return LatestResponse{}, err
	}
	return n.Source.Latest(ctx, req)
}

func (n narrowSource) PlanBatch(ctx context.Context, req PlanBatchRequest) (BatchPlan, error) {
	if err := n.allow(&req.Table); err != nil {
		return BatchPlan{}, err
	}
	return n.Source.PlanBatch(ctx, req)
}

func (n narrowSource) Read(ctx context.Context, req ReadRequest) (FrameReader, error) {
	if err := n.allow(&req.Table); err != nil {
		return nil, err
	}
	return n.Source.Read(ctx, req)
}

func (n narrowSource) Stamp(ctx context.Context, table SourceTable) (Position, error) {
	if err := n.allow(&table); err != nil {
		return Position{}, err
	}
	return n.Source.Stamp(ctx, table)
}

func (n narrowSource) OpenSnapshot(ctx context.Context, req OpenSnapshotRequest) (SnapshotInfo, error) {
	if err := n.allow(&req.Table); err != nil {
		return SnapshotInfo{}, err
	}
	return n.Source.OpenSnapshot(ctx, req)
}

func (n narrowSource) PlanChunks(ctx context.Context, req PlanChunksRequest) ([]Chunk, error) {
	if err := n.allow(&req.Table); err != nil {
		return nil, err
	}
	return n.Source.PlanChunks(ctx, req)
}

func (n narrowSource) Lost(ctx context.Context, req LostRequest) (LostResponse, error) {
	if err := n.allow(&req.Table); err != nil {
		return LostResponse{}, err
	}
	return n.Source.Lost(ctx, req)
}

func (n narrowSource) Aggregate(ctx context.Context, req AggregateRequest) (FrameReader, error) {
	if err := n.allow(&req.Table); err != nil {
		return nil, err
	}
	return n.Source.Aggregate(ctx, req)
}

type narrowLedger struct {
	access Access
	inner  Ledger
}

func (n narrowLedger) ReadLedger(ctx context.Context, target string) (LedgerView, error) {
	if !slices.Contains(n.access.Targets, target) {
		return LedgerView{}, denied("read the ledger of", target)
	}
	return n.inner.ReadLedger(ctx, target)
}

// Chunks of a snapshot are no secret of a target: a snapshot's name is known
// only from a ledger view.
func (n narrowLedger) Chunks(ctx context.Context, snapshot string) ([]ChunkRow, error) {
	return n.inner.Chunks(ctx, snapshot)
}

func (n narrowLedger) Advance(ctx context.Context, req AdvanceRequest) (*int64, error) {
	if !slices.Contains(n.access.Advance, req.Target) {
		return nil, denied("advance", req.Target)
	}
	return n.inner.Advance(ctx, req)
}
