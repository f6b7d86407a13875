package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	gorunner "github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/wire"
)

// process is one running process of a plugin.
type process struct {
	name   string
	client *goplugin.Client
	runner *runner
	wire   *wire.Client
	tail   *tail
	// services is what the host serves to this process, serving waits for it.
	services *grpc.Server
	serving  sync.WaitGroup

	mu sync.Mutex
	// reason is why the host ended the process, "" when it ended by itself.
	reason string
	// stopping is set when the host ends it on purpose.
	stopping bool
}

// start starts a process and connects to it. A cancelled context kills it.
func (h *Host) start(ctx context.Context, spec Spec) (*process, error) {
	cmd, err := spec.command(h.options.Executable)
	if err != nil {
		return nil, err
	}
	logger := maskedLogger{Logger: h.options.Logger.Named(spec.Name), mask: h.mask}
	p := &process{name: spec.Name, tail: newTail(h.mask)}
	plugged := &adapter{host: h, process: p}
	printed := func(stream string) *lineWriter {
		return &lineWriter{line: func(line string) { logger.Info(line, "stream", stream) }}
	}
	cmd.Env = append(environment(h.options.Environ(), spec.PassEnv), wire.LogLevelVariable+"="+levelName(logger))
	plugged.config = &goplugin.ClientConfig{
		HandshakeConfig:  wire.Handshake(),
		VersionedPlugins: map[int]goplugin.PluginSet{wire.ProtocolVersion: {wire.PluginName: plugged}},
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		// go-plugin fills a command with its own variables; ours has the rest.
		RunnerFunc: func(_ hclog.Logger, filled *exec.Cmd, sockets string) (gorunner.Runner, error) {
			cmd.Env = append(cmd.Env, filled.Env...)
			r, err := newRunner(spec.Name, cmd, h.options.Clock)
			p.mu.Lock()
			defer p.mu.Unlock()
			if err == nil && p.reason != "" {
				err = errors.New(p.reason)
			}
			if err != nil { // go-plugin removes the folder of a runner only
				return nil, errors.Join(err, os.RemoveAll(sockets))
			}
			p.runner = r
			return r, nil
		},
		SkipHostEnv:      true,
		UnixSocketConfig: &goplugin.UnixSocketConfig{TempDir: socketParent()},
		// Sockets in a private folder need no TLS, which costs a third of the
		// rate; TCP, on Windows, does.
		AutoMTLS:        runtime.GOOS == "windows",
		GRPCDialOptions: wire.DialOptions(),
		StartTimeout:    h.options.StartTimeout,
		Logger:          logger,
		Stderr:          p.tail,
		SyncStdout:      printed("stdout"),
		SyncStderr:      printed("stderr"),
	}
	p.client = goplugin.NewClient(plugged.config)
	var raw any
	connected := make(chan error, 1)
	go func() {
		connection, err := p.client.Client()
		if err == nil {
			raw, err = connection.Dispense(wire.PluginName)
		}
		connected <- err
	}()
	select {
	case err = <-connected:
	case <-ctx.Done():
		p.kill("its start was cancelled")
		<-connected
		err = context.Cause(ctx)
	}
	if err != nil {
		p.stop(0)
		return nil, h.startError(ctx, p, spec, err)
	}
	p.wire = raw.(*wire.Client)
	return p, nil
}

// startError explains a process that did not come up.
func (h *Host) startError(ctx context.Context, p *process, spec Spec, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("starting plugin %q: %w", spec.Name, context.Cause(ctx))
	}
	if how, ok := p.killedByOthers(); ok {
		d := diag.Errorf(diag.KindTransient, plugin.CodeCrashed, p.lastWords(how), "Plugin %q ended unexpectedly while it started: %s", p.name, how)
		d.Data = map[string]string{"plugin": p.name, "pid": p.runner.ID(), "exit": how}
		return d.Err()
	}
	detail := strings.Join(p.tail.last(), "\n")
	if detail == "" {
		detail = "It wrote nothing to standard error. Is it a plugin built for this system?"
	}
	return refused(spec, "plugin.start", detail, "Plugin %q does not start: %s", spec.Name, h.mask.text(firstLine(err.Error())))
}

// killedByOthers reports whether a process that did not come up was ended by a
// signal that the host did not send, and by which. It is called when the process
// is gone.
func (p *process) killedByOthers() (how string, ok bool) {
	if p.runner == nil || !p.runner.wentFirst() {
		return "", false
	}
	select {
	case <-p.runner.exited:
	default:
		return "", false // it never was
	}
	var exit *exec.ExitError
	if !errors.As(p.runner.err, &exit) || exit.Exited() {
		return "", false
	}
	return exit.String(), true
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

func levelName(l hclog.Logger) string {
	switch {
	case l.IsDebug():
		return "debug"
	case l.IsInfo():
		return "info"
	case l.IsWarn():
		return "warn"
	}
	return "error"
}

// alive reports whether the process runs, as far as is known.
func (p *process) alive() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.running()
}

