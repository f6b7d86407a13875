package conformance_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/zclconf/go-cty/cty"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/plugin/wire"
	"github.com/pipectl/pipectl/core/sdk/conformance"
)

func TestMain(m *testing.M) { conformance.Main(m, newPlugin) }

// scripted is the memory plugin with a database that a test can move from
// another process: validating the object body {object = "commit"} commits.
type scripted struct{ *memory.Plugin }

func newPlugin(*slog.Logger) plugin.Plugin {
	p := memory.New()
	p.Database.CreateTable("dbo.orders", arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "note", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "price", Type: &arrow.Decimal128Type{Precision: 18, Scale: 4}, Nullable: true},
	}, nil), "id")
	for i := range 200 {
		p.Database.Commit(at(i), memory.Insert("dbo.orders", memory.Row{"id": i, "note": fmt.Sprint("n", i), "price": "12.3400"}))
	}
	p.Database.Commit(at(200), memory.Delete("dbo.orders", memory.Row{"id": 0, "note": "n0"}),
		memory.Update("dbo.orders", memory.Row{"id": 1, "note": "n1"}, memory.Row{"id": 1, "note": "z"}))
	return &scripted{p}
}

func at(n int) time.Time {
	return time.Date(2026, 3, 1, 0, 0, n, 0, time.UTC)
}

func (s *scripted) ValidateConfig(ctx context.Context, id plugin.ComponentID, body plugin.BodyKind, value cty.Value) (diag.List, error) {
	if body == plugin.BodyObject && value.Type().HasAttribute("object") && value.GetAttr("object").RawEquals(cty.StringVal("commit")) {
		n := len(s.Database.Rows("dbo.orders"))
		s.Database.Commit(at(1000+n), memory.Insert("dbo.orders", memory.Row{"id": 1000 + n}))
	}
	return s.Plugin.ValidateConfig(ctx, id, body, value)
}

func suite() conformance.Suite {
	config := cty.ObjectVal(map[string]cty.Value{"place": cty.StringVal("here"), "password": cty.NullVal(cty.String)})
	return conformance.Suite{
		Source: &conformance.Source{
			Request: plugin.OpenRequest{Component: "memory", Address: "source.shop", Config: config},
			Table: plugin.SourceTable{
				Address: "table.orders",
				Object:  cty.ObjectVal(map[string]cty.Value{"object": cty.StringVal("dbo.orders")}),
				Read:    cty.ObjectVal(map[string]cty.Value{"partitions": cty.NumberIntVal(3)}),
			},
			Rows: 199, Changes: 203,
			Advance: func(t *testing.T, p plugin.Plugin) {
				if _, err := p.ValidateConfig(t.Context(), plugin.ComponentID{Role: plugin.RoleSource, Type: "memory"}, plugin.BodyObject,
					cty.ObjectVal(map[string]cty.Value{"object": cty.StringVal("commit")})); err != nil {
					t.Fatal(err)
				}
			},
		},
		Tables: &conformance.Tables{Request: plugin.OpenRequest{Component: "memory", Address: "sink.lake", Config: config}},
	}
}

// The fakes themselves, called directly and from a process of their own.
func TestMemory(t *testing.T) { conformance.Run(t, newPlugin, suite()) }

// The fakes over gRPC in one process: every message in both directions.
func TestMemoryOverTheWire(t *testing.T) {
	lis := bufconn.Listen(1 << 20)
	server := grpc.NewServer(wire.ServerOptions()...)
	served := wire.NewServer(newPlugin(nil), func(context.Context) (grpc.ClientConnInterface, error) {
		return nil, fmt.Errorf("no step runs here")
	})
	served.Register(server)
	done := make(chan error, 1)
	go func() { done <- server.Serve(lis) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := served.Close(); err != nil {
			t.Error(err)
		}
	})
	conn, err := grpc.NewClient("passthrough:bufconn", append(wire.DialOptions(), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return lis.DialContext(ctx) }))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conformance.RunOver(t, wire.NewClient(conn, wire.NewGrants()), suite())
}
