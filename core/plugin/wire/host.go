package wire

import (
	"context"
	"crypto/rand"
	"sync"

	"google.golang.org/grpc"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	pb "github.com/pipectl/pipectl/core/proto/pipectl/plugin/v1"
)

// Grants are the hosts of the steps that run now, by token. One set serves all
// plugin processes of a run.
type Grants struct {
	mu    sync.Mutex
	hosts map[string]plugin.Host
}

// NewGrants returns an empty set.
func NewGrants() *Grants { return &Grants{hosts: map[string]plugin.Host{}} }

// Grant gives a host, already narrowed to what the step may touch, a random
// token. revoke ends it: later calls with the token are refused.
func (g *Grants) Grant(h plugin.Host) (token string, revoke func()) {
	token = rand.Text()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hosts[token] = h
	return token, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.hosts, token)
	}
}

func (g *Grants) find(token string) (plugin.Host, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	h, ok := g.hosts[token]
	if !ok {
		// The token itself is a secret of a step and stays out of messages.
		return h, diag.Errorf(diag.KindInternal, "plugin.grant", "", "A plugin used a grant that does not exist or has ended").Err()
	}
	return h, nil
}

func (g *Grants) tables(token string) (plugin.Tables, error) {
	h, err := g.find(token)
	return h.Tables, err
}

func (g *Grants) source(token string) (plugin.Source, error) {
	h, err := g.find(token)
	if err == nil && h.Source == nil {
		err = diag.Errorf(diag.KindInternal, "plugin.grant", "", "This step has no source").Err()
	}
	return h.Source, err
}

// RegisterHost adds what a host serves to plugins to a gRPC server.
func RegisterHost(to grpc.ServiceRegistrar, grants *Grants) {
	pb.RegisterTablesServiceServer(to, &tablesServer{find: grants.tables})
	pb.RegisterSourceServiceServer(to, &sourceServer{find: grants.source})
	pb.RegisterHostServiceServer(to, &hostServer{grants: grants})
}

// hostServer serves the ledger.
type hostServer struct {
	pb.UnimplementedHostServiceServer
	grants *Grants
}

func (h *hostServer) on(grant string, do func(plugin.Ledger) error) error {
	host, err := h.grants.find(grant)
	if err != nil {
		return err
	}
	if host.Ledger == nil {
		return diag.Errorf(diag.KindInternal, "plugin.grant", "", "This step has no ledger").Err()
	}
	return do(host.Ledger)
}

func (h *hostServer) ReadLedger(ctx context.Context, r *pb.ReadLedgerRequest) (*pb.ReadLedgerResponse, error) {
	out := &pb.ReadLedgerResponse{}
	var list []*pb.Diagnostic
	err := respond(ctx, &list, func() error {
		return h.on(r.Session, func(ledger plugin.Ledger) error {
			view, err := ledger.ReadLedger(ctx, r.Target)
			out = viewToProto(view)
			return err
		})
	})
	out.Diagnostics = list
	return out, err
}

func (h *hostServer) Chunks(r *pb.ChunksRequest, stream grpc.ServerStreamingServer[pb.ChunksResponse]) error {
	ctx := stream.Context()
	var list []plugin.ChunkRow
	out := &pb.ChunksResponse{}
	err := respond(ctx, &out.Diagnostics, func() error {
		return h.on(r.Session, func(ledger plugin.Ledger) (err error) {
			list, err = ledger.Chunks(ctx, r.Snapshot)
			return err
		})
	})
	if err != nil || len(out.Diagnostics) > 0 {
		return sendLast(stream, out, err)
	}
	return sendPages(each(list, chunkRowToProto), func(page []*pb.ChunksResponse_Row, end bool) error {
		return stream.Send(&pb.ChunksResponse{Rows: page, End: end})
	})
}

func (h *hostServer) Advance(ctx context.Context, r *pb.AdvanceRequest) (*pb.AdvanceResponse, error) {
	out := &pb.AdvanceResponse{}
	return out, respond(ctx, &out.Diagnostics, func() error {
		return h.on(r.Session, func(ledger plugin.Ledger) (err error) {
			out.VerdictUs, err = ledger.Advance(ctx, plugin.AdvanceRequest{Target: r.Target, Position: targetFromProto(r.Position), HoldVerdict: r.HoldVerdict})
			return err
		})
	})
}

// newHost is a plugin's side of a grant. Rows end here, so their checksums are
// held.
func newHost(conn grpc.ClientConnInterface, grant string, tables, source *pb.Limits) plugin.Host {
	// A grant ends with its step; there is no session to close.
	stays := func() error { return nil }
	h := plugin.Host{
		Tables: &tablesClient{client: pb.NewTablesServiceClient(conn), session: grant, limits: limitsFromProto(tables), close: stays, verify: true},
		Ledger: &ledgerClient{client: pb.NewHostServiceClient(conn), grant: grant},
	}
	if source != nil {
		h.Source = &sourceClient{client: pb.NewSourceServiceClient(conn), session: grant, limits: limitsFromProto(source), close: stays, verify: true}
	}
	return h
}

type ledgerClient struct {
	client pb.HostServiceClient
	grant  string
}

func (l *ledgerClient) ReadLedger(ctx context.Context, target string) (plugin.LedgerView, error) {
	res, err := l.client.ReadLedger(ctx, &pb.ReadLedgerRequest{Session: l.grant, Target: target})
	if err := answered(ctx, res.GetDiagnostics(), err); err != nil {
		return plugin.LedgerView{}, err
	}
	return viewFromProto(res), nil
}

func (l *ledgerClient) Chunks(ctx context.Context, snapshot string) ([]plugin.ChunkRow, error) {
	return collect(ctx, "chunks of snapshot "+snapshot, func(ctx context.Context) (grpc.ServerStreamingClient[pb.ChunksResponse], error) {
		return l.client.Chunks(ctx, &pb.ChunksRequest{Session: l.grant, Snapshot: snapshot})
	}, func(p *pb.ChunksResponse) []plugin.ChunkRow { return each(p.Rows, chunkRowFromProto) })
}

func (l *ledgerClient) Advance(ctx context.Context, req plugin.AdvanceRequest) (*int64, error) {
	res, err := l.client.Advance(ctx, &pb.AdvanceRequest{Session: l.grant, Target: req.Target, Position: targetToProto(req.Position), HoldVerdict: req.HoldVerdict})
	if err := answered(ctx, res.GetDiagnostics(), err); err != nil {
		return nil, err
	}
	return res.VerdictUs, nil
}
