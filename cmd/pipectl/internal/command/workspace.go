package command

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/uuid"
	"github.com/hashicorp/go-hclog"
	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/cmd/pipectl/internal/bundled"
	"github.com/pipectl/pipectl/cmd/pipectl/internal/cli"
	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/host"
	"github.com/pipectl/pipectl/core/schema"
	"github.com/pipectl/pipectl/core/state"
	"github.com/pipectl/pipectl/dsl"
)

// workspace is a configuration with its plugins running.
type workspace struct {
	env      *Environment
	files    *dsl.Files
	config   *model.Config
	host     *host.Host
	plugins  map[string]*host.Plugin
	specs    []host.Spec
	warnings diag.List
	runID    string
	sessions *sessions
	memory   int64
	// planFile tells that a saved plan is carried out.
	planFile bool
	// told are the warnings of the plan that a run began with.
	told diag.List
}

// open loads the configuration, starts its plugins and evaluates it. The
// workspace must be closed, also when an error is returned with it.
func open(ctx context.Context, e *Environment, c cli.Common, offline bool) (*workspace, error) {
	if err := noSavedPlan(c.Path); err != nil {
		return &workspace{env: e}, err
	}
	files, list := dsl.Load(c.Path, e.options(c, offline))
	if files == nil {
		return &workspace{env: e}, list.Err()
	}
	if slices.ContainsFunc(list, func(d diag.Diagnostic) bool { return d.Code == "plugin.unknown" }) {
		// Its process cannot start, and without its schemas all else looks wrong.
		return &workspace{env: e, files: files}, list.Err()
	}
	return openFiles(ctx, e, c, files)
}

// openLakes is open for a command that asks lakes alone: what the environment
// gives to sources may be missing, but not what it gives to a sink.
func openLakes(ctx context.Context, e *Environment, c cli.Common) (*workspace, error) {
	w, err := open(ctx, e, c, true)
	if err != nil || !slices.ContainsFunc(w.config.Sinks, func(s model.Sink) bool { return !s.Body.IsWhollyKnown() }) {
		return w, err
	}
	w.close()
	return open(ctx, e, c, false) // which says what is missing
}

// noSavedPlan refuses a saved plan where a configuration is wanted.
func noSavedPlan(path string) error {
	if !plan.IsSaved(path) {
		return nil
	}
	return diag.Errorf(diag.KindConfiguration, "path.saved_plan", "Carry it out with: pipectl apply "+diag.Shell(path)+". Every other command reads a configuration, a folder or a file of it.",
		"%s is a saved plan, not a configuration", path).Err()
}

func (e *Environment) options(c cli.Common, offline bool) dsl.Options {
	return dsl.Options{Vars: c.Vars, VarFiles: c.VarFiles, Environ: e.Lookup, Offline: offline, Bundled: bundled.Sources(), Version: plugin.Release}
}

func openFiles(ctx context.Context, e *Environment, c cli.Common, files *dsl.Files) (*workspace, error) {
	w := &workspace{env: e, files: files, runID: uuid.NewString(), memory: c.Memory}
	if err := w.start(ctx, c); err != nil {
		return w, w.withText(files, err)
	}
	config, list := files.Evaluate(w.schemas())
	w.warnings = list.Warnings()
	draft := files.Draft()
	w.host.Mask(draft.Config.Secrets...)
	found := w.validate(ctx, draft)
	if config != nil {
		found = append(found, w.capabilities(ctx, config)...)
	}
	w.warnings = append(w.warnings, found.Warnings()...)
	if err := slices.Concat(list, found).Err(); err != nil {
		return w, err
	}
	w.config = config
	w.sessions = newSessions(w)
	return w, nil
}

// withText adds what the text alone says is wrong, so that a plugin that does
// not start hides no mistake.
func (w *workspace) withText(files *dsl.Files, err error) error {
	return append(diag.FromError(err), w.warnings...).Err()
}

