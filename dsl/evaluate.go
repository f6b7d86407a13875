package dsl

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/nearest"
)

// evaluator turns Files into a model.Config, once.
type evaluator struct {
	files  *Files
	report *report
	offers offers
	// refused are the types, by role, of components that broke a rule.
	refused map[[2]string]bool
	config  *model.Config

	root    *hcl.EvalContext
	fileCtx map[string]*hcl.EvalContext
	// functionNames are all functions, for messages.
	functionNames []string
	resolved      map[resolved]bool
	variables     map[string]variable
	// outside are the variables given from outside, without sensitive ones.
	outside map[string]cty.Value
	// read holds what file() read; secretFiles went into sensitive arguments.
	read        map[string][]byte
	secretFiles map[string]bool
	// demands are what the expressions read, and attributes of rows are held against.
	demands *demands
	// sinkOf remembers the sink of each stream, the default of its silvers.
	sinkOf map[addr.Address]addr.Address
	// sourceType is the type of each source block, which rules its tables.
	sourceType map[addr.Address]string
	// sourceOf remembers the source of each table.
	sourceOf map[addr.Address]addr.Address
}

// Evaluate evaluates everything, in the order variable, locals, pipectl,
// source, sink, table, stream, silver, check, and reports every fault,
// including those that Load found. The Config is nil when there is an error.
// Evaluate may be called once.
func (f *Files) Evaluate(schemas Schemas) (*model.Config, diag.List) {
	ev := &evaluator{
		files: f, report: f.report, config: &model.Config{Path: f.path, Plugins: map[string]model.RequiredPlugin{}},
		fileCtx: map[string]*hcl.EvalContext{}, functionNames: Functions(), resolved: map[resolved]bool{},
		outside: map[string]cty.Value{}, read: map[string][]byte{}, secretFiles: map[string]bool{},
		refused: map[[2]string]bool{}, sinkOf: map[addr.Address]addr.Address{}, sourceType: map[addr.Address]string{}, sourceOf: map[addr.Address]addr.Address{},
	}
	functions := pureFunctions()
	functions["env"] = ev.envFunction()
	ev.root = &hcl.EvalContext{Variables: map[string]cty.Value{}, Functions: functions}
	ev.offers = newOffers(ev.usableComponents(schemas.Components()))
	ev.demands = newDemands(f.decl)

	ev.evaluateVariables()
	ev.evaluateLocals()
	ev.evaluatePipectl()
	for _, kind := range []addr.Kind{addr.Source, addr.Sink, addr.Table, addr.Stream, addr.Silver, addr.Check} {
		ev.checkDefaults(kind)
		ev.evaluateKind(kind)
	}
	ev.checkConflicts()
	ev.finish()
	f.draft = Draft{Config: ev.config, faulty: f.report.faulty}
	list := f.diagnostics()
	if list.HasErrors() {
		return nil, list
	}
	return ev.config, list
}

// Draft is what became of a configuration, whether or not it has errors, so that
// plugins can be asked about it and all errors be told at once. It is good for
// nothing else. What is faulty in the body of a block is not known there;
// references that lead nowhere are zero.
type Draft struct {
	Config *model.Config
	faulty map[string]bool
}

// Faulty reports whether an error was found in the block. What is not there in
// its body may then have been meant to be.
func (d Draft) Faulty(a addr.Address) bool {
	return d.faulty[a.String()] || d.faulty[a.Block().String()]
}

// Draft is what the last Evaluate made, with an empty Config before it.
func (f *Files) Draft() Draft {
	if f.draft.Config == nil {
		return Draft{Config: &model.Config{}}
	}
	return f.draft
}

// usableComponents leaves out the components whose schemas break a rule, and
// reports them.
func (ev *evaluator) usableComponents(list []Component) []Component {
	var out []Component
	reserved := Reserved()
	for _, c := range list {
		at := ev.pluginPlace(c.Plugin)
		ok := true
		if p, declared := ev.plugin(c.Plugin); declared && p.Version != "" && c.PluginVersion != "" {
			if fits, err := VersionMatches(p.Version, c.PluginVersion); err == nil && !fits {
				ev.report.error(at, codeVersion, fmt.Sprintf("Plugin %q has version %s; the configuration asks for %s", c.Plugin, c.PluginVersion, p.Version),
					"Install a version that fits, or change version in required_plugins.")
			}
		}
		for _, body := range []struct {
			words  string
			schema interface{ Check([]string) error }
		}{{"connection", c.Connection}, {"object", c.Object}, {"read", c.Read}} {
			if err := body.schema.Check(reserved); err != nil {
				ev.report.error(at, codePluginSchema, fmt.Sprintf("Plugin %q cannot be used: the %s schema of its %s %q breaks a rule", c.Plugin, body.words, c.Role, c.Type),
					fmt.Sprintf("%s. This is a fault of the plugin: tell its author, or use another version.", upperFirst(err.Error())))
				ok = false
			}
		}
		if ok {
			out = append(out, c)
		} else {
			ev.refused[[2]string{string(c.Role), c.Type}] = true
		}
	}
	return out
}

