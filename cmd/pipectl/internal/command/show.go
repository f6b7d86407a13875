package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/pipectl/pipectl/cmd/pipectl/internal/cli"
	"github.com/pipectl/pipectl/cmd/pipectl/internal/exit"
	"github.com/pipectl/pipectl/cmd/pipectl/internal/view"
	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/schema"
	"github.com/pipectl/pipectl/dsl"
)

// show prints what something is: each argument with its value, its default
// and what it means.
func show(ctx context.Context, e *Environment, args []string) (int, error) {
	a, err := cli.ParseShow(args)
	if err != nil {
		return 0, err
	}
	e.Streams.JSON = a.JSON
	w, err := open(ctx, e, a.Common, true)
	defer w.close()
	if err != nil {
		return w.fail(err), nil
	}
	address, err := w.resolveOne(a.Name)
	if err != nil {
		return w.fail(err), nil
	}
	item := w.describe(address)
	return exit.Done, e.Streams.Show(item)
}

// describe lists the core's arguments of a block, then the plugin's.
func (w *workspace) describe(a addr.Address) view.Item {
	item := view.Item{Address: a.String()}
	origin, _ := w.config.OriginOf(a)
	item.File, item.Line = origin.Block.Filename, origin.Block.Start.Line
	item.Digest, _ = w.config.Digest(a)
	values := w.coreValues(a)
	for _, b := range dsl.Blocks() {
		if b.Name != string(a.Kind) {
			continue
		}
		for _, arg := range b.Arguments {
			if arg.Later {
				continue
			}
			if nested, ok := nestedBlock(arg); ok {
				for _, inner := range nested.Arguments {
					inner.Name = arg.Name + "." + inner.Name
					item.Arguments = append(item.Arguments, coreArgument(inner, values))
				}
				continue
			}
			item.Arguments = append(item.Arguments, coreArgument(arg, values))
		}
	}
	for _, part := range w.bodies(a) {
		item.Arguments = append(item.Arguments, bodyArguments(part.prefix, part.schema, part.value, origin)...)
	}
	return item
}

// nestedBlock is what the core knows of a nested block; one that a plugin rules is
// printed with the plugin's arguments.
func nestedBlock(arg dsl.Argument) (dsl.BlockType, bool) {
	nested := dsl.Nested()
	i := slices.IndexFunc(nested, func(b dsl.BlockType) bool { return arg.Block && b.Name == arg.Name })
	if i < 0 {
		return dsl.BlockType{}, false
	}
	return nested[i], true
}

// coreArgument is an argument with its value, which is the default where none is given.
func coreArgument(arg dsl.Argument, values map[string]string) view.Argument {
	value, given := values[arg.Name]
	if !given {
		value = arg.Default
	}
	return view.Argument{Name: arg.Name, Value: value, Default: arg.Default, Description: arg.Description}
}

// coreValues are the core's arguments that have a value.
func (w *workspace) coreValues(a addr.Address) map[string]string {
	out := map[string]string{}
	put := func(name, value string) {
		if value != "" {
			out[name] = value
		}
	}
	switch a.Kind {
	case addr.Source:
		if s := w.config.Source(a); s != nil {
			put("max_connections", fmt.Sprint(s.MaxConnections))
		}
	case addr.Sink:
		if s := w.config.Sink(a); s != nil {
			put("ledger.facts", s.Facts)
			put("ledger.control", s.Control)
		}
	case addr.Table:
		if t := w.config.Table(a); t != nil {
			put("source", t.Source.String())
			put("key", diag.Columns(t.Key))
			put("description", t.Description)
			put("columns", columnRules(t.Columns))
		}
	case addr.Stream:
		if s := w.config.Stream(a); s != nil {
			put("table", s.Table.String())
			put("to", s.To.String())
			put("target", s.Target)
			put("path", s.Path)
			put("app_id", s.AppID)
			put("bootstrap", s.Bootstrap)
			put("starting_position", s.StartingPosition)
			if s.MaxCommitsPerBatch > 0 {
				put("max_commits_per_batch", fmt.Sprint(s.MaxCommitsPerBatch))
			}
			put("on_data_loss", s.OnDataLoss)
			put("granularity", s.Granularity)
			put("tags", strings.Join(s.Tags, ", "))
		}
	case addr.Silver:
		if v := w.config.Silver(a); v != nil {
			put("from", v.From.String())
			put("to", v.To.String())
			put("target", v.Target)
			put("path", v.Path)
			put("tags", strings.Join(v.Tags, ", "))
		}
	case addr.Check:
		if c := w.config.Check(a); c != nil {
			put("silver", c.Silver.String())
			put("on_failure", c.OnFailure)
			put("settle", schema.FormatDuration(c.Settle))
			put("tags", strings.Join(c.Tags, ", "))
		}
	}
	return out
}

