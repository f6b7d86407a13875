package dsl

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/nearest"
)

// readPipectl reads what must be known before plugins can be asked:
// required_version and required_plugins, which are constants.
func (f *Files) readPipectl() {
	if f.decl.pipectl == nil {
		f.report.error(place{}, codeBlockMissing, "The configuration has no pipectl block",
			`Add one: pipectl { name = "NAME" required_plugins { ... } }. It names the configuration and its plugins.`)
		return
	}
	b := *f.decl.pipectl
	if a, ok := b.Body.Attributes["required_version"]; ok {
		f.readRequiredVersion(b, a)
	}
	for _, nested := range b.Body.Blocks {
		if nested.Type != pluginArguments.Name {
			continue
		}
		for _, other := range nested.Body.Blocks {
			f.report.error(b.in(other.DefRange()), codeBlockUnknown, fmt.Sprintf("Block %q cannot stand in required_plugins", other.Type),
				fmt.Sprintf("A plugin is an argument: %s = { source = \"...\" }", other.Type))
		}
		for _, name := range attributeOrder(nested.Body) {
			f.readPlugin(b, nested.Body.Attributes[name])
		}
	}
	slices.SortFunc(f.plugins, func(a, b model.RequiredPlugin) int { return strings.Compare(a.Name, b.Name) })
}

func (f *Files) readRequiredVersion(b block, a *hclsyntax.Attribute) {
	v, diags := a.Expr.Value(nil)
	at := b.in(a.SrcRange)
	if diags.HasErrors() || v.IsNull() || v.Type() != cty.String {
		f.report.error(at, codeArgumentType, "required_version is a constant text", `Write it as: required_version = ">= 0.1"`)
		return
	}
	text := v.AsString()
	if _, err := parseConstraint(text); err != nil {
		f.report.error(at, codeArgumentValue, fmt.Sprintf("required_version %q cannot be read", text), versionForms)
		return
	}
	f.requiredVersion = text
	if f.opts.Version == "" {
		return
	}
	if ok, err := VersionMatches(text, f.opts.Version); err == nil && !ok {
		f.report.error(at, codeVersion, fmt.Sprintf("This is pipectl %s; the configuration asks for %s", f.opts.Version, text),
			"Use another version of pipectl, or change required_version.")
	}
}

const versionForms = `Write terms of =, !=, >, >=, <, <=, ~> and a version, with commas between: ">= 0.1, < 2".`

func (f *Files) readPlugin(b block, a *hclsyntax.Attribute) {
	form := fmt.Sprintf("Write it as: %s = { source = \"pipectl/%s\" }", a.Name, a.Name)
	v, diags := a.Expr.Value(nil)
	if diags.HasErrors() {
		f.report.error(b.in(a.SrcRange), codeArgumentType, fmt.Sprintf("Plugin %q is not declared with constants", a.Name),
			"Plugins are found before anything is evaluated: no references, no functions. "+form)
		return
	}
	if v.IsNull() || !v.Type().IsObjectType() {
		f.report.error(b.in(a.SrcRange), codeArgumentType, fmt.Sprintf("Plugin %q is declared with %s, not with a map", a.Name, typeName(v.Type())), form)
		return
	}
	p := model.RequiredPlugin{Name: a.Name, Origin: model.Origin{Header: b.header(), Block: *rangeOf(a.SrcRange), Attributes: map[string]diag.Range{}}}
	parts := v.AsValueMap()
	at := func(name string) place {
		rng, ok := literalRange(a.Expr, diag.Path{name})
		if !ok {
			rng = a.SrcRange
		}
		p.Origin.Attributes[name] = *rangeOf(rng)
		return b.in(rng)
	}
	for _, name := range sortedKeys(parts) {
		place := at(name)
		value := parts[name]
		switch name {
		case "source", "version":
			if value.IsNull() || value.Type() != cty.String {
				f.report.error(place, codeArgumentType, fmt.Sprintf("%s of plugin %q is %s, not a text", name, a.Name, typeName(value.Type())), form)
				continue
			}
			if name == "source" {
				p.Source = value.AsString()
				continue
			}
			p.Version = value.AsString()
			if _, err := parseConstraint(p.Version); err != nil {
				f.report.error(place, codeArgumentValue, fmt.Sprintf("The version %q of plugin %q cannot be read", p.Version, a.Name), versionForms)
			}
		case "pass_env":
			names, ok := constantTexts(value)
			if !ok {
				f.report.error(place, codeArgumentType, fmt.Sprintf("pass_env of plugin %q is no list of texts", a.Name), `Write it as: pass_env = ["NAME"]`)
			}
			p.PassEnv = names
		default:
			f.report.error(place, codeArgumentUnknown, fmt.Sprintf("No argument named %q for a plugin", name),
				sentences("A plugin has: "+diag.Listed(pluginArguments.names())+".", nearest.DidYouMean(name, "", pluginArguments.names())))
		}
	}
	if _, ok := parts["source"]; !ok {
		f.report.error(b.in(a.SrcRange), codeArgumentMissing, fmt.Sprintf("Plugin %q has no source", a.Name), form)
		return
	}
	f.checkPluginSource(at("source"), p)
	f.plugins = append(f.plugins, p)
}

