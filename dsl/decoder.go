package dsl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/nearest"
	"github.com/pipectl/pipectl/core/schema"
)

// bodyView is a block's body, filled from a defaults block: attribute by
// attribute, nested blocks as a whole, for_each never.
type bodyView struct {
	own, defaults *hclsyntax.Body
}

func (v bodyView) attribute(name string) *hclsyntax.Attribute {
	if a, ok := v.own.Attributes[name]; ok {
		return a
	}
	if v.defaults == nil || name == "for_each" {
		return nil
	}
	return v.defaults.Attributes[name]
}

func (v bodyView) blocks(name string) []*hclsyntax.Block {
	if own := blocksOf(v.own, name); len(own) > 0 || v.defaults == nil {
		return own
	}
	return blocksOf(v.defaults, name)
}

func blocksOf(body *hclsyntax.Body, name string) []*hclsyntax.Block {
	var out []*hclsyntax.Block
	for _, b := range body.Blocks {
		if b.Type == name {
			out = append(out, b)
		}
	}
	return out
}

// decoder reads the arguments of the core's out of one body.
type decoder struct {
	ev     *evaluator
	sc     *scope
	args   BlockType
	view   bodyView
	origin *model.Origin
	path   diag.Path
	// missing is where a required argument that is not there is reported.
	missing hcl.Range
	// failed arguments have been reported; nothing follows from them.
	failed map[string]bool
}

func (ev *evaluator) newDecoder(kind addr.Kind, b block, in *instance) *decoder {
	d := ev.blockDecoder(b, kindArguments(kind), "")
	d.sc = ev.scopeOf(kind, b, in)
	if defaults, ok := ev.files.decl.defaults[kind]; ok {
		d.view.defaults = defaults.Body
	}
	return d
}

func (ev *evaluator) blockDecoder(b block, args BlockType, subject string) *decoder {
	return &decoder{ev: ev, args: args, view: bodyView{own: b.Body}, missing: b.DefRange(), failed: map[string]bool{},
		sc: &scope{ev: ev, rank: 0, subject: subject, header: b.header(), address: b.address()},
		origin: &model.Origin{Header: b.header(), Block: *rangeOf(b.DefRange()), Attributes: map[string]diag.Range{},
			Sensitive: map[string]bool{}, Defaults: map[string]bool{}}}
}

func (d *decoder) at(a *hclsyntax.Attribute) place { return d.sc.at(a.SrcRange) }

func (d *decoder) join(name string) diag.Path { return append(d.path[:len(d.path):len(d.path)], name) }

// fault reports a wrong value of an argument at its place.
func (d *decoder) fault(name, code, summary, detail string) {
	at := d.sc.at(d.missing)
	if a := d.view.attribute(name); a != nil {
		at = d.at(a)
	}
	d.faultAt(at, name, code, summary, detail)
}

// faultAt reports a wrong value of an argument at a place in it.
func (d *decoder) faultAt(at place, name, code, summary, detail string) {
	d.ev.report.error(at, code, summary, detail)
	d.failed[name] = true
}

// written is where the value of an argument is written: the argument, or what it
// is no more than a name of, such as the member of a row.
func (d *decoder) written(a *hclsyntax.Attribute) hcl.Range {
	if value, ok := d.sc.trail().valueAt(a.Expr, nil); ok && value != hclsyntax.Expression(a.Expr) {
		return value.Range()
	}
	return a.SrcRange
}

// entry is the place of the entry of a list that is a text; that of the list
// where it is not written as constants.
func (d *decoder) entry(name, text string) place {
	a := d.view.attribute(name)
	if rng, ok := d.sc.trail().entryRange(a.Expr, text); ok {
		return d.sc.at(rng)
	}
	return d.at(a)
}

