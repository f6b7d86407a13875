package wire

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/rows"
	pb "github.com/pipectl/pipectl/core/proto/pipectl/plugin/v1"
)

// tablesClient is a session of the tables role of another process, or a
// granted one.
type tablesClient struct {
	client  pb.TablesServiceClient
	session string
	limits  plugin.Limits
	close   func() error
	verify  bool
}

func (t *tablesClient) Limits() plugin.Limits { return t.limits }
func (t *tablesClient) Close() error          { return t.close() }

func (t *tablesClient) GetTables(ctx context.Context, req plugin.GetTablesRequest) ([]plugin.TableState, error) {
	res, err := t.client.GetTables(ctx, &pb.GetTablesRequest{Session: t.session, Tables: each(req.Tables, tableToProto), AppIds: req.AppIDs})
	if err := answered(ctx, res.GetDiagnostics(), err); err != nil {
		return nil, err
	}
	if len(res.Tables) != len(req.Tables) {
		return nil, fmt.Errorf("GetTables was asked about %d tables and answered for %d", len(req.Tables), len(res.Tables))
	}
	return tryEach(res.Tables, stateFromProto)
}

func (t *tablesClient) PlanTable(ctx context.Context, spec plugin.TableSpec) (plugin.TablePlan, error) {
	msg, err := specToProto(spec)
	if err != nil {
		return plugin.TablePlan{}, err
	}
	res, err := t.client.PlanTable(ctx, &pb.PlanTableRequest{Session: t.session, Spec: msg})
	if err := answered(ctx, res.GetDiagnostics(), err); err != nil {
		return plugin.TablePlan{}, err
	}
	action, err := tableActions.text(res.Action)
	return plugin.TablePlan{Action: action, Changes: res.Changes, ID: res.Id, Version: res.Version}, err
}

func (t *tablesClient) ApplyTable(ctx context.Context, req plugin.ApplyTableRequest) (plugin.ApplyTableResult, error) {
	msg, err := specToProto(req.Spec)
	if err != nil {
		return plugin.ApplyTableResult{}, err
	}
	res, err := t.client.ApplyTable(ctx, &pb.ApplyTableRequest{Session: t.session, Spec: msg, RequireId: req.RequireID})
	if err := answered(ctx, res.GetDiagnostics(), err); err != nil {
		return plugin.ApplyTableResult{}, err
	}
	action, err := tableActions.text(res.Action)
	return plugin.ApplyTableResult{Action: action, ID: res.Id, Version: res.Version}, err
}

func (t *tablesClient) Scan(ctx context.Context, req plugin.ScanRequest) (plugin.FrameReader, error) {
	filter, err := filterToProto(req.Filter)
	if err != nil {
		return nil, err
	}
	return receive(ctx, "the rows of "+req.Table.Name, t.verify, func(ctx context.Context) (grpc.ServerStreamingClient[pb.Frame], error) {
		return t.client.Scan(ctx, &pb.ScanRequest{
			Session: t.session, Table: tableToProto(req.Table), Version: req.Version, Columns: columnsToProto(req.Columns), Filter: filter,
			Ordered: req.Ordered,
		})
	})
}

func (t *tablesClient) History(ctx context.Context, req plugin.HistoryRequest) ([]plugin.Commit, error) {
	return collect(ctx, "commits of "+req.Table.Name, func(ctx context.Context) (grpc.ServerStreamingClient[pb.HistoryResponse], error) {
		return t.client.History(ctx, &pb.HistoryRequest{Session: t.session, Table: tableToProto(req.Table), After: req.After, Limit: int64(req.Limit)})
	}, func(p *pb.HistoryResponse) []plugin.Commit { return each(p.Commits, commitFromProto) })
}

func (t *tablesClient) BeginWrite(ctx context.Context, req plugin.BeginWriteRequest) (plugin.BeginWriteResponse, error) {
	msg, err := beginWriteToProto(t.session, req)
	if err != nil {
		return plugin.BeginWriteResponse{}, fmt.Errorf("opening a write to %q: %w", req.Table.Name, err)
	}
	res, err := t.client.BeginWrite(ctx, msg)
	return plugin.BeginWriteResponse{WriteID: res.GetWriteId(), Already: res.GetAlready(), Version: res.GetVersion()}, answered(ctx, res.GetDiagnostics(), err)
}

