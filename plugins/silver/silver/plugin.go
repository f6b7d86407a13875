package silver

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/schema"
)

// Plugin has the silver components.
type Plugin struct{ version string }

var _ plugin.Plugin = (*Plugin)(nil)

// New returns the plugin; version is the release it is built with.
func New(version string) *Plugin { return &Plugin{version: version} }

// typeCurrent is the style that keeps one row per key.
const typeCurrent = "current"

// Describe names the component "current".
func (p *Plugin) Describe(context.Context) (plugin.Description, error) {
	return plugin.Description{
		Name: writer, Version: p.version,
		Components: []plugin.Component{{
			Role: plugin.RoleSilver, Type: typeCurrent,
			Description: "Current rows: one row per key of the source table, equal to the source as of the table's position. Deletes are hard.",
			Object:      schema.Body{Description: "Settings of a table with current rows."},
		}},
	}, nil
}

// ValidateConfig has nothing to add to the schema.
func (p *Plugin) ValidateConfig(context.Context, plugin.ComponentID, plugin.BodyKind, cty.Value) (diag.List, error) {
	return nil, nil
}

// OpenSilver starts a session of the component "current".
func (p *Plugin) OpenSilver(_ context.Context, req plugin.OpenRequest) (plugin.Silver, error) {
	if req.Component != typeCurrent {
		return nil, unsupported("silver", req.Component)
	}
	return &current{budget: req.MemoryBudget, spillDir: req.SpillDir, alloc: memory.DefaultAllocator}, nil
}

// OpenSource answers that there is no source here.
func (p *Plugin) OpenSource(_ context.Context, req plugin.OpenRequest) (plugin.Source, error) {
	return nil, unsupported("source", req.Component)
}

// OpenTables answers that there is no sink here.
func (p *Plugin) OpenTables(_ context.Context, req plugin.OpenRequest) (plugin.Tables, error) {
	return nil, unsupported("sink", req.Component)
}

// OpenCheck answers that there is no check here.
func (p *Plugin) OpenCheck(_ context.Context, req plugin.OpenRequest) (plugin.Check, error) {
	return nil, unsupported("check", req.Component)
}

func unsupported(role, component string) error {
	return diag.Errorf(diag.KindUnsupported, "plugin.no_component", "", "pipectl/silver has no %s %q", role, component).Err()
}
