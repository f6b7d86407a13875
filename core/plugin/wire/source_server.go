package wire

import (
	"context"
	"slices"

	"google.golang.org/grpc"

	"github.com/pipectl/pipectl/core/plugin"
	pb "github.com/pipectl/pipectl/core/proto/pipectl/plugin/v1"
)

// sourceServer serves the source role: a plugin's sessions, or what the host
// grants of one.
type sourceServer struct {
	pb.UnimplementedSourceServiceServer
	find func(session string) (plugin.Source, error)
}

// on finds the session and the table of a request and runs do with them.
func (s *sourceServer) on(session string, table *pb.SourceTable, do func(plugin.Source, plugin.SourceTable) error) error {
	source, err := s.find(session)
	if err != nil {
		return err
	}
	t, err := sourceTableFromProto(table)
	if err != nil {
		return err
	}
	return do(source, t)
}

func (s *sourceServer) Inspect(ctx context.Context, r *pb.InspectRequest) (*pb.InspectResponse, error) {
	out := &pb.InspectResponse{}
	var list []*pb.Diagnostic
	err := respond(ctx, &list, func() error {
		source, err := s.find(r.Session)
		if err != nil {
			return err
		}
		tables, err := tryEach(r.Tables, sourceTableFromProto)
		if err != nil {
			return err
		}
		req := plugin.InspectRequest{Tables: tables, PendingLimit: r.PendingLimit, Since: map[string]plugin.Position{}, Identities: r.Identities}
		for address, p := range r.Since {
			req.Since[address] = positionFromProto(p)
		}
		res, err := source.Inspect(ctx, req)
		out = inspectToProto(res)
		return err
	})
	out.Diagnostics = list
	return out, err
}

func (s *sourceServer) Start(ctx context.Context, r *pb.StartRequest) (*pb.PositionResponse, error) {
	out := &pb.PositionResponse{}
	return out, respond(ctx, &out.Diagnostics, func() error {
		return s.on(r.Session, r.Table, func(source plugin.Source, t plugin.SourceTable) error {
			p, err := source.Start(ctx, plugin.StartRequest{Table: t, From: r.From})
			out.Position = positionToProto(p)
			return err
		})
	})
}

func (s *sourceServer) Latest(ctx context.Context, r *pb.LatestRequest) (*pb.LatestResponse, error) {
	out := &pb.LatestResponse{}
	return out, respond(ctx, &out.Diagnostics, func() error {
		return s.on(r.Session, r.Table, func(source plugin.Source, t plugin.SourceTable) error {
			res, err := source.Latest(ctx, plugin.LatestRequest{
				Table: t, After: positionFromProto(r.After), Until: positionFromProto(r.Until), MaxCommits: int(r.MaxCommits), CaptureLag: r.CaptureLag,
			})
			out.End, out.Newest = positionToProto(res.End), positionToProto(res.Newest)
			if res.CaptureLag != nil {
				out.CaptureLagUs = new(res.CaptureLag.Microseconds())
			}
			return err
		})
	})
}

func (s *sourceServer) PlanBatch(ctx context.Context, r *pb.PlanBatchRequest) (*pb.PlanBatchResponse, error) {
	out := &pb.PlanBatchResponse{}
	var warnings []*pb.Diagnostic
	err := respond(ctx, &out.Diagnostics, func() error {
		return s.on(r.Session, r.Table, func(source plugin.Source, t plugin.SourceTable) error {
			res, err := source.PlanBatch(ctx, plugin.PlanBatchRequest{
				Table: t, Start: positionFromProto(r.Start), End: positionFromProto(r.End), SkipLost: r.SkipLost,
			})
			out.Ranges = each(res.Ranges, func(r plugin.Range) []byte { return r })
			out.Events, out.Schema, out.Discontinued = each(res.Events, eventToProto), schemaToProto(res.Schema), res.Discontinued
			warnings = diagnosticsToProto(res.Warnings.Warnings())
			return err
		})
	})
	out.Diagnostics = append(out.Diagnostics, warnings...)
	return out, err
}

func (s *sourceServer) Read(r *pb.ReadRequest, stream grpc.ServerStreamingServer[pb.Frame]) error {
	return serveFrames(stream, func(ctx context.Context) (plugin.FrameReader, error) {
		source, err := s.find(r.Session)
		if err != nil {
			return nil, err
		}
		req, err := readFromProto(r)
		if err != nil {
			return nil, err
		}
		return source.Read(ctx, req)
	})
}

