package sdk

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/wire"
)

const (
	// exitGrace bounds how long running calls may tidy up and sessions may
	// close once the host has left. The host kills sooner if it is in a hurry.
	exitGrace = 5 * time.Second
	// startGrace is how long a process waits for its host to connect.
	startGrace = 60 * time.Second
)

// Factory makes a plugin. What it logs appears in the host's log, under the
// plugin's name; secrets do not belong there.
type Factory func(log *slog.Logger) plugin.Plugin

// Serve runs a plugin as this process and returns when its host has left: the
// main function of a plugin that is a file of its own. A process started by
// hand says what it is and exits with 1.
//
// The life of the process is the host's: it ends when the host asks, or when
// the host's last connection ends, as when the host was killed. Interrupt and
// termination signals are ignored, because a service manager sends them to the
// whole group while the host still finishes the batch in hand.
func Serve(factory Factory) {
	SpareCollections()
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// go-plugin replaces os.Stderr; the host reads log lines from the first one.
	stderr := os.Stderr
	stopProfile, err := Profile(os.Args[len(os.Args)-1])
	if err != nil {
		fmt.Fprintln(stderr, err)
		os.Exit(1)
	}
	p := newProcess(factory(newLogger(stderr, logLevel(os.Getenv(wire.LogLevelVariable)))))
	p.output = stderr
	orphaned := time.AfterFunc(startGrace, p.stopIfAlone)
	defer orphaned.Stop()
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig:  wire.Handshake(),
		VersionedPlugins: map[int]goplugin.PluginSet{wire.ProtocolVersion: {wire.PluginName: p}},
		GRPCServer:       p.newServer,
		Logger:           hclog.New(&hclog.LoggerOptions{Level: hclog.Warn, Output: stderr, JSONFormat: true}),
	})
	if err := errors.Join(p.finish(), stopProfile()); err != nil {
		fmt.Fprintln(stderr, err)
	}
	// The host removes the folder of the sockets; a killed one left it behind.
	if dir := os.Getenv(goplugin.EnvUnixSocketDir); strings.HasPrefix(filepath.Base(dir), socketDirPrefix) {
		os.RemoveAll(dir)
	}
}

// socketDirPrefix begins the name of the private folder that go-plugin makes.
const socketDirPrefix = "plugin-dir"

// Main is the first statement of a program that bundles plugins. It returns
// false when the program was not started as one of them; else it serves that
// plugin and returns true when the host has left, and the program returns.
func Main(bundled map[string]Factory) bool {
	if len(os.Args) != 3 || os.Args[1] != wire.BundledArgument {
		return false
	}
	factory, ok := bundled[os.Args[2]]
	if !ok {
		fmt.Fprintf(os.Stderr, "This program bundles no plugin %q.\n", os.Args[2])
		os.Exit(1)
	}
	Serve(factory)
	return true
}

// process is one running plugin process.
type process struct {
	goplugin.NetRPCUnsupportedPlugin
	wire  *wire.Server
	calls inFlight
	host  hostConnection

	// output is the standard error that the host reads to its end. What
	// go-plugin sends over its own stream instead is lost when a process ends
	// at once, and with it the last words before a crash.
	output *os.File

	mu          sync.Mutex
	server      *grpc.Server
	connections int
	everHad     bool
}

func newProcess(p plugin.Plugin) *process {
	out := &process{host: hostConnection{ready: make(chan struct{}), left: make(chan struct{})}}
	out.wire = wire.NewServer(p, out.host.get)
	return out
}

// GRPCServer registers the plugin's services and dials the host's, which must
// happen within go-plugin's 5 s after the host announced them.
func (p *process) GRPCServer(broker *goplugin.GRPCBroker, s *grpc.Server) error {
	p.wire.Register(s)
	p.host.wait.Go(func() { p.host.dial(broker) })
	return nil
}

// GRPCClient is the host's side and not served by a plugin.
func (p *process) GRPCClient(context.Context, *goplugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("a plugin process is no host")
}

func (p *process) newServer(options []grpc.ServerOption) *grpc.Server {
	options = append(options, wire.ServerOptions()...)
	options = append(options, grpc.StatsHandler(connectionCounter{p}), grpc.UnaryInterceptor(p.calls.unary), grpc.StreamInterceptor(p.calls.stream))
	s := grpc.NewServer(options...)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.server = s
	return s
}

// connected counts connections; the end of the last one ends the process.
func (p *process) connected(change int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.connections += change
	if !p.everHad {
		p.everHad = true
		os.Stdout, os.Stderr = p.output, p.output
	}
	if p.connections == 0 {
		// Stop waits for transports, one of which is calling here.
		p.host.wait.Go(p.server.Stop)
	}
}

// stopIfAlone ends a process whose host never came.
func (p *process) stopIfAlone() {
	p.mu.Lock()
	server, alone := p.server, !p.everHad
	p.mu.Unlock()
	if alone && server != nil {
		server.Stop()
	}
}

// finish lets running calls, which were cancelled, tidy up, and closes the
// sessions, within the grace.
func (p *process) finish() error {
	close(p.host.left)
	done := make(chan error, 1)
	go func() {
		p.calls.wait.Wait()
		err := p.wire.Close()
		p.host.wait.Wait()
		done <- err
	}()
	grace := time.NewTimer(exitGrace)
	defer grace.Stop()
	select {
	case err := <-done:
		return err
	case <-grace.C:
		return fmt.Errorf("calls or sessions were still open %s after the host had left", exitGrace)
	}
}

// hostConnection is the connection to the host's services.
type hostConnection struct {
	ready chan struct{} // closed when conn is set
	left  chan struct{} // closed when the host has left
	conn  *grpc.ClientConn
	wait  sync.WaitGroup
}

// dial returns when the host has left, also while it still waits for the
// host's announcement: a host that stops at once, because another plugin did
// not start, never makes one. Such a wait cannot be cancelled; it ends by
// itself or with the process.
func (h *hostConnection) dial(broker *goplugin.GRPCBroker) {
	for {
		dialled := make(chan *grpc.ClientConn, 1)
		go func() {
			// It waits up to 5 s for the host's announcement.
			conn, err := broker.DialWithOptions(wire.HostBrokerID, wire.DialOptions()...)
			if err != nil {
				conn = nil
			}
			dialled <- conn
		}()
		select {
		case <-h.left:
			return
		case conn := <-dialled:
			if conn == nil {
				continue
			}
			h.conn = conn
			close(h.ready)
			<-h.left
			conn.Close()
			return
		}
	}
}

func (h *hostConnection) get(ctx context.Context) (grpc.ClientConnInterface, error) {
	select {
	case <-h.ready:
		return h.conn, nil
	case <-h.left:
		return nil, errors.New("the host has left")
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
