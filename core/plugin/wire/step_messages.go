package wire

import (
	"fmt"
	"time"

	"github.com/pipectl/pipectl/core/plugin"
	pb "github.com/pipectl/pipectl/core/proto/pipectl/plugin/v1"
)

func targetToProto(p plugin.TargetPosition) *pb.TargetPosition {
	return &pb.TargetPosition{Applied: p.Applied, RebuiltFrom: p.RebuiltFrom, Open: p.Open, Wave: p.Wave, Version: p.Version, Foreign: p.Foreign, Merge: p.Merge}
}

func targetFromProto(p *pb.TargetPosition) plugin.TargetPosition {
	if p == nil {
		return plugin.TargetPosition{}
	}
	return plugin.TargetPosition{Applied: p.Applied, RebuiltFrom: p.RebuiltFrom, Open: p.Open, Wave: p.Wave, Version: p.Version, Foreign: p.Foreign, Merge: p.Merge}
}

func viewToProto(v plugin.LedgerView) *pb.ReadLedgerResponse {
	out := &pb.ReadLedgerResponse{
		BronzeEnd: positionToProto(v.BronzeEnd), Position: targetToProto(v.Position), VerdictUs: v.Verdict,
		Snapshot: v.Snapshot, FactsTargets: v.FactsTargets,
	}
	if v.Open != nil {
		out.Open = &pb.ReadLedgerResponse_OpenSnapshot{Snapshot: v.Open.Snapshot, Keys: v.Open.Keys}
	}
	return out
}

func viewFromProto(v *pb.ReadLedgerResponse) plugin.LedgerView {
	out := plugin.LedgerView{
		BronzeEnd: positionFromProto(v.BronzeEnd), Position: targetFromProto(v.Position), Verdict: v.VerdictUs,
		Snapshot: v.Snapshot, FactsTargets: v.FactsTargets,
	}
	if v.Open != nil {
		out.Open = &plugin.OpenSnapshot{Snapshot: v.Open.Snapshot, Keys: v.Open.Keys}
	}
	return out
}

func chunkRowToProto(c plugin.ChunkRow) *pb.ChunksResponse_Row {
	return &pb.ChunksResponse_Row{Index: c.Index, Wave: c.Wave, Stamp: c.Stamp, High: c.High, Rows: c.Rows, Lo: c.Lo, Hi: c.Hi, Last: c.Last}
}

func chunkRowFromProto(c *pb.ChunksResponse_Row) plugin.ChunkRow {
	return plugin.ChunkRow{Index: c.Index, Wave: c.Wave, Stamp: c.Stamp, High: c.High, Rows: c.Rows, Lo: c.Lo, Hi: c.Hi, Last: c.Last}
}

func silverToProto(session, grant string, r plugin.SilverRequest, host plugin.Host) (*pb.SilverRequest, error) {
	body, err := valueToProto(r.Body)
	if err != nil {
		return nil, fmt.Errorf("the body of %s: %w", r.Address, err)
	}
	return &pb.SilverRequest{
		Session: session, Grant: grant, Address: r.Address, Body: body, Input: tableToProto(r.Input), Target: tableToProto(r.Target),
		Until: positionToProto(r.Until), Key: r.Key, Instances: r.Instances, InputSchema: schemaToProto(r.InputSchema),
		TablesLimits: limitsToProto(host.Tables.Limits()), SourceLimits: sourceLimits(host),
	}, nil
}

func silverFromProto(r *pb.SilverRequest) (plugin.SilverRequest, error) {
	body, err := valueFromProto(r.Body)
	if err != nil {
		return plugin.SilverRequest{}, fmt.Errorf("the body of %s: %w", r.Address, err)
	}
	schema, err := schemaFromProto(r.InputSchema)
	if err != nil {
		return plugin.SilverRequest{}, fmt.Errorf("the input's schema of %s: %w", r.Address, err)
	}
	return plugin.SilverRequest{
		Address: r.Address, Body: body, Input: tableFromProto(r.Input), Target: tableFromProto(r.Target),
		Until: positionFromProto(r.Until), Key: r.Key, Instances: r.Instances, InputSchema: schema,
	}, nil
}

func silverResultToProto(r plugin.SilverResult) *pb.RunSilverResponse_Result {
	return &pb.RunSilverResponse_Result{
		Rebuilt: r.Rebuilt, BronzeFound: r.BronzeFound, Position: targetToProto(r.Position), VerdictUs: r.Verdict,
		RowsRead: r.RowsRead, Inserted: r.Inserted, Updated: r.Updated, Deleted: r.Deleted, Version: r.Version,
		Diagnostics: diagnosticsToProto(r.Diagnostics),
	}
}

func silverResultFromProto(r *pb.RunSilverResponse_Result) plugin.SilverResult {
	return plugin.SilverResult{
		Rebuilt: r.Rebuilt, BronzeFound: r.BronzeFound, Position: targetFromProto(r.Position), Verdict: r.VerdictUs,
		RowsRead: r.RowsRead, Inserted: r.Inserted, Updated: r.Updated, Deleted: r.Deleted, Version: r.Version,
		Diagnostics: diagnosticsFromProto(r.Diagnostics),
	}
}

func progressToProto(p plugin.Progress) *pb.Progress {
	return &pb.Progress{Stage: p.Stage, Rows: p.Rows, RowsTotal: p.RowsTotal}
}

