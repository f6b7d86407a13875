package host_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/zclconf/go-cty/cty"
	"go.uber.org/goleak"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/host"
	"github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/sdk"
)

// hostMode, as the only argument, makes the test program a host that starts a
// plugin and then waits to be killed.
const hostMode = "-host-for-orphan-test"

// lineVariable names a unix socket that a misbehaving plugin dials and keeps
// open, so that a test sees what it says and when it is gone.
const lineVariable = "PIPECTL_TEST_LINE"

func TestMain(m *testing.M) {
	if sdk.Main(map[string]sdk.Factory{"test/odd": newOdd}) {
		return
	}
	if os.Getenv("PIPECTL_PLUGIN") != "" { // started as a file of its own
		sdk.Serve(newOdd)
		return
	}
	if len(os.Args) == 2 && os.Args[1] == hostMode {
		runHostForOrphanTest()
		return
	}
	goleak.VerifyTestMain(m)
}

// odd is the memory plugin whose source misbehaves on request: the text given
// to Start says how.
type odd struct {
	*memory.Plugin
	log  *slog.Logger
	line net.Conn
}

func newOdd(log *slog.Logger) plugin.Plugin {
	p := memory.New()
	p.Database.CreateTable("dbo.orders", ordersSchema, "id")
	for i := range 100 {
		p.Database.Commit(time.Date(2026, 3, 1, 0, 0, i, 0, time.UTC), memory.Insert("dbo.orders", memory.Row{"id": i, "note": strings.Repeat("n", 100)}))
	}
	killedAt("start")
	o := &odd{Plugin: p, log: log}
	if address := os.Getenv(lineVariable); address != "" {
		conn, err := net.Dial("unix", address)
		if err != nil {
			panic(err)
		}
		o.line = conn
	}
	return o
}