// checkPluginSource refuses a source that is neither bundled nor a path.
func (f *Files) checkPluginSource(at place, p model.RequiredPlugin) {
	if p.Source == "" || isPath(p.Source) || len(f.opts.Bundled) == 0 || slices.Contains(f.opts.Bundled, p.Source) {
		return
	}
	f.report.error(at, codePluginUnknown, fmt.Sprintf("No plugin named %q", p.Source),
		sentences("This pipectl has: "+diag.Listed(f.opts.Bundled)+".", nearest.DidYouMean(p.Source, "", f.opts.Bundled), "A plugin of your own is given as a path: ./plugins/NAME."))
}

func isPath(source string) bool {
	return strings.HasPrefix(source, "./") || strings.HasPrefix(source, "../") || strings.HasPrefix(source, "/")
}

func constantTexts(v cty.Value) ([]string, bool) {
	t := v.Type()
	if v.IsNull() || !(t.IsTupleType() || t.IsListType() || t.IsSetType()) {
		return nil, false
	}
	var out []string
	for _, part := range v.AsValueSlice() {
		if part.IsNull() || part.Type() != cty.String {
			return nil, false
		}
		out = append(out, part.AsString())
	}
	return out, true
}

func (ev *evaluator) plugin(name string) (model.RequiredPlugin, bool) {
	for _, p := range ev.files.plugins {
		if p.Name == name {
			return p, true
		}
	}
	return model.RequiredPlugin{}, false
}

func (ev *evaluator) pluginPlace(name string) place {
	p, ok := ev.plugin(name)
	if !ok || ev.files.decl.pipectl == nil {
		return place{}
	}
	r := p.Origin.Block
	return ev.files.decl.pipectl.in(hcl.Range{Filename: r.Filename,
		Start: hcl.Pos{Line: r.Start.Line, Column: r.Start.Column, Byte: r.Start.Byte},
		End:   hcl.Pos{Line: r.End.Line, Column: r.End.Column, Byte: r.End.Byte}})
}

// evaluatePipectl evaluates the rest of the pipectl block.
func (ev *evaluator) evaluatePipectl() {
	if ev.files.decl.pipectl == nil {
		return
	}
	b := *ev.files.decl.pipectl
	bt, _ := blockType("pipectl")
	d := ev.blockDecoder(b, bt, "The pipectl block")
	ev.checkBody(bt, d.view, nil, true, b.header(), addr.Address{})
	ev.config.Name = d.text("name")
	if !d.failed["name"] {
		ev.checkConfigurationName(d, ev.config.Name)
	}
	ev.config.Environment = d.text("environment")
	if len(d.view.blocks("required_plugins")) == 0 {
		ev.report.error(b.at(), codeBlockMissing, "The pipectl block has no required_plugins", "Add: required_plugins { NAME = { source = \"...\" } }")
	}
	if nested := d.nested(stateArguments); nested != nil {
		ev.config.StatePath = nested.text("path")
	}
	ev.config.Origin = *d.origin
}

// checkConfigurationName keeps to what every file system and object store
// takes as a folder name.
func (ev *evaluator) checkConfigurationName(d *decoder, name string) {
	if name == "" {
		return
	}
	for i, r := range name {
		if r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || (i > 0 && (r == '-' || r == '.')) {
			continue
		}
		d.fault("name", codeArgumentValue, fmt.Sprintf("The name %q cannot be part of a path", name), "Use letters, digits, underscores, hyphens and dots.")
		return
	}
}

func upperFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return strings.TrimSpace(string(unicode.ToUpper(r)) + s[n:])
}