// WritePart opens the part and pulls frames only then. The first error that
// is no cancellation is the one returned: the stream's own, or the sink's.
func (t *tablesClient) WritePart(ctx context.Context, req plugin.WritePartRequest, frames plugin.FrameReader) (plugin.Part, error) {
	defer frames.Close()
	name := fmt.Sprintf("part %d of %s", req.Part, req.WriteID)
	open, err := openPartToProto(t.session, req)
	if err != nil {
		return plugin.Part{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := t.client.WritePart(ctx)
	if err != nil {
		return plugin.Part{}, fmt.Errorf("opening %s: %w", name, transportError(ctx, err))
	}
	// An error of Send is io.EOF: the reason comes from Recv.
	if err := stream.Send(open); err != nil && !errors.Is(err, io.EOF) {
		return plugin.Part{}, fmt.Errorf("opening %s: %w", name, transportError(ctx, err))
	}
	answer, err := partAnswer(ctx, stream)
	if err != nil {
		return plugin.Part{}, fmt.Errorf("opening %s: %w", name, err)
	}
	if answer.GetOpened() != nil {
		if err := t.feed(frames, name, stream); err != nil {
			return plugin.Part{}, err
		}
		if answer, err = partAnswer(ctx, stream); err != nil {
			return plugin.Part{}, fmt.Errorf("writing %s: %w", name, err)
		}
	}
	part := answer.GetPart()
	if part == nil {
		return plugin.Part{}, fmt.Errorf("writing %s: the sink gave no answer that this version knows", name)
	}
	return plugin.Part{Token: part.Token, Rows: part.Rows, Bytes: part.Bytes}, nil
}

func partAnswer(ctx context.Context, stream grpc.BidiStreamingClient[pb.WritePartRequest, pb.WritePartResponse]) (*pb.WritePartResponse, error) {
	msg, err := stream.Recv()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: it ended without an answer", ErrGone)
	}
	if err != nil {
		return nil, transportError(ctx, err)
	}
	if f := msg.GetFailure(); f != nil {
		if err := diagnosticsFromProto(f.Diagnostics).Err(); err != nil {
			return nil, err
		}
		return nil, errors.New("it failed without a reason")
	}
	return msg, nil
}

// feed sends frames up to End. It returns an error of the frames themselves;
// when the sink stops listening it returns nil and the answer says why.
func (t *tablesClient) feed(frames plugin.FrameReader, name string, stream grpc.BidiStreamingClient[pb.WritePartRequest, pb.WritePartResponse]) error {
	send := func(f *pb.Frame) error {
		return stream.Send(&pb.WritePartRequest{Step: &pb.WritePartRequest_Frame{Frame: f}})
	}
	for {
		frame, err := frames.Recv()
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("%w: the rows of %s stopped without their End", rows.ErrBroken, name)
		}
		if err != nil {
			return fmt.Errorf("reading the rows of %s: %w", name, err)
		}
		err = sendFrame(frame, send)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("sending the rows of %s: %w", name, err)
		}
		if frame.End != nil {
			if err := stream.CloseSend(); err != nil {
				return fmt.Errorf("sending the rows of %s: %w", name, err)
			}
			return nil
		}
	}
}

func (t *tablesClient) Commit(ctx context.Context, req plugin.CommitRequest) (plugin.CommitResult, error) {
	res, err := t.client.Commit(ctx, &pb.CommitRequest{Session: t.session, WriteId: req.WriteID, Tokens: req.Tokens, UserMetadata: req.UserMetadata})
	if err := answered(ctx, res.GetDiagnostics(), err); err != nil {
		return plugin.CommitResult{}, err
	}
	return commitResultFromProto(res)
}

func (t *tablesClient) Abort(ctx context.Context, writeID string) error {
	res, err := t.client.Abort(ctx, &pb.AbortRequest{Session: t.session, WriteId: writeID})
	return answered(ctx, res.GetDiagnostics(), err)
}

func (t *tablesClient) PutObject(ctx context.Context, obj plugin.Object, onlyIfAbsent bool) error {
	res, err := t.client.PutObject(ctx, &pb.PutObjectRequest{Session: t.session, Key: obj.Key, Data: obj.Data, OnlyIfAbsent: onlyIfAbsent})
	return answered(ctx, res.GetDiagnostics(), err)
}

func (t *tablesClient) GetObject(ctx context.Context, key string) (plugin.Object, bool, error) {
	res, err := t.client.GetObject(ctx, &pb.GetObjectRequest{Session: t.session, Key: key})
	if err := answered(ctx, res.GetDiagnostics(), err); err != nil || !res.Found {
		return plugin.Object{}, false, err
	}
	return plugin.Object{Key: key, Data: res.Data}, true, nil
}

func (t *tablesClient) ListObjects(ctx context.Context, prefix, startAfter string) ([]string, error) {
	return collect(ctx, "objects under "+prefix, func(ctx context.Context) (grpc.ServerStreamingClient[pb.ListObjectsResponse], error) {
		return t.client.ListObjects(ctx, &pb.ListObjectsRequest{Session: t.session, Prefix: prefix, StartAfter: startAfter})
	}, func(p *pb.ListObjectsResponse) []string { return p.Keys })
}

// ProbeObjects implements plugin.ObjectProber for every plugin: one that cannot
// tell answers nothing.
func (t *tablesClient) ProbeObjects(ctx context.Context, prefix string) error {
	_, err := collect(ctx, "a probe of "+prefix, func(ctx context.Context) (grpc.ServerStreamingClient[pb.ListObjectsResponse], error) {
		return t.client.ListObjects(ctx, &pb.ListObjectsRequest{Session: t.session, Prefix: prefix, Probe: true})
	}, func(*pb.ListObjectsResponse) []string { return nil })
	return err
}

func (t *tablesClient) DeleteObject(ctx context.Context, key string) error {
	res, err := t.client.DeleteObject(ctx, &pb.DeleteObjectRequest{Session: t.session, Key: key})
	return answered(ctx, res.GetDiagnostics(), err)
}
