package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/rows"
	pb "github.com/pipectl/pipectl/core/proto/pipectl/plugin/v1"
)

// tablesServer serves the tables role: a sink's sessions, or what the host
// grants of one. verify is set where received rows end, in a sink; the host
// relays them unread.
type tablesServer struct {
	pb.UnimplementedTablesServiceServer
	find   func(session string) (plugin.Tables, error)
	verify bool
}

func (s *tablesServer) on(session string, do func(plugin.Tables) error) error {
	tables, err := s.find(session)
	if err != nil {
		return err
	}
	return do(tables)
}

func (s *tablesServer) GetTables(ctx context.Context, r *pb.GetTablesRequest) (*pb.GetTablesResponse, error) {
	out := &pb.GetTablesResponse{}
	return out, respond(ctx, &out.Diagnostics, func() error {
		return s.on(r.Session, func(tables plugin.Tables) error {
			states, err := tables.GetTables(ctx, plugin.GetTablesRequest{Tables: each(r.Tables, tableFromProto), AppIDs: r.AppIds})
			out.Tables = each(states, stateToProto)
			return err
		})
	})
}

func (s *tablesServer) PlanTable(ctx context.Context, r *pb.PlanTableRequest) (*pb.PlanTableResponse, error) {
	out := &pb.PlanTableResponse{}
	return out, respond(ctx, &out.Diagnostics, func() error {
		return s.on(r.Session, func(tables plugin.Tables) error {
			spec, err := specFromProto(r.Spec)
			if err != nil {
				return err
			}
			plan, err := tables.PlanTable(ctx, spec)
			if err != nil {
				return err
			}
			out.Changes, out.Id, out.Version = plan.Changes, plan.ID, plan.Version
			out.Action, err = tableActions.number(plan.Action)
			return err
		})
	})
}

func (s *tablesServer) ApplyTable(ctx context.Context, r *pb.ApplyTableRequest) (*pb.ApplyTableResponse, error) {
	out := &pb.ApplyTableResponse{}
	return out, respond(ctx, &out.Diagnostics, func() error {
		return s.on(r.Session, func(tables plugin.Tables) error {
			spec, err := specFromProto(r.Spec)
			if err != nil {
				return err
			}
			res, err := tables.ApplyTable(ctx, plugin.ApplyTableRequest{Spec: spec, RequireID: r.RequireId})
			if err != nil {
				return err
			}
			out.Id, out.Version = res.ID, res.Version
			out.Action, err = tableActions.number(res.Action)
			return err
		})
	})
}

func (s *tablesServer) Scan(r *pb.ScanRequest, stream grpc.ServerStreamingServer[pb.Frame]) error {
	return serveFrames(stream, func(ctx context.Context) (plugin.FrameReader, error) {
		tables, err := s.find(r.Session)
		if err != nil {
			return nil, err
		}
		filter, err := filterFromProto(r.Filter)
		if err != nil {
			return nil, err
		}
		return tables.Scan(ctx, plugin.ScanRequest{Table: tableFromProto(r.Table), Version: r.Version, Columns: columnsFromProto(r.Columns), Filter: filter, Ordered: r.Ordered})
	})
}

func (s *tablesServer) History(r *pb.HistoryRequest, stream grpc.ServerStreamingServer[pb.HistoryResponse]) error {
	ctx := stream.Context()
	var commits []plugin.Commit
	out := &pb.HistoryResponse{}
	err := respond(ctx, &out.Diagnostics, func() error {
		return s.on(r.Session, func(tables plugin.Tables) (err error) {
			commits, err = tables.History(ctx, plugin.HistoryRequest{Table: tableFromProto(r.Table), After: r.After, Limit: int(r.Limit)})
			return err
		})
	})
	if err != nil || len(out.Diagnostics) > 0 {
		return sendLast(stream, out, err)
	}
	return sendPages(each(commits, commitToProto), func(page []*pb.HistoryResponse_Commit, end bool) error {
		return stream.Send(&pb.HistoryResponse{Commits: page, End: end})
	})
}

func (s *tablesServer) BeginWrite(ctx context.Context, r *pb.BeginWriteRequest) (*pb.BeginWriteResponse, error) {
	out := &pb.BeginWriteResponse{}
	return out, respond(ctx, &out.Diagnostics, func() error {
		return s.on(r.Session, func(tables plugin.Tables) error {
			req, err := beginWriteFromProto(r)
			if err != nil {
				return err
			}
			res, err := tables.BeginWrite(ctx, req)
			out.WriteId, out.Already, out.Version = res.WriteID, res.Already, res.Version
			return err
		})
	})
}

// WritePart answers Opened when the implementation asks for the first frame,
// which by contract it does once its part is open.
func (s *tablesServer) WritePart(stream grpc.BidiStreamingServer[pb.WritePartRequest, pb.WritePartResponse]) error {
	ctx := stream.Context()
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	open := first.GetOpen()
	if open == nil {
		return status.Error(codes.InvalidArgument, "the first message of WritePart is not Open")
	}
	part, err := s.writePart(ctx, open, stream)
	if err != nil {
		list, err := failure(ctx, err)
		if err != nil {
			return err
		}
		return stream.Send(&pb.WritePartResponse{Step: &pb.WritePartResponse_Failure{Failure: &pb.Failure{Diagnostics: list}}})
	}
	return stream.Send(&pb.WritePartResponse{Step: &pb.WritePartResponse_Part_{Part: &pb.WritePartResponse_Part{
		Token: part.Token, Rows: part.Rows, Bytes: part.Bytes,
	}}})
}