func (p *process) running() bool {
	select {
	case <-p.runner.exited:
		return false
	case <-p.runner.over:
		return false
	default:
		return p.reason == ""
	}
}

// kill ends the process and its group. The first reason is kept; a process that is
// gone already went without one.
func (p *process) kill(reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reason == "" && (p.runner == nil || p.running()) {
		p.reason = reason
	}
	if p.runner != nil {
		// The only error is of a process that may not be signalled, which is not
		// a child of ours.
		_ = p.runner.Kill(context.Background())
	}
}

// deathNotice is how long a process whose connection broke may take to end by
// itself, so that its own reason is shown.
const deathNotice = 2 * time.Second

// crash is the diagnostic of a process that went away under a call. It makes
// sure that the process is gone: one that stopped answering is killed.
func (p *process) crash() diag.Diagnostic {
	notice := time.NewTimer(deathNotice)
	defer notice.Stop()
	select {
	case <-p.runner.exited:
	case <-p.runner.over:
		<-p.runner.exited // soon: its pipes are read no longer than drained
	case <-notice.C:
		p.kill("it stopped answering")
		<-p.runner.exited
	}
	p.mu.Lock()
	reason, stopping := p.reason, p.stopping
	p.mu.Unlock()
	if stopping {
		return diag.Errorf(diag.KindTransient, "plugin.stopped", "Run again.", "Plugin %q was stopped", p.name)
	}
	how := "it exited by itself"
	var exit *exec.ExitError
	switch {
	case reason != "":
		how = reason + " and was killed"
	case errors.As(p.runner.err, &exit):
		how = exit.String()
	}
	d := diag.Errorf(diag.KindTransient, plugin.CodeCrashed, p.lastWords(how), "Plugin %q ended unexpectedly: %s", p.name, how)
	d.Data = map[string]string{"plugin": p.name, "pid": p.runner.ID(), "exit": how}
	return d
}

// lastWords are what a process that ended so wrote last, and what else is known.
func (p *process) lastWords(how string) string {
	words := "It wrote nothing to standard error."
	if lines := p.tail.last(); len(lines) > 0 {
		words = "Its last lines:\n" + strings.Join(lines, "\n")
	}
	if how == "signal: killed" {
		words += "\nSomething killed it; on Linux that is often the kernel when memory runs out."
	}
	return words
}

// lostWrite is the diagnostic of a write whose process is gone. A caller that
// tried again may not have told of the crash itself, so this tells how it went.
func (p *process) lostWrite() diag.Diagnostic {
	return lostWith(p.crash())
}

// lostWith is a crash that took a write along.
func lostWith(crash diag.Diagnostic) diag.Diagnostic {
	crash.Code = plugin.CodeWriteLost
	crash.Summary = "A write was lost. " + crash.Summary
	return crash
}

// stop ends the process: it is asked to end, and killed by pid when it has not
// after the grace. It returns when the process and all that served it are gone.
func (p *process) stop(grace time.Duration) {
	p.mu.Lock()
	// A process that is gone was not stopped: calls that it had say why it went.
	p.stopping = p.runner == nil || p.running()
	p.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.client.Kill() // blocks for ever on a frozen process
	}()
	deadline := time.NewTimer(grace)
	defer deadline.Stop()
	select {
	case <-done:
	case <-deadline.C:
		p.kill("it did not end when asked")
		<-done
	}
	if p.services != nil {
		p.services.Stop()
	}
	p.serving.Wait()
}

// adapter is go-plugin's view of a process.
type adapter struct {
	goplugin.NetRPCUnsupportedPlugin
	host    *Host
	process *process
	config  *goplugin.ClientConfig
}

// GRPCServer is the plugin's side and not served by a host.
func (a *adapter) GRPCServer(*goplugin.GRPCBroker, *grpc.Server) error {
	return errors.New("a host is no plugin")
}

// GRPCClient serves the host's services to the process and returns its client.
func (a *adapter) GRPCClient(_ context.Context, broker *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	options := wire.ServerOptions()
	if a.config.TLSConfig != nil { // made by go-plugin, with AutoMTLS
		options = append(options, grpc.Creds(credentials.NewTLS(a.config.TLSConfig)))
	}
	server := grpc.NewServer(options...)
	wire.RegisterHost(server, a.host.grants)
	a.process.services = server
	a.process.serving.Go(func() {
		// The announcement fails only when the process goes at once; a plugin
		// without it says so at the first step that needs the host.
		lis, err := broker.Accept(wire.HostBrokerID)
		if err == nil {
			err = server.Serve(lis)
		}
		if err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			a.config.Logger.Debug("serving a plugin ended", "error", err)
		}
	})
	return wire.NewClient(conn, a.host.grants), nil
}