// value evaluates an argument of the core's. ok is false when it was left out,
// is null, or is faulty; a fault and a missing required argument are reported.
func (d *decoder) value(name string) (v cty.Value, ok bool) {
	arg, _ := d.args.argument(name)
	a := d.view.attribute(name)
	if a == nil {
		if arg.Required {
			d.ev.report.error(d.sc.at(d.missing), codeArgumentMissing, fmt.Sprintf("%s has no %s", d.words(), name),
				sentences("Add: "+name+" = ...", arg.Description))
			d.failed[name] = true
		}
		d.origin.Defaults[d.join(name).String()] = true
		return cty.NilVal, false
	}
	d.origin.Attributes[d.join(name).String()] = *rangeOf(d.written(a))
	v, evaluated := d.sc.evaluate(a.Expr)
	if !evaluated {
		d.failed[name] = true
		return cty.NilVal, false
	}
	v, secret, _ := plain(v)
	switch {
	case secret && !d.secretsLater(name, v):
		d.fault(name, codeValueSensitive, fmt.Sprintf("%s cannot be sensitive", name),
			"It is shown in plans and stored in tables. env() is sensitive; a value that may be shown comes from a variable (PIPECTL_VAR_NAME).")
		return cty.NilVal, false
	case !v.IsWhollyKnown():
		// Something that it depends on has been reported.
		d.failed[name] = true
		return cty.NilVal, false
	case v.IsNull():
		if arg.Required {
			d.fault(name, codeArgumentMissing, fmt.Sprintf("%s is null, and %s needs it", name, d.sc.header), arg.Description)
		}
		d.origin.Defaults[d.join(name).String()] = true
		return cty.NilVal, false
	}
	return v, true
}

// secretsLater reports whether the words that a secret may stand in are
// refused anyway: the secret of a mask.
func (d *decoder) secretsLater(name string, v cty.Value) bool {
	if name != columnArguments.Name || v.IsNull() || !(v.Type().IsObjectType() || v.Type().IsMapType()) {
		return false
	}
	for _, rule := range v.AsValueMap() {
		if rule.Type().IsObjectType() && (rule.Type().HasAttribute("secret") || rule.Type().HasAttribute("mask")) {
			return true
		}
	}
	return false
}

// words name the block in a sentence.
func (d *decoder) words() string {
	if len(d.path) > 0 {
		return fmt.Sprintf("Block %q", d.path[len(d.path)-1])
	}
	if d.sc.header == d.args.Name { // a block without a name of its own
		return "The " + d.sc.header + " block"
	}
	return upperFirst(d.sc.header)
}

func (d *decoder) wrongType(name, want string, got cty.Value) {
	d.fault(name, codeArgumentType, fmt.Sprintf("%s is %s, not %s", name, typeName(got.Type()), want), d.description(name))
}

func (d *decoder) description(name string) string {
	arg, _ := d.args.argument(name)
	return arg.Description
}

// text reads a text; what is left out becomes the default of the table.
func (d *decoder) text(name string) string {
	arg, _ := d.args.argument(name)
	v, ok := d.value(name)
	if !ok {
		return arg.Default
	}
	if v.Type() != cty.String {
		d.wrongType(name, "a text", v)
		return arg.Default
	}
	text := v.AsString()
	switch {
	case text == "":
		d.fault(name, codeArgumentValue, fmt.Sprintf("%s is empty", name), sentences(d.description(name), "Give it a text, or leave it out."))
	case len(arg.Values) == 0 || slices.Contains(arg.Values, text):
	case slices.Contains(arg.LaterValues, text):
		d.fault(name, codeNotBuilt, fmt.Sprintf("%s = %q is not built yet", name, text), "The value is reserved for a later release. "+oneOf(arg.Values))
	default:
		d.fault(name, codeArgumentValue, fmt.Sprintf("%s cannot be %q", name, text), sentences(oneOf(arg.Values), nearest.DidYouMean(text, "", arg.Values)))
	}
	d.origin.Defaults[d.join(name).String()] = text == arg.Default
	return text
}

func oneOf(values []string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = fmt.Sprintf("%q", v)
	}
	if len(quoted) == 1 {
		return "It can be " + quoted[0] + " only."
	}
	return "It is one of " + strings.Join(quoted, ", ") + "."
}