// evaluateKind evaluates all blocks of a kind and makes their references.
func (ev *evaluator) evaluateKind(kind addr.Kind) {
	references := map[string]cty.Value{}
	for _, b := range ev.files.decl.blocks[kind] {
		references[b.name] = ev.evaluateBlock(kind, b)
	}
	ev.root.Variables[string(kind)] = cty.ObjectVal(references)
}

// evaluateBlock evaluates one block and returns what a reference to it is: an
// address, a map of addresses, or an unknown value when for_each is faulty.
func (ev *evaluator) evaluateBlock(kind addr.Kind, b block) cty.Value {
	component, known := ev.component(kind, b)
	if kind == addr.Source && known {
		ev.sourceType[b.address()] = b.typ
	}
	if !ev.keyed(b) {
		ev.evaluateInstance(kind, b, nil, component, known)
		return referenceValue(b.address())
	}
	instances, ok := ev.instances(kind, b)
	if !ok {
		return cty.DynamicVal
	}
	references := map[string]cty.Value{}
	for _, in := range instances {
		references[in.key] = referenceValue(addr.Instance(kind, b.name, in.key))
		ev.evaluateInstance(kind, b, &in, component, known)
	}
	if len(references) == 0 {
		return cty.MapValEmpty(referenceTypes[kind])
	}
	return cty.MapVal(references)
}

// component finds what rules the block's body by its first label.
func (ev *evaluator) component(kind addr.Kind, b block) (Component, bool) {
	if b.typ == "" {
		return Component{}, false
	}
	at := b.in(b.LabelRanges[0])
	found := ev.offers[kind][b.typ]
	switch {
	case len(found) == 1:
		return found[0], true
	case len(found) > 1:
		var names []string
		for _, c := range found {
			names = append(names, c.Plugin)
		}
		ev.report.error(at, codePluginAmbiguous, fmt.Sprintf("More than one declared plugin offers the %s type %q", kind, b.typ),
			"They are: "+diag.Listed(names)+". Remove one of them from required_plugins.")
		return Component{}, false
	case ev.refused[[2]string{string(kind), b.typ}]:
		return Component{}, false
	case slices.Contains(laterTypes[kind], b.typ):
		ev.report.error(at, codeNotBuilt, fmt.Sprintf("%s %q is not built yet", upperFirst(string(kind)), b.typ), "The type is reserved for a later release.")
		return Component{}, false
	}
	types := ev.offers.types(kind)
	detail := fmt.Sprintf("The declared plugins offer no %s at all. Add the plugin to required_plugins.", kind)
	if len(types) > 0 {
		detail = sentences("The declared plugins offer: "+diag.Listed(types)+".", nearest.DidYouMean(b.typ, "", types),
			"A plugin is declared in required_plugins of the pipectl block.")
	}
	ev.report.error(at, codePluginType, fmt.Sprintf("No declared plugin offers the %s type %q", kind, b.typ), detail)
	return Component{}, false
}

func (ev *evaluator) evaluateInstance(kind addr.Kind, b block, in *instance, component Component, known bool) {
	d := ev.newDecoder(kind, b, in)
	switch kind {
	case addr.Source:
		ev.source(d, component, known)
	case addr.Sink:
		ev.sink(d, component, known)
	case addr.Table:
		ev.table(d)
	case addr.Stream:
		ev.stream(d)
	case addr.Silver:
		ev.silver(d, component, known)
	case addr.Check:
		ev.check(d, component, known)
	}
}

// finish fills what belongs to the configuration as a whole.
func (ev *evaluator) finish() {
	c := ev.config
	for _, p := range ev.files.plugins {
		c.Plugins[p.Name] = p
	}
	c.RequiredVersion = ev.files.requiredVersion
	c.Variables = ev.outside
	slices.Sort(c.Secrets)
	c.Secrets = slices.Compact(c.Secrets)
	c.Files = slices.Clone(ev.files.texts)
	for _, path := range sortedKeys(ev.read) {
		if !ev.secretFiles[path] {
			c.Files = append(c.Files, model.File{Path: path, Content: ev.read[path]})
		}
	}
	slices.SortFunc(c.Sources, func(a, b model.Source) int { return addr.Compare(a.Addr, b.Addr) })
	slices.SortFunc(c.Sinks, func(a, b model.Sink) int { return addr.Compare(a.Addr, b.Addr) })
	slices.SortFunc(c.Tables, func(a, b model.Table) int { return addr.Compare(a.Addr, b.Addr) })
	slices.SortFunc(c.Streams, func(a, b model.Stream) int { return addr.Compare(a.Addr, b.Addr) })
	slices.SortFunc(c.Silvers, func(a, b model.Silver) int { return addr.Compare(a.Addr, b.Addr) })
	slices.SortFunc(c.Checks, func(a, b model.Check) int { return addr.Compare(a.Addr, b.Addr) })
}