// start runs the plugins that the configuration declares.
func (w *workspace) start(ctx context.Context, c cli.Common) error {
	lock, list := dsl.ReadLock(w.files.LockPath())
	if err := list.Err(); err != nil {
		return err
	}
	dir := filepath.Dir(w.files.LockPath())
	for _, p := range w.files.RequiredPlugins() {
		spec := host.Spec{Name: p.Name, Source: p.Source, Dir: dir, PassEnv: p.PassEnv}
		if locked, ok := lock.Plugin(p.Name); ok && len(locked.SHA256) > 0 {
			spec.Digest = locked.SHA256[0]
			if have, err := host.Digest(w.place(spec)); err == nil && locked.Allows(have) {
				spec.Digest = have
			}
		}
		w.specs = append(w.specs, spec)
	}
	w.host = host.New(host.Options{Logger: w.env.logger(c.Verbose), Reserved: dsl.Reserved()})
	plugins, err := w.host.Start(ctx, w.specs)
	w.plugins = plugins
	return w.named(err)
}

// named places what the host says of a plugin's file, or of how it starts, where
// the text names it.
func (w *workspace) named(err error) error {
	list, found := slices.Clone(diag.FromError(err)), false
	for i, d := range list {
		if len(d.Path) < 2 || d.Path[0] != "required_plugins" {
			continue
		}
		for _, p := range w.files.RequiredPlugins() {
			if p.Name == d.Path[1] && p.Origin.Block.Filename != "" {
				list[i].Subject, list[i].Context = p.Origin.Place(d.Path[2:]), p.Origin.Header
				found = true
			}
		}
	}
	if !found {
		return err // which may be of no diagnostic, as a cancellation is
	}
	return list.Err()
}

func (w *workspace) place(s host.Spec) string {
	if filepath.IsAbs(s.Source) {
		return s.Source
	}
	return filepath.Join(s.Dir, s.Source)
}

func (e *Environment) logger(verbose bool) hclog.Logger {
	level := hclog.Off // what a plugin does wrong is a diagnostic
	if verbose {
		level = hclog.Debug
	}
	return hclog.New(&hclog.LoggerOptions{Name: "pipectl", Level: level, Output: e.Streams.Err})
}

var roleKinds = map[plugin.Role]addr.Kind{
	plugin.RoleSource: addr.Source, plugin.RoleSink: addr.Sink, plugin.RoleSilver: addr.Silver, plugin.RoleCheck: addr.Check,
}

// schemas lists what the plugins offer.
func (w *workspace) schemas() dsl.Components {
	var out dsl.Components
	for _, spec := range w.specs {
		description, err := w.plugins[spec.Name].Describe(context.Background())
		if err != nil {
			continue // the host has described every plugin that it started
		}
		for _, c := range description.Components {
			out = append(out, dsl.Component{
				Plugin: spec.Name, PluginVersion: description.Version, Role: roleKinds[c.Role], Type: c.Type,
				Connection: c.Connection, Object: c.Object, Read: c.Read,
			})
		}
	}
	return out
}

// validate asks the plugins about what a schema cannot say. Values may not be
// known, offline or because they are faulty, and what is not there may be missing
// for an error that was found; then the plugins are asked about the others.
func (w *workspace) validate(ctx context.Context, draft dsl.Draft) diag.List {
	var list diag.List
	ask := func(a addr.Address, origin model.Origin, pluginName, typ string, role plugin.Role, body plugin.BodyKind, value cty.Value, prefix ...any) {
		p := w.plugins[pluginName]
		if p == nil || value == cty.NilVal {
			return
		}
		about := func(value cty.Value) diag.List {
			found, err := p.ValidateConfig(ctx, plugin.ComponentID{Role: role, Type: typ}, body, value)
			return append(found, diag.FromError(err)...)
		}
		var found diag.List
		if value.IsWhollyKnown() && !draft.Faulty(a) {
			found = about(value)
		} else if s, ok := schemaOf(ctx, p, role, typ, body); ok {
			found = settled(s, value, about)
		}
		for i := range found {
			found[i].Path = append(append(diag.Path{}, prefix...), found[i].Path...)
		}
		list = append(list, origin.Locate(a, found)...)
	}
	c := draft.Config
	for _, s := range c.Sources {
		ask(s.Addr, s.Origin, s.Plugin, s.Type, plugin.RoleSource, plugin.BodyConnection, s.Body)
	}
	for _, s := range c.Sinks {
		ask(s.Addr, s.Origin, s.Plugin, s.Type, plugin.RoleSink, plugin.BodyConnection, s.Body)
	}
	for _, t := range c.Tables {
		if source := c.Source(t.Source); source != nil {
			ask(t.Addr, t.Origin, source.Plugin, source.Type, plugin.RoleSource, plugin.BodyObject, t.Body)
		}
	}
	for _, s := range c.Streams {
		if t := c.Table(s.Table); t != nil && c.Source(t.Source) != nil {
			source := c.Source(t.Source)
			ask(s.Addr, s.Origin, source.Plugin, source.Type, plugin.RoleSource, plugin.BodyRead, s.Read, "read")
		}
	}
	for _, v := range c.Silvers {
		ask(v.Addr, v.Origin, v.Plugin, v.Type, plugin.RoleSilver, plugin.BodyObject, v.Body)
	}
	for _, k := range c.Checks {
		ask(k.Addr, k.Origin, k.Plugin, k.Type, plugin.RoleCheck, plugin.BodyObject, k.Body)
	}
	return list
}

