package wire

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipectl/pipectl/core/diag"
	pb "github.com/pipectl/pipectl/core/proto/pipectl/plugin/v1"
)

// ErrGone is wrapped by the error of a call whose process went away, stopped
// answering, or was closed.
var ErrGone = errors.New("the other process is gone")

func diagnosticsToProto(list diag.List) []*pb.Diagnostic {
	return each(list, func(d diag.Diagnostic) *pb.Diagnostic {
		out := &pb.Diagnostic{Code: d.Code, Summary: d.Summary, Detail: d.Detail, Address: d.Address, Data: d.Data}
		switch d.Severity {
		case diag.Warning:
			out.Severity = pb.Diagnostic_SEVERITY_WARNING
		default:
			// A forgotten severity is an error, never nothing.
			out.Severity = pb.Diagnostic_SEVERITY_ERROR
		}
		out.Kind = kinds.numbers[d.Kind]
		if out.Kind == pb.Diagnostic_KIND_UNSPECIFIED && out.Severity == pb.Diagnostic_SEVERITY_ERROR {
			out.Kind = pb.Diagnostic_KIND_INTERNAL
		}
		for _, step := range d.Path {
			switch s := step.(type) {
			case string:
				out.Path = append(out.Path, &pb.PathStep{Step: &pb.PathStep_Name{Name: s}})
			case int:
				out.Path = append(out.Path, &pb.PathStep{Step: &pb.PathStep_Index{Index: int64(s)}})
			default:
				out.Path = append(out.Path, &pb.PathStep{Step: &pb.PathStep_Name{Name: fmt.Sprint(s)}})
			}
		}
		return out
	})
}

func diagnosticsFromProto(list []*pb.Diagnostic) diag.List {
	return each(list, func(d *pb.Diagnostic) diag.Diagnostic {
		out := diag.Diagnostic{Severity: diag.Error, Kind: kinds.strings[d.Kind], Code: d.Code, Summary: d.Summary, Detail: d.Detail, Address: d.Address, Data: d.Data}
		if d.Severity == pb.Diagnostic_SEVERITY_WARNING {
			out.Severity = diag.Warning
		} else if out.Kind == "" {
			out.Kind = diag.KindInternal // a kind of a later minor version
		}
		for _, step := range d.Path {
			switch s := step.Step.(type) {
			case *pb.PathStep_Name:
				out.Path = append(out.Path, s.Name)
			case *pb.PathStep_Index:
				out.Path = append(out.Path, int(s.Index))
			}
		}
		return out
	})
}

// failure splits the error of an implementation into what goes into the
// response and what becomes a gRPC status: only a cancelled call is one.
func failure(ctx context.Context, err error) ([]*pb.Diagnostic, error) {
	if err == nil {
		return nil, nil
	}
	var known *diag.Err
	if ctx.Err() != nil && !errors.As(err, &known) {
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	list := diag.FromError(err)
	if !list.HasErrors() {
		list = append(list, diag.Errorf(diag.KindInternal, "internal", "", "%v", err))
	}
	return diagnosticsToProto(list), nil
}

// answered is the error of a call on the client's side: that of the transport,
// else the diagnostics of its response.
func answered(ctx context.Context, list []*pb.Diagnostic, err error) error {
	if err != nil {
		return transportError(ctx, err)
	}
	return diagnosticsFromProto(list).Err()
}

// transportError says what a gRPC status means here.
func transportError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("a call to another process was cancelled: %w", context.Cause(ctx))
	}
	switch status.Code(err) {
	case codes.Unavailable, codes.Canceled:
		return fmt.Errorf("%w: %s", ErrGone, status.Convert(err).Message())
	case codes.ResourceExhausted:
		return diag.Errorf(diag.KindInternal, "plugin.message_size",
			"A message of the plugin protocol holds at most 16 MiB.", "A message is too large: %s", status.Convert(err).Message()).Err()
	}
	return fmt.Errorf("a call to another process: %w", err)
}