// whole reads a whole number of at least 1; its default when it is left out, 0 when it has none.
func (d *decoder) whole(name string) int {
	v, ok := d.value(name)
	if !ok {
		arg, _ := d.args.argument(name)
		n, _ := strconv.Atoi(arg.Default) // of the table of the language: "" is 0
		return n
	}
	if v.Type() != cty.Number {
		d.wrongType(name, "a whole number", v)
		return 0
	}
	f := v.AsBigFloat()
	n, exact := f.Int64()
	if exact != 0 || n < 1 || n > 1<<31-1 {
		d.fault(name, codeArgumentValue, fmt.Sprintf("%s cannot be %s", name, f.Text('g', 12)), "It is a whole number from 1 on. "+d.description(name))
		return 0
	}
	return int(n)
}

// texts reads a list of texts without repetitions.
func (d *decoder) texts(name string) []string {
	v, ok := d.value(name)
	if !ok {
		return nil
	}
	list, ok := constantTexts(v)
	if !ok {
		if t := v.Type(); t.IsTupleType() || t.IsListType() || t.IsSetType() {
			d.fault(name, codeArgumentType, name+" holds something else than texts", d.description(name))
			return nil
		}
		d.wrongType(name, "a list of texts", v)
		return nil
	}
	for i, text := range list {
		at := d.entry(name, text)
		switch {
		case text == "":
			d.faultAt(at, name, codeArgumentValue, fmt.Sprintf("%s holds an empty text", name), d.description(name))
			return nil
		case slices.Contains(list[:i], text):
			d.faultAt(at, name, codeArgumentValue, fmt.Sprintf("%s names %q twice", name, text), "Remove one of them.")
			return nil
		}
		d.origin.Attributes[append(d.join(name), i).String()] = *rangeOf(at.rng)
	}
	return list
}

// duration reads a duration such as "2m".
func (d *decoder) duration(name string) time.Duration {
	arg, _ := d.args.argument(name)
	v, ok := d.value(name)
	text := arg.Default
	switch {
	case !ok && (text == "" || d.failed[name]):
		return 0
	case !ok:
	case v.Type() == cty.String:
		text = v.AsString()
	case v.Type() == cty.Number:
		d.fault(name, codeArgumentType, fmt.Sprintf("%s is a number, not a duration", name), durationForms(v.AsBigFloat().Text('f', -1)))
		return 0
	default:
		d.wrongType(name, "a duration", v)
		return 0
	}
	length, err := schema.ParseDuration(text)
	if err != nil {
		d.fault(name, codeArgumentValue, fmt.Sprintf("%s = %q is no duration", name, text), durationForms(text))
		return 0
	}
	d.origin.Defaults[d.join(name).String()] = text == arg.Default
	return length
}

// durationForms says how durations are written, and what a bare number may mean.
func durationForms(text string) string {
	const forms = `Durations are written like "90s", "20m", "72h", "7d".`
	if _, err := schema.ParseDuration(text + "s"); err != nil {
		return forms
	}
	return sentences(forms, fmt.Sprintf("Did you mean %q?", text+"s"))
}

// reference reads a reference to a block of the kind.
func (d *decoder) reference(name string, kind addr.Kind) (addr.Address, bool) {
	v, ok := d.value(name)
	if !ok {
		return addr.Address{}, false
	}
	a := d.view.attribute(name)
	ref, code, summary, detail := d.ev.addressOf(v, kind, d.ev.files.text(a.Expr.Range()))
	if code != "" {
		d.fault(name, code, summary, detail)
		return addr.Address{}, false
	}
	return ref, true
}

// nested returns a decoder for a nested block that may stand once, nil when it
// is not there.
func (d *decoder) nested(args BlockType) *decoder {
	blocks := d.view.blocks(args.Name)
	if len(blocks) == 0 {
		return nil
	}
	n := *d
	n.args, n.view, n.path, n.missing, n.failed = args, bodyView{own: blocks[0].Body}, d.join(args.Name), blocks[0].DefRange(), map[string]bool{}
	d.origin.Attributes[n.path.String()] = *rangeOf(blocks[0].DefRange())
	d.ev.checkBody(args, n.view, nil, true, d.sc.header, d.sc.address)
	return &n
}

// toBool converts a value that may be written as a bool only.
func toBool(v cty.Value) (bool, bool) {
	if v.IsNull() || v.Type() != cty.Bool {
		return false, false
	}
	v, err := convert.Convert(v, cty.Bool)
	return err == nil && v.True(), err == nil
}