var ordersSchema = arrow.NewSchema([]arrow.Field{
	{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
	{Name: "note", Type: arrow.BinaryTypes.String, Nullable: true},
}, nil)

func (o *odd) say(format string, args ...any) {
	if o.line != nil {
		fmt.Fprintf(o.line, format+"\n", args...)
	}
}

func (o *odd) OpenSource(ctx context.Context, req plugin.OpenRequest) (plugin.Source, error) {
	s, err := o.Plugin.OpenSource(ctx, req)
	if err != nil {
		return nil, err
	}
	password := ""
	if v := req.Config.GetAttr("password"); !v.IsNull() {
		password = v.AsString()
	}
	return &oddSource{Source: s, odd: o, password: password}, nil
}

type oddSource struct {
	plugin.Source
	odd      *odd
	password string
}

func (s *oddSource) Start(ctx context.Context, req plugin.StartRequest) (plugin.Position, error) {
	switch req.From {
	case "exit":
		fmt.Fprintln(os.Stderr, "about to go")
		os.Stderr.Sync()
		s.odd.log.Error("the last words", "password", s.password)
		os.Exit(3)
	case "exit before its child", "exit before a child that left":
		// The child has the pipe of standard error, and holds it for a while.
		child := exec.Command("sleep", "20")
		if req.From == "exit before a child that left" {
			child = exec.Command("setsid", "sleep", "20")
		}
		child.Stderr = os.Stderr
		if err := child.Start(); err != nil {
			return plugin.Position{}, err
		}
		fmt.Fprintln(os.Stderr, "gone before its child")
		os.Exit(3)
	case "panic":
		go func() { panic("boom in a goroutine with " + s.password) }()
		select {}
	case "freeze":
		freeze()
	case "environment":
		return plugin.Position{Text: strings.Join(os.Environ(), "\n")}, nil
	case "print":
		fmt.Println("printed", s.password)
		fmt.Fprintln(os.Stderr, "to stderr", s.password)
		s.odd.log.Warn("logged "+s.password, "password", s.password, "url", "sqlserver://sa:"+s.password+"@db")
		return plugin.Position{}, sdkError(s.password)
	case "hang":
		s.odd.say("hanging")
		<-ctx.Done()
		s.odd.say("cancelled")
		return plugin.Position{}, ctx.Err()
	case "pid":
		return plugin.Position{Text: fmt.Sprint(os.Getpid())}, nil
	}
	return s.Source.Start(ctx, req)
}

// killedVariable says how many processes of a plugin are killed, and where:
// "start 2 FOLDER". Each leaves a file in the folder.
const killedVariable = "PIPECTL_TEST_KILLED"

// killedAt kills this process at a point, as often as the test wants.
func killedAt(point string) {
	var at, dir string
	var times int
	if n, _ := fmt.Sscan(os.Getenv(killedVariable), &at, &times, &dir); n != 3 || at != point {
		return
	}
	for i := range times {
		mark, err := os.OpenFile(filepath.Join(dir, fmt.Sprint(i)), os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			mark.Close()
			if self, err := os.FindProcess(os.Getpid()); err == nil {
				_ = self.Kill()
			}
			select {}
		}
	}
}

func (o *odd) Describe(ctx context.Context) (plugin.Description, error) {
	killedAt("describe")
	return o.Plugin.Describe(ctx)
}

func (o *odd) ValidateConfig(ctx context.Context, id plugin.ComponentID, body plugin.BodyKind, value cty.Value) (diag.List, error) {
	killedAt("validate")
	return o.Plugin.ValidateConfig(ctx, id, body, value)
}

// dying is the isolation of a read, or the attempt of a part, in whose midst
// the process exits.
const (
	dyingRead = "dying"
	dyingPart = 99
)

// dies lets two frames pass and exits.
type dies struct {
	plugin.FrameReader
	passed int
}

func (d *dies) Recv() (plugin.Frame, error) {
	if d.passed == 2 {
		os.Exit(4)
	}
	d.passed++
	return d.FrameReader.Recv()
}

func (s *oddSource) Read(ctx context.Context, req plugin.ReadRequest) (plugin.FrameReader, error) {
	frames, err := s.Source.Read(ctx, req)
	if err == nil && req.Isolation == dyingRead {
		frames = &dies{FrameReader: frames}
	}
	return frames, err
}

func (o *odd) OpenTables(ctx context.Context, req plugin.OpenRequest) (plugin.Tables, error) {
	t, err := o.Plugin.OpenTables(ctx, req)
	return &oddTables{Tables: t}, err
}

type oddTables struct{ plugin.Tables }

func (t *oddTables) WritePart(ctx context.Context, req plugin.WritePartRequest, frames plugin.FrameReader) (plugin.Part, error) {
	if req.Attempt == dyingPart {
		frames = &dies{FrameReader: frames}
	}
	return t.Tables.WritePart(ctx, req, frames)
}

// config is the connection body of the memory plugin.
func config(password string) cty.Value {
	p := cty.NullVal(cty.String)
	if password != "" {
		p = cty.StringVal(password)
	}
	return cty.ObjectVal(map[string]cty.Value{"place": cty.StringVal("here"), "password": p})
}

var orders = plugin.SourceTable{
	Address: "table.orders",
	Object:  cty.ObjectVal(map[string]cty.Value{"object": cty.StringVal("dbo.orders")}),
	Read:    cty.ObjectVal(map[string]cty.Value{"partitions": cty.NumberIntVal(4)}),
}

func open(password string) plugin.OpenRequest {
	return plugin.OpenRequest{Component: "memory", Address: "source.shop", Config: config(password), RunID: "run"}
}

// quick has no pause before a restart.
func quick() host.Options {
	return host.Options{Backoff: []time.Duration{0, 0}}
}

// startOne starts the odd plugin under a host that the test stops.
func startOne(t *testing.T, options host.Options, pass ...string) *host.Plugin {
	t.Helper()
	h := host.New(options)
	t.Cleanup(h.Stop)
	plugins, err := h.Start(t.Context(), []host.Spec{{Name: "shop", Source: "test/odd", PassEnv: pass}})
	if err != nil {
		t.Fatal(err)
	}
	return plugins["shop"]
}

func openSource(t *testing.T, p *host.Plugin, password string) plugin.Source {
	t.Helper()
	s, err := p.OpenSource(t.Context(), open(password))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// line is a unix socket on which one plugin process says what happens to it.
func line(t *testing.T) (environ func() []string, accept func() *bufio.Reader) {
	t.Helper()
	dir, err := os.MkdirTemp("", "line")
	if err != nil {
		t.Fatal(err)
	}
	lis, err := net.Listen("unix", dir+"/s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		lis.Close()
		os.RemoveAll(dir)
	})
	environ = func() []string { return append(os.Environ(), lineVariable+"="+dir+"/s") }
	accept = func() *bufio.Reader {
		t.Helper()
		conn, err := lis.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return bufio.NewReader(conn)
	}
	return environ, accept
}

func hear(t *testing.T, from *bufio.Reader) string {
	t.Helper()
	s, err := from.ReadString('\n')
	if err != nil {
		t.Fatalf("heard %q, %v", s, err)
	}
	return strings.TrimSpace(s)
}
