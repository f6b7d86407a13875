package wire

import (
	"context"
	"sync"

	"google.golang.org/grpc"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	pb "github.com/pipectl/pipectl/core/proto/pipectl/plugin/v1"
)

// connect returns what the host serves for one step.
func (s *Server) connect(ctx context.Context, grant string, tables, source *pb.Limits) (plugin.Host, error) {
	conn, err := s.host(ctx)
	if err != nil {
		return plugin.Host{}, diag.Errorf(diag.KindTransient, "plugin.no_host", "", "The plugin has no connection to its host: %v", err).Err()
	}
	return newHost(conn, grant, tables, source), nil
}

type silverServer struct {
	pb.UnimplementedSilverServiceServer
	server *Server
}

// step finds session, request and host of a call.
func (s *silverServer) step(ctx context.Context, r *pb.SilverRequest) (plugin.Silver, plugin.SilverRequest, plugin.Host, error) {
	silver, err := s.server.silver(r.Session)
	if err != nil {
		return nil, plugin.SilverRequest{}, plugin.Host{}, err
	}
	req, err := silverFromProto(r)
	if err != nil {
		return nil, req, plugin.Host{}, err
	}
	host, err := s.server.connect(ctx, r.Grant, r.TablesLimits, r.SourceLimits)
	return silver, req, host, err
}

func (s *silverServer) PlanSilver(ctx context.Context, r *pb.SilverRequest) (*pb.PlanSilverResponse, error) {
	out := &pb.PlanSilverResponse{}
	return out, respond(ctx, &out.Diagnostics, func() error {
		silver, req, host, err := s.step(ctx, r)
		if err != nil {
			return err
		}
		plan, err := silver.PlanSilver(ctx, req, host)
		if err != nil {
			return err
		}
		out.Pending, out.Found = plan.Pending, diagnosticsToProto(plan.Diagnostics)
		out.Tables, err = tryEach(plan.Tables, specToProto)
		return err
	})
}

func (s *silverServer) RunSilver(r *pb.SilverRequest, stream grpc.ServerStreamingServer[pb.RunSilverResponse]) error {
	ctx := stream.Context()
	events := &eventSender[pb.RunSilverResponse]{send: stream.Send}
	var result plugin.SilverResult
	var list []*pb.Diagnostic
	err := respond(ctx, &list, func() error {
		silver, req, host, err := s.step(ctx, r)
		if err != nil {
			return err
		}
		result, err = silver.RunSilver(ctx, req, host, func(p plugin.Progress) {
			events.emit(&pb.RunSilverResponse{Event: &pb.RunSilverResponse_Progress{Progress: progressToProto(p)}})
		})
		return err
	})
	if err != nil {
		return err
	}
	last := &pb.RunSilverResponse{Event: &pb.RunSilverResponse_Result_{Result: silverResultToProto(result)}}
	if len(list) > 0 {
		last = &pb.RunSilverResponse{Event: &pb.RunSilverResponse_Failure{Failure: &pb.Failure{Diagnostics: list}}}
	}
	return events.emit(last)
}

// eventSender sends events that may come from several goroutines; a step that
// goes on after the host left loses its events and is told by its context.
type eventSender[T any] struct {
	mu   sync.Mutex
	send func(*T) error
}

func (e *eventSender[T]) emit(event *T) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.send(event)
}

type checkServer struct {
	pb.UnimplementedCheckServiceServer
	server *Server
}

func (s *checkServer) step(ctx context.Context, r *pb.CheckRequest) (plugin.Check, plugin.CheckRequest, plugin.Host, error) {
	check, err := s.server.check(r.Session)
	if err != nil {
		return nil, plugin.CheckRequest{}, plugin.Host{}, err
	}
	req, err := checkFromProto(r)
	if err != nil {
		return nil, req, plugin.Host{}, err
	}
	host, err := s.server.connect(ctx, r.Grant, r.TablesLimits, r.SourceLimits)
	return check, req, host, err
}

func (s *checkServer) PlanCheck(ctx context.Context, r *pb.CheckRequest) (*pb.PlanCheckResponse, error) {
	out := &pb.PlanCheckResponse{}
	return out, respond(ctx, &out.Diagnostics, func() error {
		check, req, host, err := s.step(ctx, r)
		if err != nil {
			return err
		}
		plan, err := check.PlanCheck(ctx, req, host)
		if err != nil {
			return err
		}
		out.Summary, out.Found = plan.Summary, diagnosticsToProto(plan.Diagnostics)
		out.Tables, err = tryEach(plan.Tables, specToProto)
		return err
	})
}

func (s *checkServer) RunCheck(r *pb.CheckRequest, stream grpc.ServerStreamingServer[pb.RunCheckResponse]) error {
	ctx := stream.Context()
	events := &eventSender[pb.RunCheckResponse]{send: stream.Send}
	var result *pb.RunCheckResponse_Result
	var list []*pb.Diagnostic
	err := respond(ctx, &list, func() error {
		check, req, host, err := s.step(ctx, r)
		if err != nil {
			return err
		}
		res, err := check.RunCheck(ctx, req, host, plugin.CheckEvents{
			Finding: func(f plugin.Finding) {
				events.emit(&pb.RunCheckResponse{Event: &pb.RunCheckResponse_Finding_{Finding: findingToProto(f)}})
			},
			Progress: func(p plugin.Progress) {
				events.emit(&pb.RunCheckResponse{Event: &pb.RunCheckResponse_Progress{Progress: progressToProto(p)}})
			},
		})
		if err != nil {
			return err
		}
		result, err = checkResultToProto(res)
		return err
	})
	if err != nil {
		return err
	}
	last := &pb.RunCheckResponse{Event: &pb.RunCheckResponse_Result_{Result: result}}
	if len(list) > 0 {
		last = &pb.RunCheckResponse{Event: &pb.RunCheckResponse_Failure{Failure: &pb.Failure{Diagnostics: list}}}
	}
	return events.emit(last)
}
