package wire_test

import (
	"context"
	"net"
	"testing"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve runs a gRPC server on a listener and returns a connection to it.
func serve(t testing.TB, register func(grpc.ServiceRegistrar), client ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	lis := bufconn.Listen(1 << 20)
	return serveOn(t, lis, func(ctx context.Context, _ string) (net.Conn, error) { return lis.DialContext(ctx) }, register, client...)
}

func serveOn(t testing.TB, lis net.Listener, dial func(context.Context, string) (net.Conn, error), register func(grpc.ServiceRegistrar), client ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	server := grpc.NewServer(wire.ServerOptions()...)
	register(server)
	done := make(chan error, 1)
	go func() { done <- server.Serve(lis) }()
	options := append(wire.DialOptions(), grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(dial))
	conn, err := grpc.NewClient("passthrough:test", append(options, client...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close()
		server.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return conn
}

// connect puts a plugin behind the wire, with a host behind the wire of its own.
func connect(t testing.TB, p plugin.Plugin, client ...grpc.DialOption) *wire.Client {
	t.Helper()
	grants := wire.NewGrants()
	host := serve(t, func(s grpc.ServiceRegistrar) { wire.RegisterHost(s, grants) })
	server := wire.NewServer(p, func(context.Context) (grpc.ClientConnInterface, error) { return host, nil })
	conn := serve(t, server.Register, client...)
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return wire.NewClient(conn, grants)
}
