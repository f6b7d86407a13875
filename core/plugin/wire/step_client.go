package wire

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"

	"github.com/pipectl/pipectl/core/plugin"
	pb "github.com/pipectl/pipectl/core/proto/pipectl/plugin/v1"
)

// silverClient is a silver session of another process. Each call holds a grant
// for its host while it lasts.
type silverClient struct {
	client  pb.SilverServiceClient
	session string
	grants  *Grants
	close   func() error
}

func (s *silverClient) Close() error { return s.close() }

func (s *silverClient) PlanSilver(ctx context.Context, req plugin.SilverRequest, host plugin.Host) (plugin.SilverPlan, error) {
	grant, revoke := s.grants.Grant(host)
	defer revoke()
	msg, err := silverToProto(s.session, grant, req, host)
	if err != nil {
		return plugin.SilverPlan{}, err
	}
	res, err := s.client.PlanSilver(ctx, msg)
	if err := answered(ctx, res.GetDiagnostics(), err); err != nil {
		return plugin.SilverPlan{}, err
	}
	tables, err := tryEach(res.Tables, specFromProto)
	return plugin.SilverPlan{Tables: tables, Pending: res.Pending, Diagnostics: diagnosticsFromProto(res.Found)}, err
}

func (s *silverClient) RunSilver(ctx context.Context, req plugin.SilverRequest, host plugin.Host, progress func(plugin.Progress)) (plugin.SilverResult, error) {
	grant, revoke := s.grants.Grant(host)
	defer revoke()
	msg, err := silverToProto(s.session, grant, req, host)
	if err != nil {
		return plugin.SilverResult{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := s.client.RunSilver(ctx, msg)
	if err != nil {
		return plugin.SilverResult{}, transportError(ctx, err)
	}
	for {
		event, err := nextEvent(ctx, req.Address, stream)
		if err != nil {
			return plugin.SilverResult{}, err
		}
		switch e := event.Event.(type) {
		case *pb.RunSilverResponse_Progress:
			if progress != nil {
				progress(progressFromProto(e.Progress))
			}
		case *pb.RunSilverResponse_Result_:
			return silverResultFromProto(e.Result), nil
		case *pb.RunSilverResponse_Failure:
			return plugin.SilverResult{}, failed(req.Address, e.Failure)
		}
		// An event of a later minor version is passed over.
	}
}

// nextEvent reads one event of a running step.
func nextEvent[M any](ctx context.Context, address string, stream grpc.ServerStreamingClient[M]) (*M, error) {
	event, err := stream.Recv()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: %s stopped without a result", ErrGone, address)
	}
	if err != nil {
		return nil, transportError(ctx, err)
	}
	return event, nil
}

func failed(address string, f *pb.Failure) error {
	if err := diagnosticsFromProto(f.Diagnostics).Err(); err != nil {
		return err
	}
	return fmt.Errorf("%s failed without a reason", address)
}

// checkClient is a check session of another process.
type checkClient struct {
	client  pb.CheckServiceClient
	session string
	grants  *Grants
	close   func() error
}

func (c *checkClient) Close() error { return c.close() }

func (c *checkClient) PlanCheck(ctx context.Context, req plugin.CheckRequest, host plugin.Host) (plugin.CheckPlan, error) {
	grant, revoke := c.grants.Grant(host)
	defer revoke()
	msg, err := checkToProto(c.session, grant, req, host)
	if err != nil {
		return plugin.CheckPlan{}, err
	}
	res, err := c.client.PlanCheck(ctx, msg)
	if err := answered(ctx, res.GetDiagnostics(), err); err != nil {
		return plugin.CheckPlan{}, err
	}
	tables, err := tryEach(res.Tables, specFromProto)
	return plugin.CheckPlan{Summary: res.Summary, Tables: tables, Diagnostics: diagnosticsFromProto(res.Found)}, err
}

func (c *checkClient) RunCheck(ctx context.Context, req plugin.CheckRequest, host plugin.Host, events plugin.CheckEvents) (plugin.CheckResult, error) {
	grant, revoke := c.grants.Grant(host)
	defer revoke()
	msg, err := checkToProto(c.session, grant, req, host)
	if err != nil {
		return plugin.CheckResult{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.client.RunCheck(ctx, msg)
	if err != nil {
		return plugin.CheckResult{}, transportError(ctx, err)
	}
	for {
		event, err := nextEvent(ctx, req.Address, stream)
		if err != nil {
			return plugin.CheckResult{}, err
		}
		switch e := event.Event.(type) {
		case *pb.RunCheckResponse_Finding_:
			if events.Finding != nil {
				events.Finding(findingFromProto(e.Finding))
			}
		case *pb.RunCheckResponse_Progress:
			if events.Progress != nil {
				events.Progress(progressFromProto(e.Progress))
			}
		case *pb.RunCheckResponse_Result_:
			return checkResultFromProto(e.Result)
		case *pb.RunCheckResponse_Failure:
			return plugin.CheckResult{}, failed(req.Address, e.Failure)
		}
		// An event of a later minor version is passed over.
	}
}
