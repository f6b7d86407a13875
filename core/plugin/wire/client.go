package wire

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/grpc"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	pb "github.com/pipectl/pipectl/core/proto/pipectl/plugin/v1"
)

// Client is a plugin on the other end of a connection. Rows that it reads are
// relayed unread; their last receiver holds their checksums.
type Client struct {
	conn   grpc.ClientConnInterface
	plugin pb.PluginServiceClient
	grants *Grants
}

// NewClient returns a client. Steps of silver and check sessions reach tables,
// source and ledger through grants, which a HostServer serves.
func NewClient(conn grpc.ClientConnInterface, grants *Grants) *Client {
	return &Client{conn: conn, plugin: pb.NewPluginServiceClient(conn), grants: grants}
}

// Describe asks the plugin what it is.
func (c *Client) Describe(ctx context.Context) (plugin.Description, error) {
	res, err := c.plugin.Describe(ctx, &pb.DescribeRequest{})
	if err := answered(ctx, res.GetDiagnostics(), err); err != nil {
		return plugin.Description{}, err
	}
	components, err := tryEach(res.Components, componentFromProto)
	return plugin.Description{Name: res.Name, Version: res.Version, Components: components}, err
}

// ValidateConfig asks what a schema cannot say.
func (c *Client) ValidateConfig(ctx context.Context, id plugin.ComponentID, body plugin.BodyKind, value cty.Value) (diag.List, error) {
	role, err := roles.number(id.Role)
	if err != nil {
		return nil, err
	}
	kind, err := bodyKinds.number(body)
	if err != nil {
		return nil, err
	}
	v, err := valueToProto(value)
	if err != nil {
		return nil, err
	}
	res, err := c.plugin.ValidateConfig(ctx, &pb.ValidateConfigRequest{Role: role, Component: id.Type, Body: kind, Value: v})
	if err != nil {
		return nil, transportError(ctx, err)
	}
	return diagnosticsFromProto(res.Diagnostics), nil
}

// configure opens a session of a role.
func (c *Client) configure(ctx context.Context, role pb.Role, req plugin.OpenRequest) (string, plugin.Limits, error) {
	config, err := valueToProto(req.Config)
	if err != nil {
		return "", plugin.Limits{}, fmt.Errorf("the configuration of %s: %w", req.Address, err)
	}
	res, err := c.plugin.Configure(ctx, &pb.ConfigureRequest{
		Role: role, Component: req.Component, Address: req.Address, Config: config, RunId: req.RunID,
		MaxConnections: int64(req.MaxConnections), MemoryBudget: req.MemoryBudget, SpillDir: req.SpillDir,
	})
	if err := answered(ctx, res.GetDiagnostics(), err); err != nil {
		return "", plugin.Limits{}, err
	}
	return res.Session, limitsFromProto(res.Limits), nil
}

// closer closes a session once; a process that is gone has closed it.
func (c *Client) closer(id string) func() error {
	return func() error {
		ctx := context.Background()
		res, err := c.plugin.CloseSession(ctx, &pb.CloseSessionRequest{Session: id})
		if err := answered(ctx, res.GetDiagnostics(), err); err != nil && !errors.Is(err, ErrGone) {
			return fmt.Errorf("closing session %s: %w", id, err)
		}
		return nil
	}
}

// OpenSource opens a source session.
func (c *Client) OpenSource(ctx context.Context, req plugin.OpenRequest) (plugin.Source, error) {
	id, limits, err := c.configure(ctx, pb.Role_ROLE_SOURCE, req)
	if err != nil {
		return nil, err
	}
	return &sourceClient{client: pb.NewSourceServiceClient(c.conn), session: id, limits: limits, close: c.closer(id)}, nil
}

// OpenTables opens a session of the tables role.
func (c *Client) OpenTables(ctx context.Context, req plugin.OpenRequest) (plugin.Tables, error) {
	id, limits, err := c.configure(ctx, pb.Role_ROLE_SINK, req)
	if err != nil {
		return nil, err
	}
	return &tablesClient{client: pb.NewTablesServiceClient(c.conn), session: id, limits: limits, close: c.closer(id)}, nil
}

// OpenSilver opens a silver session.
func (c *Client) OpenSilver(ctx context.Context, req plugin.OpenRequest) (plugin.Silver, error) {
	id, _, err := c.configure(ctx, pb.Role_ROLE_SILVER, req)
	if err != nil {
		return nil, err
	}
	return &silverClient{client: pb.NewSilverServiceClient(c.conn), session: id, grants: c.grants, close: c.closer(id)}, nil
}

// OpenCheck opens a check session.
func (c *Client) OpenCheck(ctx context.Context, req plugin.OpenRequest) (plugin.Check, error) {
	id, _, err := c.configure(ctx, pb.Role_ROLE_CHECK, req)
	if err != nil {
		return nil, err
	}
	return &checkClient{client: pb.NewCheckServiceClient(c.conn), session: id, grants: c.grants, close: c.closer(id)}, nil
}

// receive opens a stream of frames and waits for its first one, so that a call
// that fails at once fails here.
func receive(ctx context.Context, name string, verify bool, open func(context.Context) (grpc.ServerStreamingClient[pb.Frame], error)) (plugin.FrameReader, error) {
	ctx, cancel := context.WithCancel(ctx)
	stream, err := open(ctx)
	if err != nil {
		defer cancel()
		return nil, transportError(ctx, err)
	}
	r := &received{ctx: ctx, name: name, recv: stream.Recv, close: cancel, verify: verify}
	first, err := r.Recv()
	if err != nil {
		cancel()
		return nil, err
	}
	return &opened{received: r, first: &first}, nil
}

// opened is a stream whose first frame has come.
type opened struct {
	*received
	first *plugin.Frame
}

func (o *opened) Recv() (plugin.Frame, error) {
	if o.first != nil {
		first := *o.first
		o.first = nil
		return first, nil
	}
	f, err := o.received.Recv()
	if err != nil {
		o.received.close() // the stream is over: nothing is left to cancel
	}
	return f, err
}

// page is one message of a list that comes in pages.
type page interface {
	GetEnd() bool
	GetDiagnostics() []*pb.Diagnostic
}

// collect reads a list that comes in pages.
func collect[M any, P interface {
	*M
	page
}, T any](ctx context.Context, what string, open func(context.Context) (grpc.ServerStreamingClient[M], error), add func(P) []T) ([]T, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := open(ctx)
	if err != nil {
		return nil, transportError(ctx, err)
	}
	var out []T
	for {
		msg, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("the list of %s stopped without its end", what)
		}
		p := P(msg)
		if err := answered(ctx, p.GetDiagnostics(), err); err != nil {
			return nil, err
		}
		out = append(out, add(p)...)
		if p.GetEnd() {
			return out, nil
		}
	}
}
