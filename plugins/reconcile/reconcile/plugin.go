package reconcile

import (
	"context"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

// Plugin has the check component.
type Plugin struct{ version string }

var _ plugin.Plugin = (*Plugin)(nil)

// New returns the plugin; version is the release it is built with.
func New(version string) *Plugin { return &Plugin{version: version} }

// typeReconcile is the check that compares silver with its source.
const typeReconcile = "reconcile"

// defaultBudget bounds a session's buffers when the host names no bound.
const defaultBudget = 256 << 20

// Describe names the component "reconcile".
func (p *Plugin) Describe(context.Context) (plugin.Description, error) {
	return plugin.Description{
		Name: "pipectl/reconcile", Version: p.version,
		Components: []plugin.Component{{
			Role: plugin.RoleCheck, Type: typeReconcile,
			Description: "Compares a silver table with its source: counts and key sums of all rows, and the rows themselves of what differs and of a random share of the rest.",
			Object:      body,
			// What it needs of its source: counts of all rows, and the rows of ranges.
			Capabilities: plugin.Capabilities{Aggregate: true, Snapshot: true},
		}},
	}, nil
}

// ValidateConfig says what the schema cannot: ranges of numbers, names of tables.
func (p *Plugin) ValidateConfig(_ context.Context, id plugin.ComponentID, kind plugin.BodyKind, value cty.Value) (diag.List, error) {
	if id.Role != plugin.RoleCheck || id.Type != typeReconcile || kind != plugin.BodyObject {
		return nil, nil
	}
	_, faults := parseSettings(value)
	return faults, nil
}

// OpenCheck starts a session of the component "reconcile".
func (p *Plugin) OpenCheck(_ context.Context, req plugin.OpenRequest) (plugin.Check, error) {
	if req.Component != typeReconcile {
		return nil, unsupported("check", req.Component)
	}
	s := &session{budget: req.MemoryBudget, spillDir: req.SpillDir, alloc: memory.DefaultAllocator, now: time.Now}
	if s.budget <= 0 {
		s.budget = defaultBudget
	}
	return s, nil
}

// OpenSource answers that there is no source here.
func (p *Plugin) OpenSource(_ context.Context, req plugin.OpenRequest) (plugin.Source, error) {
	return nil, unsupported("source", req.Component)
}

// OpenTables answers that there is no sink here.
func (p *Plugin) OpenTables(_ context.Context, req plugin.OpenRequest) (plugin.Tables, error) {
	return nil, unsupported("sink", req.Component)
}

// OpenSilver answers that there is no silver here.
func (p *Plugin) OpenSilver(_ context.Context, req plugin.OpenRequest) (plugin.Silver, error) {
	return nil, unsupported("silver", req.Component)
}

func unsupported(role, component string) error {
	return diag.Errorf(diag.KindUnsupported, "plugin.no_component", "", "pipectl/reconcile has no %s %q", role, component).Err()
}
