package dsl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/nearest"
	"github.com/pipectl/pipectl/core/schema"
)

// checkBody reports every argument and nested block of a body that neither the
// core nor the plugin's schema knows. strict is false where the schema could
// not be found, which has been reported; then only reserved words are.
func (ev *evaluator) checkBody(bt BlockType, view bodyView, plugin *schema.Body, strict bool, header string, address addr.Address) {
	c := bodyCheck{ev: ev, args: bt, plugin: plugin, strict: strict || bt.Name == "variable", header: header, address: address}
	for _, name := range attributeOrder(view.own) {
		c.attribute(view.own.Attributes[name])
	}
	seen := map[string]bool{}
	for _, b := range view.own.Blocks {
		c.block(b, seen)
	}
}

type bodyCheck struct {
	ev      *evaluator
	args    BlockType
	plugin  *schema.Body
	strict  bool
	header  string
	address addr.Address
}

func (c bodyCheck) names() []string {
	names := c.args.names()
	if c.plugin != nil {
		names = append(names, c.plugin.Names()...)
	}
	return names
}

func (c bodyCheck) notBuilt(name string, at place) bool {
	if arg, ok := c.args.argument(name); !ok || !arg.Later {
		return false
	}
	c.ev.report.error(at, codeNotBuilt, fmt.Sprintf("%s is not built yet", name), "The word is reserved for a later release. Remove it.")
	return true
}

func (c bodyCheck) pluginAttribute(name string) (known, isBlock bool) {
	if c.plugin == nil {
		return false, false
	}
	if _, ok := c.plugin.Attribute(name); ok {
		return true, false
	}
	return slices.ContainsFunc(c.plugin.Blocks, func(b schema.Block) bool { return b.Name == name }), true
}

func (c bodyCheck) attribute(a *hclsyntax.Attribute) {
	at := place{rng: a.SrcRange, header: c.header, address: c.address}
	if c.notBuilt(a.Name, at) {
		return
	}
	arg, core := c.args.argument(a.Name)
	known, isBlock := c.pluginAttribute(a.Name)
	switch {
	case core && arg.Block || known && isBlock:
		c.ev.report.error(at, codeArgumentType, fmt.Sprintf("%s is a block, not an argument", a.Name), fmt.Sprintf("Write it without the equals sign: %s { ... }", a.Name))
	case core || known || !c.strict:
	default:
		c.ev.report.error(at, codeArgumentUnknown, fmt.Sprintf("No argument named %q in a %s block", a.Name, c.args.Name),
			sentences("It has: "+diag.Listed(c.names())+".", nearest.DidYouMean(a.Name, "", c.names())))
	}
}

func (c bodyCheck) block(b *hclsyntax.Block, seen map[string]bool) {
	at := place{rng: b.DefRange(), header: c.header, address: c.address}
	if c.notBuilt(b.Type, at) {
		return
	}
	arg, core := c.args.argument(b.Type)
	known, isBlock := c.pluginAttribute(b.Type)
	switch {
	case core && !arg.Block || known && !isBlock:
		c.ev.report.error(at, codeArgumentType, fmt.Sprintf("%s is an argument, not a block", b.Type), fmt.Sprintf("Write it with an equals sign: %s = ...", b.Type))
		return
	case !core && !known:
		if c.strict {
			c.ev.report.error(at, codeBlockUnknown, fmt.Sprintf("No block named %q in a %s block", b.Type, c.args.Name),
				sentences("It has: "+diag.Listed(c.names())+".", nearest.DidYouMean(b.Type, "", c.names())))
		}
		return
	case core && len(b.Labels) > 0:
		c.ev.report.error(at, codeBlockLabels, fmt.Sprintf("Block %q has no label", b.Type), fmt.Sprintf("Write it as: %s { ... }", b.Type))
	}
	// Plugin-ruled blocks are counted where they are decoded.
	if core && seen[b.Type] && b.Type != validationArguments.Name {
		c.ev.report.error(at, codeBlockDuplicate, fmt.Sprintf("A second block %q", b.Type), "It may stand once. Put both together.")
	}
	seen[b.Type] = true
}

// pluginBody decodes what a plugin rules of a body. The value is of the
// schema's implied type, without marks; faulty parts are not known and reported.
func (d *decoder) pluginBody(body schema.Body, view bodyView, path diag.Path) cty.Value {
	values := map[string]cty.Value{}
	for _, attr := range body.Attributes {
		values[attr.Name] = d.pluginAttribute(attr, view, append(path[:len(path):len(path)], attr.Name))
	}
	for _, nested := range body.Blocks {
		values[nested.Name] = d.pluginBlock(nested, view.blocks(nested.Name), append(path[:len(path):len(path)], nested.Name))
	}
	return cty.ObjectVal(values)
}

