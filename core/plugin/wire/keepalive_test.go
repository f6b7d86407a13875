package wire_test

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/test/bufconn"

	"github.com/pipectl/pipectl/core/plugin/wire"
)

// A client asks every KeepaliveTime whether the other side lives; a server whose
// policy does not allow that answers with "too many pings" and ends the connection
// (grpc-go: Documentation/keepalive.md). Minutes of the bubble's clock pass at
// once.
func TestAQuietConnectionStays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const quiet = 30 * wire.KeepaliveTime
		lis, dials := bufconn.Listen(1<<20), 0
		dial := func(ctx context.Context, _ string) (net.Conn, error) {
			dials++
			return lis.DialContext(ctx)
		}
		service := health.NewServer()
		conn := serveOn(t, lis, dial, func(s grpc.ServiceRegistrar) { healthpb.RegisterHealthServer(s, service) })
		client := healthpb.NewHealthClient(conn)

		// While a call is under way, as of a source that computes for long.
		ctx, cancel := context.WithCancel(t.Context())
		watch, err := client.Watch(ctx, &healthpb.HealthCheckRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := watch.Recv(); err != nil || got.Status != healthpb.HealthCheckResponse_SERVING {
			t.Fatalf("%v, %v", got, err)
		}
		<-time.After(quiet)
		service.SetServingStatus("", healthpb.HealthCheckResponse_NOT_SERVING)
		if got, err := watch.Recv(); err != nil || got.Status != healthpb.HealthCheckResponse_NOT_SERVING {
			t.Errorf("after %s of a quiet call: %v, %v", quiet, got, err)
		}
		cancel()

		// And while there is none, as in a plugin that waits for its step.
		<-time.After(quiet)
		if _, err := client.Check(t.Context(), &healthpb.HealthCheckRequest{}); err != nil {
			t.Errorf("after %s without a call: %v", quiet, err)
		}
		if dials != 1 {
			t.Errorf("the connection was made %d times", dials)
		}
	})
}
