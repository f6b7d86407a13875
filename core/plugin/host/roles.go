package host

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

type sourceSession struct{ *session[plugin.Source] }

func (s *sourceSession) Limits() plugin.Limits { return s.limits }

func (s *sourceSession) Inspect(ctx context.Context, req plugin.InspectRequest) (plugin.InspectResponse, error) {
	res, err := call(ctx, s.session, func(in plugin.Source) (plugin.InspectResponse, error) { return in.Inspect(ctx, req) })
	for i := range res.Tables {
		res.Tables[i].Diagnostics = s.plugin.host.mask.diagnostics(res.Tables[i].Diagnostics)
	}
	// The identity is compared with what is stored, and is the server's word.
	res.Display = s.plugin.host.mask.text(res.Display)
	return res, err
}

func (s *sourceSession) Start(ctx context.Context, req plugin.StartRequest) (plugin.Position, error) {
	return call(ctx, s.session, func(in plugin.Source) (plugin.Position, error) { return in.Start(ctx, req) })
}

func (s *sourceSession) Latest(ctx context.Context, req plugin.LatestRequest) (plugin.LatestResponse, error) {
	return call(ctx, s.session, func(in plugin.Source) (plugin.LatestResponse, error) { return in.Latest(ctx, req) })
}

func (s *sourceSession) PlanBatch(ctx context.Context, req plugin.PlanBatchRequest) (plugin.BatchPlan, error) {
	return call(ctx, s.session, func(in plugin.Source) (plugin.BatchPlan, error) { return in.PlanBatch(ctx, req) })
}

func (s *sourceSession) Read(ctx context.Context, req plugin.ReadRequest) (plugin.FrameReader, error) {
	return frames(ctx, s.session, func(in plugin.Source) (plugin.FrameReader, error) { return in.Read(ctx, req) })
}

func (s *sourceSession) Stamp(ctx context.Context, table plugin.SourceTable) (plugin.Position, error) {
	return call(ctx, s.session, func(in plugin.Source) (plugin.Position, error) { return in.Stamp(ctx, table) })
}

func (s *sourceSession) OpenSnapshot(ctx context.Context, req plugin.OpenSnapshotRequest) (plugin.SnapshotInfo, error) {
	return call(ctx, s.session, func(in plugin.Source) (plugin.SnapshotInfo, error) { return in.OpenSnapshot(ctx, req) })
}

func (s *sourceSession) PlanChunks(ctx context.Context, req plugin.PlanChunksRequest) ([]plugin.Chunk, error) {
	return call(ctx, s.session, func(in plugin.Source) ([]plugin.Chunk, error) { return in.PlanChunks(ctx, req) })
}

func (s *sourceSession) Lost(ctx context.Context, req plugin.LostRequest) (plugin.LostResponse, error) {
	return call(ctx, s.session, func(in plugin.Source) (plugin.LostResponse, error) { return in.Lost(ctx, req) })
}

func (s *sourceSession) Aggregate(ctx context.Context, req plugin.AggregateRequest) (plugin.FrameReader, error) {
	return frames(ctx, s.session, func(in plugin.Source) (plugin.FrameReader, error) { return in.Aggregate(ctx, req) })
}

// tablesSession marks the ids of writes with the process that they live in: a
// new process may give the same id to another write.
type tablesSession struct{ *session[plugin.Tables] }

func (s *tablesSession) Limits() plugin.Limits { return s.limits }

func (s *tablesSession) GetTables(ctx context.Context, req plugin.GetTablesRequest) ([]plugin.TableState, error) {
	return call(ctx, s.session, func(in plugin.Tables) ([]plugin.TableState, error) { return in.GetTables(ctx, req) })
}

func (s *tablesSession) PlanTable(ctx context.Context, spec plugin.TableSpec) (plugin.TablePlan, error) {
	return call(ctx, s.session, func(in plugin.Tables) (plugin.TablePlan, error) { return in.PlanTable(ctx, spec) })
}

func (s *tablesSession) ApplyTable(ctx context.Context, req plugin.ApplyTableRequest) (plugin.ApplyTableResult, error) {
	return call(ctx, s.session, func(in plugin.Tables) (plugin.ApplyTableResult, error) { return in.ApplyTable(ctx, req) })
}

func (s *tablesSession) Scan(ctx context.Context, req plugin.ScanRequest) (plugin.FrameReader, error) {
	return frames(ctx, s.session, func(in plugin.Tables) (plugin.FrameReader, error) { return in.Scan(ctx, req) })
}

func (s *tablesSession) History(ctx context.Context, req plugin.HistoryRequest) ([]plugin.Commit, error) {
	return call(ctx, s.session, func(in plugin.Tables) ([]plugin.Commit, error) { return in.History(ctx, req) })
}

func (s *tablesSession) BeginWrite(ctx context.Context, req plugin.BeginWriteRequest) (plugin.BeginWriteResponse, error) {
	o, proc, err := s.on(ctx)
	if err != nil {
		return plugin.BeginWriteResponse{}, err
	}
	res, err := o.inner.BeginWrite(ctx, req)
	if err != nil {
		return plugin.BeginWriteResponse{}, s.plugin.judge(proc, err)
	}
	if !res.Already {
		res.WriteID = fmt.Sprintf("%d/%s", o.generation, res.WriteID)
	}
	return res, nil
}