func (d *decoder) pluginAttribute(attr schema.Attribute, view bodyView, path diag.Path) cty.Value {
	fallback, faulty := cty.NullVal(attr.Type), cty.UnknownVal(attr.Type)
	if attr.Default != cty.NilVal {
		fallback = attr.Default
	}
	key := path.String()
	if attr.Sensitive {
		d.origin.Sensitive[key] = true
	}
	a := view.attribute(attr.Name)
	if a == nil {
		d.origin.Defaults[key] = true
		if attr.Required {
			d.ev.report.error(d.sc.at(d.missing), codeArgumentMissing, fmt.Sprintf("%s has no %s", upperFirst(d.sc.header), key),
				sentences("Add: "+attr.Name+" = ...", attr.Description))
			return faulty
		}
		return fallback
	}
	d.origin.Attributes[key] = *rangeOf(a.SrcRange)
	if !attr.Sensitive && !d.connection() { // whose lines are masked where they stand
		d.origin.Attributes[key] = *rangeOf(d.written(a))
	}
	at := d.at(a)
	if attr.Deprecated != "" {
		d.ev.report.warn(at, codeArgumentOld, fmt.Sprintf("%s is going away", key), attr.Deprecated)
	}
	v, ok := d.sc.evaluate(a.Expr)
	if !ok {
		return faulty
	}
	v, secret, files := plain(v)
	switch {
	case attr.Sensitive:
		d.sensitiveValue(a, key, v, secret, files)
	case secret && !d.connection():
		d.ev.report.error(at, codeValueSensitive, key+" cannot be sensitive",
			"What it says is shown in plans and stored in tables. env() is sensitive; a value that may be shown comes from a variable (PIPECTL_VAR_NAME).")
		return faulty
	case secret:
		d.origin.Sensitive[key] = true
		d.ev.config.Secrets = append(d.ev.config.Secrets, textsIn(v)...)
	}
	if secret || attr.Sensitive {
		for _, f := range files {
			d.ev.secretFiles[f] = true
		}
		d.ev.report.secretsOf(v)
	}
	if v.IsNull() {
		d.origin.Defaults[key] = true
		if attr.Required {
			d.ev.report.error(at, codeArgumentMissing, fmt.Sprintf("%s is null, and %s needs it", key, d.sc.header), sentences("Give it a value.", attr.Description))
			return faulty
		}
		return fallback
	}
	v, ok = d.convert(attr, a, key, v)
	if !ok {
		return faulty
	}
	d.placeEntries(a, path, v)
	if !d.checkValues(attr, at, key, v, secret || attr.Sensitive) {
		return faulty
	}
	if attr.Default != cty.NilVal && v.RawEquals(attr.Default) {
		d.origin.Defaults[key] = true
	}
	return v
}

// connection reports whether the body says where a database or lake is and how
// to get in: it may hold sensitive values, which are left out of what is
// printed. All other bodies name what is in plans and tables.
func (d *decoder) connection() bool {
	kind := addr.Kind(d.args.Name)
	return kind == addr.Source || kind == addr.Sink
}

// sensitiveValue warns of a secret that stands in the text in clear.
func (d *decoder) sensitiveValue(a *hclsyntax.Attribute, key string, v cty.Value, secret bool, files []string) {
	if v.IsNull() || !v.IsKnown() {
		return
	}
	if !secret {
		d.ev.files.masked = append(d.ev.files.masked, a.Expr.Range())
	}
	if !secret && len(files) == 0 {
		d.ev.warnLiteral(d.at(a), key)
	}
}

func (ev *evaluator) warnLiteral(at place, what string) {
	ev.report.warn(at, codeValueLiteral, what+" is written in clear",
		"A saved plan would hold it, and so does the configuration. Use env(\"NAME\"), or a variable with sensitive = true.")
}

func (d *decoder) convert(attr schema.Attribute, a *hclsyntax.Attribute, key string, v cty.Value) (cty.Value, bool) {
	at := d.at(a)
	surplus := surplusOf(v, attr.Type)
	for _, s := range surplus {
		place := at
		if rng, ok := literalRange(a.Expr, s.path); ok {
			place.rng = rng
		}
		summary, detail := s.text(key)
		d.ev.report.error(place, codeRowAttribute, summary, detail)
	}
	if len(surplus) > 0 {
		return cty.NilVal, false
	}
	if hasReference(v.Type()) {
		d.ev.report.error(at, codeRefKind, fmt.Sprintf("%s takes no reference", key), sentences(attr.Description, "Write the value itself."))
		return cty.NilVal, false
	}
	converted, err := convert.Convert(v, attr.Type)
	if err != nil {
		d.ev.report.error(at, codeArgumentType, fmt.Sprintf("%s is %s, not %s", key, typeName(v.Type()), typeName(attr.Type)),
			sentences(upperFirst(conversionFault(err))+".", attr.Description))
		return cty.NilVal, false
	}
	return converted, true
}

