package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/wire"
)

// Options are those of a host; the zero value works.
type Options struct {
	// Executable is the program that bundles plugins; "" is this one.
	Executable string
	// Logger receives what plugins log and print, masked; nil discards it. Its
	// level is also the plugins'.
	Logger hclog.Logger
	// Reserved are core's words: a plugin whose schema uses one is refused.
	Reserved []string
	// StartTimeout bounds the start of a process; 0 means a minute.
	StartTimeout time.Duration
	// StopGrace is how long a process may take to end when asked, before it is
	// killed; 0 means ten seconds.
	StopGrace time.Duration
	// Backoff is the pause before each restart of a process; its length is how
	// often one is restarted. A process that lived for an hour makes the count
	// begin anew. nil means 1 s and 5 s.
	Backoff []time.Duration
	// Clock tells how long a process lived; nil means time.Now.
	Clock func() time.Time
	// Environ is the host's environment; nil means os.Environ.
	Environ func() []string
}

// Host runs the plugin processes of one command.
type Host struct {
	options Options
	mask    *mask
	grants  *wire.Grants

	mu      sync.Mutex
	plugins map[string]*Plugin
	stopped bool
}

// New returns a host that runs nothing yet.
func New(options Options) *Host {
	if options.Logger == nil {
		options.Logger = hclog.NewNullLogger()
	}
	if options.StartTimeout == 0 {
		options.StartTimeout = time.Minute
	}
	if options.StopGrace == 0 {
		options.StopGrace = 10 * time.Second
	}
	if options.Backoff == nil {
		options.Backoff = []time.Duration{time.Second, 5 * time.Second}
	}
	if options.Clock == nil {
		options.Clock = time.Now
	}
	if options.Environ == nil {
		options.Environ = os.Environ
	}
	return &Host{options: options, mask: newMask(), grants: wire.NewGrants(), plugins: map[string]*Plugin{}}
}

// Mask makes values sensitive beyond the arguments that schemas call so, such
// as what env() gave for the root of a lake: they are replaced in whatever
// plugins print and report, those shorter than eight characters as whole words
// only.
func (h *Host) Mask(values ...string) {
	for _, v := range values {
		h.mask.addPlace(v)
	}
}

// Start starts all declared plugins side by side and asks each what it is.
// Every plugin that does not start is reported, not only the first; then those
// that did are stopped.
func (h *Host) Start(ctx context.Context, specs []Spec) (map[string]*Plugin, error) {
	h.mu.Lock()
	if h.stopped {
		h.mu.Unlock()
		return nil, errors.New("the host was stopped")
	}
	h.mu.Unlock()
	if err := checkTempDir(); err != nil { // which no plugin could do without
		return nil, err
	}
	started := make([]*Plugin, len(specs))
	failures := make([]error, len(specs))
	var wait sync.WaitGroup
	for i, spec := range specs {
		wait.Go(func() { started[i], failures[i] = h.open(ctx, spec) })
	}
	wait.Wait()
	out := map[string]*Plugin{}
	var failed diag.List
	for i, err := range failures {
		if err != nil {
			failed = append(failed, diag.FromError(err)...)
			continue
		}
		out[specs[i].Name] = started[i]
	}
	h.mu.Lock()
	for name, p := range out {
		h.plugins[name] = p
	}
	h.mu.Unlock()
	if err := errors.Join(failures...); err != nil {
		h.Stop()
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, failed.Err()
	}
	return out, nil
}

// open starts one plugin, again after a pause when something ends its process on
// the way, as often as one is restarted later.
func (h *Host) open(ctx context.Context, spec Spec) (*Plugin, error) {
	for try := 0; ; try++ {
		p, err := h.openOnce(ctx, spec)
		if ctx.Err() != nil || !diag.HasCode(err, plugin.CodeCrashed) {
			return p, err
		}
		if try == len(h.options.Backoff) {
			last := diag.FromError(err)[0]
			return nil, refused(spec, codeCrashes, last.Detail, "Plugin %q ended unexpectedly %d times as it started, and is not started again", spec.Name, try+1)
		}
		h.options.Logger.Warn("starting a plugin again that ended as it started", "plugin", spec.Name, "restart", try+1)
		if err := pause(ctx, h.options.Backoff[try]); err != nil {
			return nil, err
		}
	}
}

// pause waits, unless the context ends before.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// openOnce starts one process and checks what it says of itself.
func (h *Host) openOnce(ctx context.Context, spec Spec) (*Plugin, error) {
	proc, err := h.start(ctx, spec)
	if err != nil {
		return nil, err
	}
	p := newPlugin(h, spec, proc)
	p.description, err = proc.wire.Describe(ctx)
	err = p.judge(proc, err)
	for _, c := range p.description.Components {
		for body, s := range map[string]interface{ Check([]string) error }{"connection": c.Connection, "object": c.Object, "read": c.Read} {
			if wrong := s.Check(h.options.Reserved); wrong != nil && err == nil {
				err = refused(spec, "plugin.schema", "The plugin's author has to mend this.",
					"Plugin %q cannot be used: the %s body of %s %q: %v", spec.Name, body, c.Role, c.Type, wrong)
			}
		}
	}
	if err != nil {
		proc.stop(h.options.StopGrace)
		return nil, fmt.Errorf("describing plugin %q: %w", spec.Name, err)
	}
	return p, nil
}

// Stop ends all plugins side by side and returns when every process is gone.
// It may be called more than once.
func (h *Host) Stop() {
	h.mu.Lock()
	h.stopped = true
	plugins := h.plugins
	h.plugins = map[string]*Plugin{}
	h.mu.Unlock()
	var wait sync.WaitGroup
	for _, p := range plugins {
		wait.Go(p.stop)
	}
	wait.Wait()
}
