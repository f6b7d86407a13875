package dsl

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/nearest"
	"github.com/pipectl/pipectl/core/schema"
)

// ruled decodes the plugin-ruled part of the block itself and reports what
// nobody knows. plugin is nil when it could not be found.
func (d *decoder) ruled(plugin *schema.Body) cty.Value {
	d.ev.checkBody(d.args, d.view, plugin, plugin != nil, d.sc.header, d.sc.address)
	if plugin == nil {
		return cty.EmptyObjectVal
	}
	return d.pluginBody(*plugin, d.view, nil)
}

func bodyOf(c Component, known bool) *schema.Body {
	if !known {
		return nil
	}
	b := c.body()
	return &b
}

func (ev *evaluator) source(d *decoder, c Component, known bool) {
	s := model.Source{Addr: d.sc.address, Type: c.Type, Plugin: c.Plugin}
	s.MaxConnections = d.whole("max_connections")
	s.Body = d.ruled(bodyOf(c, known))
	s.Origin = *d.origin
	ev.config.Sources = append(ev.config.Sources, s)
}

func (ev *evaluator) sink(d *decoder, c Component, known bool) {
	s := model.Sink{Addr: d.sc.address, Type: c.Type, Plugin: c.Plugin}
	s.Facts, s.Control = ledgerDefault("facts"), ledgerDefault("control")
	if ledger := d.nested(ledgerArguments); ledger != nil {
		s.Facts, s.Control = ledger.tableName("facts"), ledger.tableName("control")
		// Only the default is built, which the decoder checks.
		_ = ledger.text("timestamps")
	}
	s.Body = d.ruled(bodyOf(c, known))
	s.Origin = *d.origin
	ev.config.Sinks = append(ev.config.Sinks, s)
}

func ledgerDefault(name string) string {
	arg, _ := ledgerArguments.argument(name)
	return arg.Default
}

func (ev *evaluator) table(d *decoder) {
	t := model.Table{Addr: d.sc.address}
	var resolved bool
	t.Source, resolved = d.reference("source", addr.Source)
	t.Key = d.texts("key")
	t.Columns = d.columns()
	t.Description = d.text("description")
	component, known := ev.sourceComponent(t.Source, resolved)
	var body *schema.Body
	if known {
		body = &component.Object
	}
	t.Body = d.ruled(body)
	t.Origin = *d.origin
	ev.sourceOf[t.Addr] = t.Source
	ev.config.Tables = append(ev.config.Tables, t)
}

// sourceComponent is what rules the tables of a source. Where the source is
// not known, the only source type that is offered stands in, so that the rest
// of the block is checked all the same.
func (ev *evaluator) sourceComponent(source addr.Address, resolved bool) (Component, bool) {
	typ, ok := ev.sourceType[source.Block()]
	if !resolved && !ok {
		types := ev.offers.types(addr.Source)
		if len(types) != 1 {
			return Component{}, false
		}
		typ = types[0]
	}
	found := ev.offers[addr.Source][typ]
	if len(found) != 1 {
		return Component{}, false
	}
	return found[0], true
}

// columns reads the rules of columns and exclude, sorted by name.
func (d *decoder) columns() []model.ColumnRule {
	var rules []model.ColumnRule
	if v, ok := d.value("columns"); ok {
		if !v.Type().IsObjectType() && !v.Type().IsMapType() {
			d.wrongType("columns", "a map of column rules", v)
		} else {
			parts := v.AsValueMap()
			for _, name := range sortedKeys(parts) {
				if rule, ok := d.columnRule(name, parts[name]); ok {
					rules = append(rules, rule)
				}
			}
		}
	}
	for n, name := range d.texts("exclude") {
		i := slices.IndexFunc(rules, func(r model.ColumnRule) bool { return r.Name == name })
		switch {
		case i < 0:
			rules = append(rules, model.ColumnRule{Name: name, Drop: true})
			// Whoever finds a fault of the rule knows it as one of columns.
			d.origin.Attributes[diag.Path{"columns", name}.String()] = *d.origin.Place(diag.Path{"exclude", n})
		case !rules[i].Drop:
			d.faultAt(d.entry("exclude", name), "exclude", codeArgumentValue, fmt.Sprintf("Column %q is excluded and has another rule in columns", name), "Remove one of them.")
		}
	}
	slices.SortFunc(rules, func(a, b model.ColumnRule) int { return strings.Compare(a.Name, b.Name) })
	return rules
}