// schemaOf is the schema of a component's body.
func schemaOf(ctx context.Context, p *host.Plugin, role plugin.Role, typ string, body plugin.BodyKind) (schema.Body, bool) {
	description, err := p.Describe(ctx)
	if err != nil {
		return schema.Body{}, false // the host has described every plugin that it started
	}
	for _, c := range description.Components {
		if c.Role == role && c.Type == typ {
			s, ok := map[plugin.BodyKind]schema.Body{plugin.BodyConnection: c.Connection, plugin.BodyObject: c.Object, plugin.BodyRead: c.Read}[body]
			return s, ok
		}
	}
	return schema.Body{}, false
}

// excerpt gives the line of a range; nil-safe for commands that fail early.
func (w *workspace) excerpt(r diag.Range) string {
	if w != nil && w.files != nil {
		return w.files.Excerpt(r)
	}
	// A text that could not be parsed is in no Files; show its line all the same.
	content, err := os.ReadFile(r.Filename)
	if err != nil {
		return ""
	}
	return dsl.Excerpt(content, r)
}

// fail shows an error with the text it is about.
func (w *workspace) fail(err error) int { return w.env.fail(err, w.excerpt) }

// close ends sessions and processes.
func (w *workspace) close() {
	if w.sessions != nil {
		w.sessions.close()
	}
	if w.host != nil {
		w.host.Stop()
	}
}

// used lists the plugins for a plan.
func (w *workspace) used() []plan.Plugin {
	var out []plan.Plugin
	for _, s := range w.specs {
		p := plan.Plugin{Name: s.Name, Source: s.Source, Digest: s.Digest}
		if d, err := w.plugins[s.Name].Describe(context.Background()); err == nil {
			p.Version = d.Version
		}
		out = append(out, p)
	}
	return out
}

// lakes opens every sink that a stream writes to, as plugins have it.
func (w *workspace) lakes(ctx context.Context, plugins planner.Plugins) (map[addr.Address]*planner.Lake, error) {
	out := map[addr.Address]*planner.Lake{}
	for i := range w.config.Sinks {
		sink := &w.config.Sinks[i]
		if !slices.ContainsFunc(w.config.Streams, func(s model.Stream) bool { return s.To == sink.Addr }) {
			continue
		}
		lake, err := planner.OpenLake(ctx, w.config, sink, plugins, planner.LakeOptions{Clock: w.env.Clock, Gone: noticed()})
		if err != nil {
			return out, sink.Origin.Locate(sink.Addr, diag.FromError(err)).Err()
		}
		out[sink.Addr] = lake
	}
	return out, nil
}

// holder is who locks name.
func (w *workspace) holder() state.Holder {
	hostname, err := os.Hostname()
	if err != nil {
		hostname = "unknown host"
	}
	return state.Holder{Run: w.runID, Host: hostname, PID: os.Getpid()}
}