func columnRules(rules []model.ColumnRule) string {
	var parts []string
	for _, r := range rules {
		if r.Drop {
			parts = append(parts, r.Name+": dropped")
		} else if r.As != "" {
			parts = append(parts, r.Name+": as "+r.As)
		}
	}
	return strings.Join(parts, ", ")
}

// ruledBody is a plugin-ruled body with its schema.
type ruledBody struct {
	prefix string
	schema schema.Body
	value  cty.Value
}

func (w *workspace) bodies(a addr.Address) []ruledBody {
	find := func(kind addr.Kind, typ string) dsl.Component {
		components := w.schemas()
		i := slices.IndexFunc(components, func(c dsl.Component) bool { return c.Role == kind && c.Type == typ })
		if i < 0 {
			return dsl.Component{}
		}
		return components[i]
	}
	c := w.config
	switch a.Kind {
	case addr.Source:
		if s := c.Source(a); s != nil {
			return []ruledBody{{"", find(addr.Source, s.Type).Connection, s.Body}}
		}
	case addr.Sink:
		if s := c.Sink(a); s != nil {
			return []ruledBody{{"", find(addr.Sink, s.Type).Connection, s.Body}}
		}
	case addr.Table:
		if t := c.Table(a); t != nil {
			return []ruledBody{{"", find(addr.Source, c.Source(t.Source).Type).Object, t.Body}}
		}
	case addr.Stream:
		if s := c.Stream(a); s != nil {
			return []ruledBody{{"read.", find(addr.Source, c.Source(c.Table(s.Table).Source).Type).Read, s.Read}}
		}
	case addr.Silver:
		if v := c.Silver(a); v != nil {
			return []ruledBody{{"", find(addr.Silver, v.Type).Object, v.Body}}
		}
	case addr.Check:
		if k := c.Check(a); k != nil {
			return []ruledBody{{"", find(addr.Check, k.Type).Object, k.Body}}
		}
	}
	return nil
}

// bodyArguments prints the values of a body; sensitive ones are masked.
func bodyArguments(prefix string, body schema.Body, value cty.Value, origin model.Origin) []view.Argument {
	var out []view.Argument
	for _, a := range body.Attributes {
		arg := view.Argument{Name: prefix + a.Name, Description: a.Description}
		if a.Default != cty.NilVal {
			arg.Default = literal(a.Default)
		}
		if value != cty.NilVal && !value.IsNull() && value.IsKnown() && value.Type().HasAttribute(a.Name) {
			v := value.GetAttr(a.Name)
			switch {
			case a.Sensitive || origin.Sensitive[prefix+a.Name]:
				if !v.IsKnown() || !v.IsNull() {
					arg.Value = "(sensitive)"
				}
			case !v.IsKnown():
				arg.Value = "(known when it runs)"
			default:
				arg.Value = literal(v)
			}
		}
		out = append(out, arg)
	}
	return out
}

func literal(v cty.Value) string {
	if v.IsNull() {
		return ""
	}
	data, err := ctyjson.Marshal(v, v.Type())
	if err != nil {
		return v.Type().FriendlyName()
	}
	if v.Type() == cty.String {
		return v.AsString()
	}
	return string(data)
}