// serveFrames opens a stream and sends it; an error of opening is its Failure.
func serveFrames(stream grpc.ServerStreamingServer[pb.Frame], open func(context.Context) (plugin.FrameReader, error)) error {
	ctx := stream.Context()
	frames, err := open(ctx)
	if err == nil {
		return sendFrames(ctx, frames, stream.Send)
	}
	list, err := failure(ctx, err)
	if err != nil {
		return err
	}
	return stream.Send(&pb.Frame{Kind: &pb.Frame_Failure{Failure: &pb.Failure{Diagnostics: list}}})
}

func (s *sourceServer) Stamp(ctx context.Context, r *pb.StampRequest) (*pb.PositionResponse, error) {
	out := &pb.PositionResponse{}
	return out, respond(ctx, &out.Diagnostics, func() error {
		return s.on(r.Session, r.Table, func(source plugin.Source, t plugin.SourceTable) error {
			p, err := source.Stamp(ctx, t)
			out.Position = positionToProto(p)
			return err
		})
	})
}

func (s *sourceServer) OpenSnapshot(ctx context.Context, r *pb.OpenSnapshotRequest) (*pb.OpenSnapshotResponse, error) {
	out := &pb.OpenSnapshotResponse{}
	var list []*pb.Diagnostic
	err := respond(ctx, &list, func() error {
		return s.on(r.Session, r.Table, func(source plugin.Source, t plugin.SourceTable) error {
			info, err := source.OpenSnapshot(ctx, plugin.OpenSnapshotRequest{Table: t})
			out = snapshotToProto(info)
			return err
		})
	})
	out.Diagnostics = list
	return out, err
}

func (s *sourceServer) PlanChunks(r *pb.PlanChunksRequest, stream grpc.ServerStreamingServer[pb.PlanChunksResponse]) error {
	ctx := stream.Context()
	var chunks []plugin.Chunk
	out := &pb.PlanChunksResponse{}
	err := respond(ctx, &out.Diagnostics, func() error {
		return s.on(r.Session, r.Table, func(source plugin.Source, t plugin.SourceTable) (err error) {
			chunks, err = source.PlanChunks(ctx, plugin.PlanChunksRequest{
				Table: t, Keys: r.Keys, Extent: r.Extent, Parts: int(r.Parts), ChunkRows: r.ChunkRows, Isolation: r.Isolation,
			})
			return err
		})
	})
	if err != nil || len(out.Diagnostics) > 0 {
		return sendLast(stream, out, err)
	}
	return sendPages(each(chunks, chunkToProto), func(page []*pb.Chunk, end bool) error {
		return stream.Send(&pb.PlanChunksResponse{Chunks: page, End: end})
	})
}

// pageSize bounds the entries of one message of a list.
const pageSize = 1000

// sendPages sends a list in pages, the last of which says so.
func sendPages[T any](list []T, send func(page []T, end bool) error) error {
	for page := range slices.Chunk(list, pageSize) {
		if err := send(page, false); err != nil {
			return err
		}
	}
	return send(nil, true)
}

// sendLast sends a response that carries diagnostics, unless the call failed
// with a status.
func sendLast[T any](stream grpc.ServerStreamingServer[T], out *T, err error) error {
	if err != nil {
		return err
	}
	return stream.Send(out)
}

func (s *sourceServer) Lost(ctx context.Context, r *pb.LostRequest) (*pb.LostResponse, error) {
	out := &pb.LostResponse{}
	return out, respond(ctx, &out.Diagnostics, func() error {
		return s.on(r.Session, r.Table, func(source plugin.Source, t plugin.SourceTable) error {
			res, err := source.Lost(ctx, plugin.LostRequest{Table: t, Positions: each(r.Positions, positionFromProto)})
			out.Lost, out.Oldest = res.Lost, positionToProto(res.Oldest)
			return err
		})
	})
}

func (s *sourceServer) Aggregate(r *pb.AggregateRequest, stream grpc.ServerStreamingServer[pb.Frame]) error {
	return serveFrames(stream, func(ctx context.Context) (plugin.FrameReader, error) {
		source, err := s.find(r.Session)
		if err != nil {
			return nil, err
		}
		req, err := aggregateFromProto(r)
		if err != nil {
			return nil, err
		}
		return source.Aggregate(ctx, req)
	})
}
