package command

import (
	"context"
	"strings"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/plugin"
)

// capabilities lists what the configuration asks of components that say they
// do not have it, so that it is told before a table is made. Of a check its
// capabilities are those that it needs of its source.
func (w *workspace) capabilities(ctx context.Context, config *model.Config) diag.List {
	return capabilities(config, func(pluginName string, role plugin.Role, typ string) plugin.Capabilities {
		return w.can(ctx, pluginName, role, typ)
	})
}

// offers tells what a component of a plugin says of itself.
type offers func(pluginName string, role plugin.Role, typ string) plugin.Capabilities

func capabilities(config *model.Config, can offers) diag.List {
	var list diag.List
	for _, s := range config.Streams {
		source := config.Source(config.Table(s.Table).Source)
		if s.Bootstrap != model.BootstrapNone && !can(source.Plugin, plugin.RoleSource, source.Type).Snapshot {
			list = append(list, s.Origin.Locate(s.Addr, diag.List{diag.Errorf(diag.KindConfiguration, "plugin.capability",
				`Leave bootstrap out, or write bootstrap = "none": the stream then begins with the oldest change that the source has.`,
				"The source %q takes no snapshots", source.Type).At("bootstrap")})...)
		}
	}
	for i := range config.Checks {
		list = append(list, checkable(config, &config.Checks[i], can)...)
	}
	for _, s := range config.Sinks {
		if !can(s.Plugin, plugin.RoleSink, s.Type).Merge {
			list = append(list, s.Origin.Locate(s.Addr, diag.List{diag.Errorf(diag.KindConfiguration, "plugin.capability",
				"Use a sink plugin that can: verdicts and silver are kept by merging rows.",
				"The sink %q does not merge rows into its tables", s.Type)})...)
		}
		if config.StatePath == "" && !can(s.Plugin, plugin.RoleSink, s.Type).Objects {
			list = append(list, s.Origin.Locate(s.Addr, diag.List{diag.Errorf(diag.KindConfiguration, "plugin.capability",
				`Keep the state in a local directory: state { path = "./state" } in the pipectl block.`,
				"The sink %q keeps no state", s.Type)})...)
		}
	}
	return list
}

// checkable finds what a check needs of its source and the source does not have.
func checkable(config *model.Config, c *model.Check, can offers) diag.List {
	stream := config.Stream(config.Silver(c.Silver).From)
	source := config.Source(config.Table(stream.Table).Source)
	needs, has := can(c.Plugin, plugin.RoleCheck, c.Type), can(source.Plugin, plugin.RoleSource, source.Type)
	var lacks []string
	if needs.Aggregate && !has.Aggregate {
		lacks = append(lacks, "counts no rows (aggregate)")
	}
	if needs.Snapshot && !has.Snapshot {
		lacks = append(lacks, "does not read its tables (snapshot)")
	}
	if lacks == nil {
		return nil
	}
	return c.Origin.Locate(c.Addr, diag.List{diag.Errorf(diag.KindConfiguration, "plugin.capability",
		"Remove the check, or use a source plugin that can.",
		"The check %q cannot look at the source %q, which %s", c.Type, source.Type, strings.Join(lacks, " and "))})
}

// can is what a component says of itself; the host has described every plugin
// that it started.
func (w *workspace) can(ctx context.Context, pluginName string, role plugin.Role, typ string) plugin.Capabilities {
	p := w.plugins[pluginName]
	if p == nil {
		return plugin.Capabilities{}
	}
	description, err := p.Describe(ctx)
	if err != nil {
		return plugin.Capabilities{}
	}
	for _, c := range description.Components {
		if c.Role == role && c.Type == typ {
			return c.Capabilities
		}
	}
	return plugin.Capabilities{}
}