// placeEntries remembers where the entries of a list of texts are written.
func (d *decoder) placeEntries(a *hclsyntax.Attribute, path diag.Path, v cty.Value) {
	if !v.IsWhollyKnown() {
		return
	}
	list, _ := constantTexts(v)
	for i, text := range list {
		if rng, ok := d.sc.trail().entryRange(a.Expr, text); ok {
			d.origin.Attributes[append(path[:len(path):len(path)], i).String()] = *rangeOf(rng)
		}
	}
}

// checkValues refuses a text that is not one of the allowed ones, and a value
// that the language reserves; it reports whether the value may stand.
func (d *decoder) checkValues(attr schema.Attribute, at place, key string, v cty.Value, secret bool) bool {
	if attr.Type != cty.String || !v.IsKnown() || v.IsNull() {
		return true
	}
	text := v.AsString()
	role := addr.Kind(d.args.Name)
	if slices.Contains(laterAttributes, laterAttribute{role, key, text}) {
		d.ev.report.error(at, codeNotBuilt, fmt.Sprintf("%s = %q is not built yet", key, text), "The value is reserved for a later release. Leave it out.")
		return false
	}
	if len(attr.Values) == 0 || slices.Contains(attr.Values, text) {
		return true
	}
	summary := fmt.Sprintf("%s cannot be %q", key, text)
	suggestion := nearest.DidYouMean(text, "", attr.Values)
	if secret {
		summary, suggestion = fmt.Sprintf("The value of %s is not allowed", key), ""
	}
	d.ev.report.error(at, codeArgumentValue, summary, sentences(oneOf(attr.Values), suggestion))
	return false
}

// pluginBlock decodes the nested blocks of one name.
func (d *decoder) pluginBlock(nested schema.Block, blocks []*hclsyntax.Block, path diag.Path) cty.Value {
	t := nested.Body.ImpliedType()
	if !nested.Labeled && !nested.Repeated && len(blocks) > 1 {
		d.ev.report.error(d.sc.at(blocks[1].DefRange()), codeBlockDuplicate, fmt.Sprintf("A second block %q", nested.Name), "It may stand once. Put both together.")
		blocks = blocks[:1]
	}
	var list []cty.Value
	labeled := map[string]cty.Value{}
	for i, b := range blocks {
		step := path
		want := 0
		if nested.Labeled {
			want = 1
		}
		if len(b.Labels) != want {
			d.ev.report.error(d.sc.at(b.DefRange()), codeBlockLabels, fmt.Sprintf("Block %q has %s, not %d", nested.Name, count(want, "label"), len(b.Labels)),
				sentences("Write it as: "+nested.Name+strings.Repeat(` "NAME"`, want)+" { ... }", nested.Description))
			continue
		}
		switch {
		case nested.Labeled:
			step = append(path[:len(path):len(path)], b.Labels[0])
			if _, ok := labeled[b.Labels[0]]; ok {
				d.ev.report.error(d.sc.at(b.DefRange()), codeBlockDuplicate, fmt.Sprintf("A second block %s %q", nested.Name, b.Labels[0]), "Rename or remove one of them.")
				continue
			}
		case nested.Repeated:
			step = append(path[:len(path):len(path)], i)
		}
		d.origin.Attributes[step.String()] = *rangeOf(b.DefRange())
		inner := *d
		inner.missing = b.DefRange()
		view := bodyView{own: b.Body}
		d.ev.checkBody(BlockType{Name: nested.Name}, view, &nested.Body, true, d.sc.header, d.sc.address)
		v := inner.pluginBody(nested.Body, view, step)
		if nested.Labeled {
			labeled[b.Labels[0]] = v
		}
		list = append(list, v)
	}
	switch {
	case nested.Labeled:
		if len(labeled) == 0 {
			return cty.MapValEmpty(t)
		}
		return cty.MapVal(labeled)
	case nested.Repeated:
		if len(list) == 0 {
			return cty.ListValEmpty(t)
		}
		return cty.ListVal(list)
	}
	if len(list) == 0 {
		return cty.NullVal(t)
	}
	return list[0]
}