func progressFromProto(p *pb.Progress) plugin.Progress {
	return plugin.Progress{Stage: p.Stage, Rows: p.Rows, RowsTotal: p.RowsTotal}
}

func checkToProto(session, grant string, r plugin.CheckRequest, host plugin.Host) (*pb.CheckRequest, error) {
	body, err := valueToProto(r.Body)
	if err != nil {
		return nil, fmt.Errorf("the body of %s: %w", r.Address, err)
	}
	source, err := sourceTableToProto(r.Source)
	if err != nil {
		return nil, err
	}
	return &pb.CheckRequest{
		Session: session, Grant: grant, Address: r.Address, Body: body, Source: source, Object: r.Object, SourceSchema: schemaToProto(r.SourceSchema),
		Silver: tableToProto(r.Silver), Bronze: tableToProto(r.Bronze), Key: r.Key, Settle: r.Settle, Keys: r.Keys, Again: keyRangesToProto(r.Again), AwaitCaptureMs: r.AwaitCapture.Milliseconds(), Instances: r.Instances,
		TablesLimits: limitsToProto(host.Tables.Limits()), SourceLimits: sourceLimits(host),
	}, nil
}

func checkFromProto(r *pb.CheckRequest) (plugin.CheckRequest, error) {
	body, err := valueFromProto(r.Body)
	if err != nil {
		return plugin.CheckRequest{}, fmt.Errorf("the body of %s: %w", r.Address, err)
	}
	source, err := sourceTableFromProto(r.Source)
	if err != nil {
		return plugin.CheckRequest{}, err
	}
	schema, err := schemaFromProto(r.SourceSchema)
	if err != nil {
		return plugin.CheckRequest{}, fmt.Errorf("the source's schema of %s: %w", r.Address, err)
	}
	return plugin.CheckRequest{
		Address: r.Address, Body: body, Source: source, Object: r.Object, SourceSchema: schema,
		Silver: tableFromProto(r.Silver), Bronze: tableFromProto(r.Bronze), Key: r.Key, Settle: r.Settle, Keys: r.Keys, Again: keyRangesFromProto(r.Again), AwaitCapture: time.Duration(r.AwaitCaptureMs) * time.Millisecond, Instances: r.Instances,
	}, nil
}

func keyRangesToProto(list []plugin.KeyRange) []*pb.KeyRange {
	var out []*pb.KeyRange
	for _, r := range list {
		out = append(out, &pb.KeyRange{Lo: r.Lo, Hi: r.Hi})
	}
	return out
}

func keyRangesFromProto(list []*pb.KeyRange) []plugin.KeyRange {
	var out []plugin.KeyRange
	for _, r := range list {
		out = append(out, plugin.KeyRange{Lo: r.GetLo(), Hi: r.GetHi()})
	}
	return out
}

func findingToProto(f plugin.Finding) *pb.RunCheckResponse_Finding {
	return &pb.RunCheckResponse_Finding{Kind: f.Kind, Key: f.Key, Columns: f.Columns, Lo: f.Lo, Hi: f.Hi, Detail: f.Detail}
}

func findingFromProto(f *pb.RunCheckResponse_Finding) plugin.Finding {
	return plugin.Finding{Kind: f.Kind, Key: f.Key, Columns: f.Columns, Lo: f.Lo, Hi: f.Hi, Detail: f.Detail}
}

func checkResultToProto(r plugin.CheckResult) (*pb.RunCheckResponse_Result, error) {
	outcome, err := checkOutcomes.number(r.Outcome)
	return &pb.RunCheckResponse_Result{
		RunId: r.RunID, Outcome: outcome, Buckets: r.Buckets, Match: r.Match, InFlight: r.InFlight, Mismatch: r.Mismatch, Hashed: r.Hashed,
		Failures: r.Failures, SourceRows: r.SourceRows, SilverRows: r.SilverRows, SilverVersion: r.SilverVersion,
		SilverApplied: r.SilverApplied, SourceEnd: r.SourceEnd, Diagnostics: diagnosticsToProto(r.Diagnostics),
		AllRowsCompared: r.AllRowsCompared, LookedAgain: r.LookedAgain,
	}, err
}

func checkResultFromProto(r *pb.RunCheckResponse_Result) (plugin.CheckResult, error) {
	outcome, err := checkOutcomes.text(r.Outcome)
	return plugin.CheckResult{
		RunID: r.RunId, Outcome: outcome, Buckets: r.Buckets, Match: r.Match, InFlight: r.InFlight, Mismatch: r.Mismatch, Hashed: r.Hashed,
		Failures: r.Failures, SourceRows: r.SourceRows, SilverRows: r.SilverRows, SilverVersion: r.SilverVersion,
		SilverApplied: r.SilverApplied, SourceEnd: r.SourceEnd, Diagnostics: diagnosticsFromProto(r.Diagnostics),
		AllRowsCompared: r.AllRowsCompared, LookedAgain: r.LookedAgain,
	}, err
}

func limitsToProto(l plugin.Limits) *pb.Limits {
	return &pb.Limits{MaxReads: int32(l.MaxReads), MaxParts: int32(l.MaxParts)}
}

func limitsFromProto(l *pb.Limits) plugin.Limits {
	return plugin.Limits{MaxReads: int(l.GetMaxReads()), MaxParts: int(l.GetMaxParts())}
}

// sourceLimits is nil when the step has no source.
func sourceLimits(host plugin.Host) *pb.Limits {
	if host.Source == nil {
		return nil
	}
	return limitsToProto(host.Source.Limits())
}