// inWrite calls in the process that has a write; when it is another one now,
// the write is lost and to be begun again.
func inWrite[T any](ctx context.Context, s *tablesSession, writeID string, do func(plugin.Tables, string) (T, error)) (T, error) {
	var none T
	o, proc, err := s.on(ctx)
	if err != nil {
		return none, err
	}
	generation, id, ok := strings.Cut(writeID, "/")
	switch {
	case !ok, generation != strconv.Itoa(o.generation) && o.before == nil:
		return none, diag.Errorf(diag.KindInternal, "plugin.write", "", "There is no write %q", writeID).Err()
	case generation != strconv.Itoa(o.generation):
		return none, o.before.lostWrite().Err()
	}
	out, err := do(o.inner, id)
	if err != nil {
		return none, s.plugin.judge(proc, err)
	}
	return out, nil
}

func (s *tablesSession) WritePart(ctx context.Context, req plugin.WritePartRequest, in plugin.FrameReader) (plugin.Part, error) {
	defer in.Close()
	part, err := inWrite(ctx, s, req.WriteID, func(tables plugin.Tables, id string) (plugin.Part, error) {
		req.WriteID = id
		return tables.WritePart(ctx, req, in)
	})
	// Of two plugins, the one that sends may have died, too.
	if list := diag.FromError(err); len(list) == 1 && list[0].Code == plugin.CodeCrashed && list[0].Data["plugin"] == s.plugin.spec.Name {
		err = lostWith(list[0]).Err()
	}
	return part, err
}

func (s *tablesSession) Commit(ctx context.Context, req plugin.CommitRequest) (plugin.CommitResult, error) {
	return inWrite(ctx, s, req.WriteID, func(tables plugin.Tables, id string) (plugin.CommitResult, error) {
		req.WriteID = id
		return tables.Commit(ctx, req)
	})
}

func (s *tablesSession) Abort(ctx context.Context, writeID string) error {
	_, err := inWrite(ctx, s, writeID, func(tables plugin.Tables, id string) (struct{}, error) {
		return struct{}{}, tables.Abort(ctx, id)
	})
	return err
}

func (s *tablesSession) PutObject(ctx context.Context, obj plugin.Object, onlyIfAbsent bool) error {
	_, err := call(ctx, s.session, func(in plugin.Tables) (struct{}, error) { return struct{}{}, in.PutObject(ctx, obj, onlyIfAbsent) })
	return err
}

func (s *tablesSession) GetObject(ctx context.Context, key string) (plugin.Object, bool, error) {
	found := false
	obj, err := call(ctx, s.session, func(in plugin.Tables) (obj plugin.Object, err error) {
		obj, found, err = in.GetObject(ctx, key)
		return obj, err
	})
	return obj, found && err == nil, err
}

func (s *tablesSession) ListObjects(ctx context.Context, prefix, startAfter string) ([]string, error) {
	return call(ctx, s.session, func(in plugin.Tables) ([]string, error) { return in.ListObjects(ctx, prefix, startAfter) })
}

func (s *tablesSession) ProbeObjects(ctx context.Context, prefix string) error {
	_, err := call(ctx, s.session, func(in plugin.Tables) (struct{}, error) {
		if prober, ok := in.(plugin.ObjectProber); ok {
			return struct{}{}, prober.ProbeObjects(ctx, prefix)
		}
		return struct{}{}, nil
	})
	return err
}

func (s *tablesSession) DeleteObject(ctx context.Context, key string) error {
	_, err := call(ctx, s.session, func(in plugin.Tables) (struct{}, error) { return struct{}{}, in.DeleteObject(ctx, key) })
	return err
}

type silverSession struct{ *session[plugin.Silver] }

func (s *silverSession) PlanSilver(ctx context.Context, req plugin.SilverRequest, host plugin.Host) (plugin.SilverPlan, error) {
	plan, err := call(ctx, s.session, func(in plugin.Silver) (plugin.SilverPlan, error) { return in.PlanSilver(ctx, req, host) })
	plan.Diagnostics = s.plugin.host.mask.diagnostics(plan.Diagnostics)
	plan.Pending = s.plugin.host.mask.text(plan.Pending)
	return plan, err
}

func (s *silverSession) RunSilver(ctx context.Context, req plugin.SilverRequest, host plugin.Host, progress func(plugin.Progress)) (plugin.SilverResult, error) {
	res, err := call(ctx, s.session, func(in plugin.Silver) (plugin.SilverResult, error) { return in.RunSilver(ctx, req, host, progress) })
	res.Diagnostics = s.plugin.host.mask.diagnostics(res.Diagnostics)
	return res, err
}

type checkSession struct{ *session[plugin.Check] }

func (s *checkSession) PlanCheck(ctx context.Context, req plugin.CheckRequest, host plugin.Host) (plugin.CheckPlan, error) {
	plan, err := call(ctx, s.session, func(in plugin.Check) (plugin.CheckPlan, error) { return in.PlanCheck(ctx, req, host) })
	plan.Diagnostics = s.plugin.host.mask.diagnostics(plan.Diagnostics)
	plan.Summary = s.plugin.host.mask.text(plan.Summary)
	return plan, err
}

func (s *checkSession) RunCheck(ctx context.Context, req plugin.CheckRequest, host plugin.Host, events plugin.CheckEvents) (plugin.CheckResult, error) {
	res, err := call(ctx, s.session, func(in plugin.Check) (plugin.CheckResult, error) { return in.RunCheck(ctx, req, host, events) })
	res.Diagnostics = s.plugin.host.mask.diagnostics(res.Diagnostics)
	return res, err
}
