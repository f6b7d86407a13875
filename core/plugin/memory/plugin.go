package memory

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/schema"
)

// Plugin is a plugin that has every role; all its sessions work on one Lake
// and one Database.
type Plugin struct {
	Lake     *Lake
	Database *Database
	// Type is the type of all four components, "memory" when "".
	Type string
	// Faults, when not nil, breaks the calls of its sessions.
	Faults *Faults
	// Silver and Check replace the trivial ones.
	Silver plugin.Silver
	Check  plugin.Check
}

// New returns a plugin over an empty lake and an empty database.
func New() *Plugin { return &Plugin{Lake: NewLake(), Database: NewDatabase("memory-1")} }

func (p *Plugin) name() string {
	if p.Type == "" {
		return "memory"
	}
	return p.Type
}

// Describe returns the components and their schemas.
func (p *Plugin) Describe(context.Context) (plugin.Description, error) {
	connection := schema.Body{
		Description: "Where the pretended server is.",
		Attributes: []schema.Attribute{
			{Name: "place", Type: cty.String, Description: "Any text but \"nowhere\"."},
			{Name: "password", Type: cty.String, Sensitive: true, Description: "Any text."},
		},
	}
	return plugin.Description{
		Name: "pipectl/memory", Version: "0.0.0",
		Components: []plugin.Component{
			{
				Role: plugin.RoleSource, Type: p.name(), Description: "A scripted database.", Connection: connection,
				Object:       schema.Body{Attributes: []schema.Attribute{{Name: "object", Type: cty.String, Required: true, Description: "The table's name."}}},
				Read:         schema.Body{Attributes: []schema.Attribute{{Name: "partitions", Type: cty.Number, Default: cty.NumberIntVal(1), Description: "Ranges a batch is cut into."}}},
				Capabilities: plugin.Capabilities{Snapshot: true, Aggregate: true, Lost: true},
			},
			{
				Role: plugin.RoleSink, Type: p.name(), Description: "Tables in memory.", Connection: connection,
				Capabilities: plugin.Capabilities{Merge: true, Objects: true, History: true},
			},
			{Role: plugin.RoleSilver, Type: p.name(), Description: "The current row per key."},
			{Role: plugin.RoleCheck, Type: p.name(), Description: "Row counts."},
		},
	}, nil
}

// ValidateConfig refuses the place "nowhere".
func (p *Plugin) ValidateConfig(_ context.Context, _ plugin.ComponentID, body plugin.BodyKind, value cty.Value) (diag.List, error) {
	if body == plugin.BodyConnection && textAttribute(value, "place") == "nowhere" {
		return diag.List{diag.Errorf(diag.KindConfiguration, "memory.place", "Name another place.", "There is no server at nowhere").At("place")}, nil
	}
	return nil, nil
}

// OpenSource opens a session on the database.
func (p *Plugin) OpenSource(_ context.Context, req plugin.OpenRequest) (plugin.Source, error) {
	if p.Database == nil || req.Component != p.name() {
		return nil, absent(plugin.RoleSource, req)
	}
	if p.Faults != nil {
		return p.Faults.Source(p.Database.Open()), nil
	}
	return p.Database.Open(), nil
}

// OpenTables opens a session on the lake.
func (p *Plugin) OpenTables(_ context.Context, req plugin.OpenRequest) (plugin.Tables, error) {
	if p.Lake == nil || req.Component != p.name() {
		return nil, absent(plugin.RoleSink, req)
	}
	if p.Faults != nil {
		return p.Faults.Tables(p.Lake.Open()), nil
	}
	return p.Lake.Open(), nil
}

// OpenSilver returns the silver.
func (p *Plugin) OpenSilver(_ context.Context, req plugin.OpenRequest) (plugin.Silver, error) {
	switch {
	case req.Component != p.name():
		return nil, absent(plugin.RoleSilver, req)
	case p.Silver != nil:
		return p.Silver, nil
	}
	return Silver{}, nil
}

// OpenCheck returns the check.
func (p *Plugin) OpenCheck(_ context.Context, req plugin.OpenRequest) (plugin.Check, error) {
	switch {
	case req.Component != p.name():
		return nil, absent(plugin.RoleCheck, req)
	case p.Check != nil:
		return p.Check, nil
	}
	return Check{}, nil
}

func absent(role plugin.Role, req plugin.OpenRequest) error {
	d := diag.Errorf(diag.KindConfiguration, "memory.component", "", "This plugin has no %s %q", role, req.Component)
	d.Address = req.Address
	return d.Err()
}
