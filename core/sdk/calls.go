package sdk

import (
	"context"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"
)

// inFlight counts running calls of the plugin's services, so that the process
// ends after them. go-plugin's own calls do not count: one of them is the
// request to end.
type inFlight struct{ wait sync.WaitGroup }

func ours(method string) bool { return strings.HasPrefix(method, "/pipectl.") }

func (f *inFlight) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if ours(info.FullMethod) {
		f.wait.Add(1)
		defer f.wait.Done()
	}
	return handler(ctx, req)
}

func (f *inFlight) stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if ours(info.FullMethod) {
		f.wait.Add(1)
		defer f.wait.Done()
	}
	return handler(srv, stream)
}

// connectionCounter tells the process of connections that begin and end.
type connectionCounter struct{ process *process }

func (c connectionCounter) HandleConn(_ context.Context, s stats.ConnStats) {
	switch s.(type) {
	case *stats.ConnBegin:
		c.process.connected(1)
	case *stats.ConnEnd:
		c.process.connected(-1)
	}
}

func (connectionCounter) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context {
	return ctx
}

func (connectionCounter) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

func (connectionCounter) HandleRPC(context.Context, stats.RPCStats) {}
