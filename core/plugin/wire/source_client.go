package wire

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"

	"github.com/pipectl/pipectl/core/plugin"
	pb "github.com/pipectl/pipectl/core/proto/pipectl/plugin/v1"
)

// sourceClient is a source session of another process, or a granted one.
type sourceClient struct {
	client  pb.SourceServiceClient
	session string
	limits  plugin.Limits
	close   func() error
	verify  bool
}

func (s *sourceClient) Limits() plugin.Limits { return s.limits }
func (s *sourceClient) Close() error          { return s.close() }

func (s *sourceClient) Inspect(ctx context.Context, req plugin.InspectRequest) (plugin.InspectResponse, error) {
	tables, err := tryEach(req.Tables, sourceTableToProto)
	if err != nil {
		return plugin.InspectResponse{}, err
	}
	msg := &pb.InspectRequest{Session: s.session, Tables: tables, PendingLimit: req.PendingLimit, Since: map[string]*pb.Position{}, Identities: req.Identities}
	for address, p := range req.Since {
		// A zero position is asked for too; it must not be left out.
		msg.Since[address] = &pb.Position{}
		if sent := positionToProto(p); sent != nil {
			msg.Since[address] = sent
		}
	}
	res, err := s.client.Inspect(ctx, msg)
	if err := answered(ctx, res.GetDiagnostics(), err); err != nil {
		return plugin.InspectResponse{}, err
	}
	return inspectFromProto(res)
}

func (s *sourceClient) Start(ctx context.Context, req plugin.StartRequest) (plugin.Position, error) {
	table, err := sourceTableToProto(req.Table)
	if err != nil {
		return plugin.Position{}, err
	}
	res, err := s.client.Start(ctx, &pb.StartRequest{Session: s.session, Table: table, From: req.From})
	return positionFromProto(res.GetPosition()), answered(ctx, res.GetDiagnostics(), err)
}

func (s *sourceClient) Latest(ctx context.Context, req plugin.LatestRequest) (plugin.LatestResponse, error) {
	table, err := sourceTableToProto(req.Table)
	if err != nil {
		return plugin.LatestResponse{}, err
	}
	res, err := s.client.Latest(ctx, &pb.LatestRequest{
		Session: s.session, Table: table, After: positionToProto(req.After), Until: positionToProto(req.Until), MaxCommits: int64(req.MaxCommits), CaptureLag: req.CaptureLag,
	})
	out := plugin.LatestResponse{End: positionFromProto(res.GetEnd()), Newest: positionFromProto(res.GetNewest())}
	if res != nil && res.CaptureLagUs != nil {
		out.CaptureLag = new(time.Duration(*res.CaptureLagUs) * time.Microsecond)
	}
	return out, answered(ctx, res.GetDiagnostics(), err)
}

func (s *sourceClient) PlanBatch(ctx context.Context, req plugin.PlanBatchRequest) (plugin.BatchPlan, error) {
	table, err := sourceTableToProto(req.Table)
	if err != nil {
		return plugin.BatchPlan{}, err
	}
	res, err := s.client.PlanBatch(ctx, &pb.PlanBatchRequest{
		Session: s.session, Table: table, Start: positionToProto(req.Start), End: positionToProto(req.End), SkipLost: req.SkipLost,
	})
	if err := answered(ctx, res.GetDiagnostics(), err); err != nil {
		return plugin.BatchPlan{}, err
	}
	schema, err := schemaFromProto(res.Schema)
	if err != nil {
		return plugin.BatchPlan{}, fmt.Errorf("the schema of a batch of %s: %w", req.Table.Address, err)
	}
	return plugin.BatchPlan{
		Ranges: each(res.Ranges, func(r []byte) plugin.Range { return r }),
		Events: each(res.Events, eventFromProto), Warnings: diagnosticsFromProto(res.Diagnostics).Warnings(), Schema: schema,
		Discontinued: res.Discontinued,
	}, nil
}

func (s *sourceClient) Read(ctx context.Context, req plugin.ReadRequest) (plugin.FrameReader, error) {
	msg, err := readToProto(s.session, req)
	if err != nil {
		return nil, err
	}
	return receive(ctx, "the rows of "+req.Table.Address, s.verify, func(ctx context.Context) (grpc.ServerStreamingClient[pb.Frame], error) {
		return s.client.Read(ctx, msg)
	})
}

func (s *sourceClient) Stamp(ctx context.Context, table plugin.SourceTable) (plugin.Position, error) {
	t, err := sourceTableToProto(table)
	if err != nil {
		return plugin.Position{}, err
	}
	res, err := s.client.Stamp(ctx, &pb.StampRequest{Session: s.session, Table: t})
	return positionFromProto(res.GetPosition()), answered(ctx, res.GetDiagnostics(), err)
}

func (s *sourceClient) OpenSnapshot(ctx context.Context, req plugin.OpenSnapshotRequest) (plugin.SnapshotInfo, error) {
	table, err := sourceTableToProto(req.Table)
	if err != nil {
		return plugin.SnapshotInfo{}, err
	}
	res, err := s.client.OpenSnapshot(ctx, &pb.OpenSnapshotRequest{Session: s.session, Table: table})
	if err := answered(ctx, res.GetDiagnostics(), err); err != nil {
		return plugin.SnapshotInfo{}, err
	}
	return snapshotFromProto(res)
}

func (s *sourceClient) PlanChunks(ctx context.Context, req plugin.PlanChunksRequest) ([]plugin.Chunk, error) {
	table, err := sourceTableToProto(req.Table)
	if err != nil {
		return nil, err
	}
	return collect(ctx, "chunks of "+req.Table.Address, func(ctx context.Context) (grpc.ServerStreamingClient[pb.PlanChunksResponse], error) {
		return s.client.PlanChunks(ctx, &pb.PlanChunksRequest{
			Session: s.session, Table: table, Keys: req.Keys, Extent: req.Extent, Parts: int64(req.Parts), ChunkRows: req.ChunkRows, Isolation: req.Isolation,
		})
	}, func(p *pb.PlanChunksResponse) []plugin.Chunk { return each(p.Chunks, chunkFromProto) })
}

func (s *sourceClient) Lost(ctx context.Context, req plugin.LostRequest) (plugin.LostResponse, error) {
	table, err := sourceTableToProto(req.Table)
	if err != nil {
		return plugin.LostResponse{}, err
	}
	res, err := s.client.Lost(ctx, &pb.LostRequest{Session: s.session, Table: table, Positions: each(req.Positions, func(p plugin.Position) *pb.Position {
		if sent := positionToProto(p); sent != nil {
			return sent
		}
		return &pb.Position{}
	})})
	return plugin.LostResponse{Lost: res.GetLost(), Oldest: positionFromProto(res.GetOldest())}, answered(ctx, res.GetDiagnostics(), err)
}

func (s *sourceClient) Aggregate(ctx context.Context, req plugin.AggregateRequest) (plugin.FrameReader, error) {
	msg, err := aggregateToProto(s.session, req)
	if err != nil {
		return nil, err
	}
	return receive(ctx, fmt.Sprintf("the %s of %s", req.Kind, req.Table.Address), s.verify, func(ctx context.Context) (grpc.ServerStreamingClient[pb.Frame], error) {
		return s.client.Aggregate(ctx, msg)
	})
}