func (d *decoder) columnRule(name string, v cty.Value) (model.ColumnRule, bool) {
	rule := model.ColumnRule{Name: name}
	a := d.view.attribute("columns")
	at := func(path ...any) place {
		if rng, ok := d.sc.trail().keyRange(a.Expr, path); ok {
			return d.sc.at(rng)
		}
		return d.at(a)
	}
	if rng := at(name).rng; rng != a.SrcRange {
		d.origin.Attributes[diag.Path{"columns", name}.String()] = *rangeOf(rng)
	}
	if v.IsNull() || !(v.Type().IsObjectType() || v.Type().IsMapType()) {
		d.ev.report.error(at(name), codeArgumentType, fmt.Sprintf("The rule of column %q is %s, not a map", name, typeName(v.Type())), "Write it as: "+name+" = { drop = true }")
		return rule, false
	}
	parts := v.AsValueMap()
	ok := true
	fault := func(attr, code, summary, detail string) {
		d.ev.report.error(at(name, attr), code, summary, detail)
		ok = false
	}
	for _, attr := range sortedKeys(parts) {
		value := parts[attr]
		arg, known := columnArguments.argument(attr)
		switch {
		case !known:
			fault(attr, codeRowAttribute, fmt.Sprintf("No attribute named %q in the rule of column %q", attr, name),
				sentences("It has: "+diag.Listed(columnArguments.names())+".", nearest.DidYouMean(attr, "", columnArguments.names())))
		case value.IsNull():
		case arg.Later:
			fault(attr, codeNotBuilt, fmt.Sprintf("%s of column %q is not built yet", attr, name),
				"The word is reserved for a later release. To keep the column out of the lake: { drop = true }.")
		case attr == "drop":
			drop, isBool := toBool(value)
			if !isBool {
				fault(attr, codeArgumentType, fmt.Sprintf("drop of column %q is %s, not a bool", name, typeName(value.Type())), "Write: drop = true")
			}
			rule.Drop = drop
		case attr == "as":
			if value.Type() != cty.String || value.AsString() == "" {
				fault(attr, codeArgumentType, fmt.Sprintf("as of column %q is no text", name), `Write the type as a text: as = "string"`)
				continue
			}
			rule.As = value.AsString()
			if schema.CheckTypeName(rule.As) != nil {
				fault(attr, codeArgumentValue, fmt.Sprintf("as of column %q cannot be %q", name, rule.As),
					sentences("It is one of "+strings.Join(schema.TypeNames(), ", ")+"; p is at most 38, s at most p.", nearest.DidYouMean(rule.As, "", schema.TypeNames()[:7])))
			}
		}
	}
	if rule.Drop && rule.As != "" {
		fault("as", codeArgumentValue, fmt.Sprintf("Column %q is dropped and read as another type", name), "Remove drop or as.")
	}
	// A rule that says nothing ({} or drop = false) is as if it were not there.
	return rule, ok && (rule.Drop || rule.As != "")
}

func (ev *evaluator) stream(d *decoder) {
	s := model.Stream{Addr: d.sc.address}
	var resolved bool
	s.Table, resolved = d.reference("table", addr.Table)
	s.To, _ = d.reference("to", addr.Sink)
	s.Target = d.tableName("target")
	s.Path = d.tablePath("path")
	if s.AppID = d.appID(); s.AppID == "" {
		s.AppID = s.Target
		d.checkAppID("target", s.AppID)
		d.checkElement("target", s.AppID, codeAppIDInvalid, "Give the stream an app_id, which is the target otherwise, or a shorter target.")
	}
	s.Bootstrap = d.text("bootstrap")
	s.StartingPosition = d.text("starting_position")
	if s.StartingPosition != "" && s.Bootstrap != model.BootstrapNone && !d.failed["bootstrap"] && !d.failed["starting_position"] {
		d.fault("starting_position", codeArgumentValue, fmt.Sprintf("starting_position = %q and bootstrap = %q exclude each other", s.StartingPosition, s.Bootstrap),
			"A stream with a snapshot starts where the snapshot was taken. Remove one of them.")
	}
	s.MaxCommitsPerBatch = d.whole("max_commits_per_batch")
	s.OnDataLoss = d.text("on_data_loss")
	s.Granularity = d.text("granularity")
	s.Tags = d.texts("tags")
	d.ev.checkBody(d.args, d.view, nil, true, d.sc.header, d.sc.address)
	component, known := ev.sourceComponent(ev.sourceOf[s.Table], resolved)
	s.Read = d.readBlock(component, known)
	s.Origin = *d.origin
	ev.sinkOf[s.Addr] = s.To
	ev.config.Streams = append(ev.config.Streams, s)
}

// readBlock decodes the read block by the schema of the table's source.
func (d *decoder) readBlock(c Component, known bool) cty.Value {
	if !known {
		return cty.EmptyObjectVal
	}
	path := diag.Path{"read"}
	view := bodyView{own: &hclsyntax.Body{}}
	inner := *d
	inner.path = path
	if blocks := d.view.blocks("read"); len(blocks) > 0 {
		view.own = blocks[0].Body
		inner.missing = blocks[0].DefRange()
		d.origin.Attributes[path.String()] = *rangeOf(blocks[0].DefRange())
		d.ev.checkBody(BlockType{Name: "read"}, view, &c.Read, true, d.sc.header, d.sc.address)
	}
	return inner.pluginBody(c.Read, view, path)
}