func (s *tablesServer) writePart(ctx context.Context, open *pb.WritePartRequest_Open, stream grpc.BidiStreamingServer[pb.WritePartRequest, pb.WritePartResponse]) (plugin.Part, error) {
	tables, err := s.find(open.Session)
	if err != nil {
		return plugin.Part{}, err
	}
	req, err := openPartFromProto(open)
	if err != nil {
		return plugin.Part{}, err
	}
	frames := &received{ctx: ctx, name: fmt.Sprintf("the rows of part %d of %s", req.Part, req.WriteID), verify: s.verify}
	frames.recv = func() (*pb.Frame, error) {
		msg, err := stream.Recv()
		if err != nil {
			return nil, err
		}
		if msg.GetFrame() == nil {
			return nil, status.Error(codes.InvalidArgument, "WritePart was opened twice")
		}
		return msg.GetFrame(), nil
	}
	part, err := tables.WritePart(ctx, req, &announced{FrameReader: frames, announce: func() error {
		return stream.Send(&pb.WritePartResponse{Step: &pb.WritePartResponse_Opened_{Opened: &pb.WritePartResponse_Opened{}}})
	}})
	if err == nil && !frames.ended {
		err = fmt.Errorf("%w: part %d of %s was called written before the End of its rows", rows.ErrBroken, req.Part, req.WriteID)
	}
	return part, err
}

// announced calls announce before its first Recv.
type announced struct {
	plugin.FrameReader
	once     sync.Once
	announce func() error
	err      error
}

func (a *announced) Recv() (plugin.Frame, error) {
	a.once.Do(func() { a.err = a.announce() })
	if a.err != nil && !errors.Is(a.err, io.EOF) {
		return plugin.Frame{}, a.err
	}
	return a.FrameReader.Recv()
}

func (s *tablesServer) Commit(ctx context.Context, r *pb.CommitRequest) (*pb.CommitResponse, error) {
	out := &pb.CommitResponse{}
	var list []*pb.Diagnostic
	err := respond(ctx, &list, func() error {
		return s.on(r.Session, func(tables plugin.Tables) error {
			res, err := tables.Commit(ctx, plugin.CommitRequest{WriteID: r.WriteId, Tokens: r.Tokens, UserMetadata: r.UserMetadata})
			if err != nil {
				return err
			}
			out, err = commitResultToProto(res)
			return err
		})
	})
	out.Diagnostics = list
	return out, err
}

func (s *tablesServer) Abort(ctx context.Context, r *pb.AbortRequest) (*pb.AbortResponse, error) {
	out := &pb.AbortResponse{}
	return out, respond(ctx, &out.Diagnostics, func() error {
		return s.on(r.Session, func(tables plugin.Tables) error { return tables.Abort(ctx, r.WriteId) })
	})
}

func (s *tablesServer) PutObject(ctx context.Context, r *pb.PutObjectRequest) (*pb.PutObjectResponse, error) {
	out := &pb.PutObjectResponse{}
	return out, respond(ctx, &out.Diagnostics, func() error {
		return s.on(r.Session, func(tables plugin.Tables) error {
			return tables.PutObject(ctx, plugin.Object{Key: r.Key, Data: r.Data}, r.OnlyIfAbsent)
		})
	})
}

func (s *tablesServer) GetObject(ctx context.Context, r *pb.GetObjectRequest) (*pb.GetObjectResponse, error) {
	out := &pb.GetObjectResponse{}
	return out, respond(ctx, &out.Diagnostics, func() error {
		return s.on(r.Session, func(tables plugin.Tables) error {
			obj, found, err := tables.GetObject(ctx, r.Key)
			out.Found, out.Data = found, obj.Data
			return err
		})
	})
}

func (s *tablesServer) ListObjects(r *pb.ListObjectsRequest, stream grpc.ServerStreamingServer[pb.ListObjectsResponse]) error {
	ctx := stream.Context()
	var keys []string
	out := &pb.ListObjectsResponse{}
	err := respond(ctx, &out.Diagnostics, func() error {
		return s.on(r.Session, func(tables plugin.Tables) (err error) {
			if r.Probe {
				if prober, ok := tables.(plugin.ObjectProber); ok {
					err = prober.ProbeObjects(ctx, r.Prefix)
				}
				return err
			}
			keys, err = tables.ListObjects(ctx, r.Prefix, r.StartAfter)
			return err
		})
	})
	if err != nil || len(out.Diagnostics) > 0 {
		return sendLast(stream, out, err)
	}
	return sendPages(keys, func(page []string, end bool) error {
		return stream.Send(&pb.ListObjectsResponse{Keys: page, End: end})
	})
}

func (s *tablesServer) DeleteObject(ctx context.Context, r *pb.DeleteObjectRequest) (*pb.DeleteObjectResponse, error) {
	out := &pb.DeleteObjectResponse{}
	return out, respond(ctx, &out.Diagnostics, func() error {
		return s.on(r.Session, func(tables plugin.Tables) error { return tables.DeleteObject(ctx, r.Key) })
	})
}