func (ev *evaluator) silver(d *decoder, c Component, known bool) {
	s := model.Silver{Addr: d.sc.address, Type: c.Type, Plugin: c.Plugin}
	from, resolved := d.reference("from", addr.Stream)
	s.From = from
	s.Target = d.tableName("target")
	d.checkElement("target", s.Target, codeTargetInvalid, "Choose a shorter target.")
	s.Path = d.tablePath("path")
	// Only the default is built, which the decoder checks.
	_ = d.text("publish")
	s.Tags = d.texts("tags")
	s.To = ev.sinkOf[from]
	if to, ok := d.reference("to", addr.Sink); ok && resolved && to != s.To && !s.To.IsZero() {
		d.fault("to", codeSinkDiffers, fmt.Sprintf("%s is written to %s and its stream to %s", s.Addr, to, s.To),
			"Silver stands in the sink of its stream: one position and one control table. Remove \"to\".")
	}
	s.Body = d.ruled(bodyOf(c, known))
	s.Origin = *d.origin
	ev.config.Silvers = append(ev.config.Silvers, s)
}

func (ev *evaluator) check(d *decoder, c Component, known bool) {
	k := model.Check{Addr: d.sc.address, Type: c.Type, Plugin: c.Plugin}
	k.Silver, _ = d.reference("silver", addr.Silver)
	k.OnFailure = d.text("on_failure")
	k.Settle = d.duration("settle")
	k.Tags = d.texts("tags")
	k.Body = d.ruled(bodyOf(c, known))
	k.Origin = *d.origin
	ev.config.Checks = append(ev.config.Checks, k)
}

// tableName reads a dotted name: the identity of a table in facts and control.
func (d *decoder) tableName(name string) string {
	text := d.text(name)
	if text == "" || d.failed[name] {
		return text
	}
	for part := range strings.SplitSeq(text, ".") {
		if len(part) > model.MaxElement {
			d.fault(name, codeTargetInvalid, fmt.Sprintf("A part of a table's name has %d bytes, and may have %d", len(part), model.MaxElement),
				"Each part between the dots is a folder. Choose a shorter name.")
			return ""
		}
		bad := strings.IndexFunc(part, func(r rune) bool { return unicode.IsControl(r) || strings.ContainsRune(`/\`, r) })
		if part == "" || bad >= 0 || strings.TrimSpace(part) != part {
			d.fault(name, codeTargetInvalid, fmt.Sprintf("%q is no table name", text),
				`A table name is words with dots between them, such as "bronze.orders", without slashes. Where the table stands is said with path.`)
			return ""
		}
	}
	return text
}

// tablePath reads where a table stands below the root of its sink.
func (d *decoder) tablePath(name string) string {
	text := d.text(name)
	if text == "" || d.failed[name] {
		return ""
	}
	at := path.Clean(text)
	var why string
	switch {
	case strings.ContainsFunc(text, unicode.IsControl):
		why = "holds a control character"
	case strings.Contains(text, "://") || volume.MatchString(text):
		why = "is a place of its own"
	case strings.Contains(text, `\`):
		why = "holds a backslash"
	case path.IsAbs(at):
		why = "is absolute"
	case at == "..", strings.HasPrefix(at, "../"):
		why = "leads out of the root"
	case at == ".":
		why = "is the root itself"
	case slices.ContainsFunc(strings.Split(at, "/"), func(part string) bool { return len(part) > model.MaxElement }):
		why = fmt.Sprintf("has a folder of more than %d bytes", model.MaxElement)
	default:
		return text
	}
	d.fault(name, codePathInvalid, fmt.Sprintf("path = %q %s", text, why),
		`A table stands in a folder below the root of its sink, and path names that folder: path = "bronze/orders".`)
	return ""
}

// volume matches the beginning of a path on a drive of Windows.
var volume = regexp.MustCompile(`^[A-Za-z]:`)

func (d *decoder) appID() string {
	id := d.text("app_id")
	if id == "" || d.failed["app_id"] {
		return ""
	}
	d.checkAppID("app_id", id)
	d.checkElement("app_id", id, codeAppIDInvalid, "Choose a shorter id.")
	return id
}

// generation matches the ends of ids that later generations of a stream have.
var generation = regexp.MustCompile(`\.g[0-9]+$`)

// checkAppID refuses what the ids derived from an app id look like: a
// generation, A.g1, and keys such as A#facts.
func (d *decoder) checkAppID(name, id string) {
	var why string
	switch {
	case strings.Contains(id, "#"):
		why = `contains "#"`
	case generation.MatchString(id):
		why = fmt.Sprintf("ends in %q", generation.FindString(id))
	case strings.ContainsFunc(id, unicode.IsControl):
		why = "contains a control character"
	default:
		return
	}
	detail := "Those forms are made by pipectl for generations and keys of the stream. Choose another id."
	if name == "target" {
		detail = "Without app_id the target is the stream's app id, and that form is made by pipectl for generations and keys. Give the stream an app_id."
	}
	d.fault(name, codeAppIDInvalid, fmt.Sprintf("The app id %q %s", id, why), detail)
}

// checkElement refuses a name that is too long for the folder of its lock, and of a
// stream for that of its state, too.
func (d *decoder) checkElement(name, text, code, detail string) {
	if n := len(model.Element(text)); n > model.MaxElement {
		d.fault(name, code, fmt.Sprintf("The name is too long: as a folder of the state it has %d bytes, and may have %d", n, model.MaxElement),
			"ASCII letters, digits and ._- count one byte there, and each byte of another character three. "+detail)
	}
}
