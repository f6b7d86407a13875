package mssql

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

// Type is the component's type, the first label of a source block.
const Type = "mssql"

// Name and Version are the plugin's.
const (
	Name    = "pipectl/source-mssql"
	Version = "0.1.0"
)

const (
	defaultConnections = 8
	minRangeRows       = 50_000
)

// Plugin is the source plugin. It holds no connection: sessions do.
type Plugin struct {
	log   *slog.Logger
	now   func() time.Time
	retry retrier
	// minRangeRows is minRangeRows but in tests.
	minRangeRows int64
}

var _ plugin.Plugin = (*Plugin)(nil)

// New returns the plugin. log receives warnings about servers; nothing secret
// is ever written to it.
func New(log *slog.Logger) *Plugin {
	return &Plugin{log: log, now: time.Now, retry: newRetrier(log), minRangeRows: minRangeRows}
}

// Describe says what the plugin offers.
func (p *Plugin) Describe(context.Context) (plugin.Description, error) {
	return plugin.Description{
		Name:    Name,
		Version: Version,
		Components: []plugin.Component{{
			Role:         plugin.RoleSource,
			Type:         Type,
			Description:  "SQL Server change data capture",
			Connection:   connectionSchema(),
			Object:       objectSchema(),
			Read:         readSchema(),
			Capabilities: plugin.Capabilities{Snapshot: true, Aggregate: true, Lost: true},
		}},
	}, nil
}

// ValidateConfig checks what a schema cannot say; it connects to nothing.
func (p *Plugin) ValidateConfig(_ context.Context, id plugin.ComponentID, kind plugin.BodyKind, value cty.Value) (diag.List, error) {
	if id != (plugin.ComponentID{Role: plugin.RoleSource, Type: Type}) {
		return nil, unknownComponent(string(id.Role) + " " + id.Type)
	}
	var list diag.List
	switch kind {
	case plugin.BodyConnection:
		_, list = parseConnection(value)
	case plugin.BodyObject:
		_, list = parseObject(value)
	case plugin.BodyRead:
		_, list = parseRead(value)
	default:
		return nil, fmt.Errorf("source %s has no body %q", Type, kind)
	}
	return list, nil
}

func unknownComponent(name string) error {
	return diag.Errorf(diag.KindUnsupported, codeUnsupported, "It offers source "+Type+".", "The plugin %s offers no %s", Name, name).Err()
}

// OpenSource starts a session; the first call that needs the server connects.
func (p *Plugin) OpenSource(_ context.Context, req plugin.OpenRequest) (plugin.Source, error) {
	if req.Component != Type {
		return nil, unknownComponent("source " + req.Component)
	}
	config, list := parseConnection(req.Config)
	if err := list.Err(); err != nil {
		return nil, err
	}
	limit := req.MaxConnections
	if limit < 1 {
		limit = defaultConnections
	}
	log := p.log.With("source", req.Address)
	retry := p.retry
	retry.log = log
	return &session{
		config: config, pool: newPool(config, limit, log), retry: retry, log: log, now: p.now, limit: limit, minRangeRows: p.minRangeRows,
		clocks: &clocks{configured: config.zone, log: log}, tables: map[string]*tableState{},
	}, nil
}

// OpenTables answers that the plugin is no sink.
func (p *Plugin) OpenTables(context.Context, plugin.OpenRequest) (plugin.Tables, error) {
	return nil, unknownComponent("sink")
}

// OpenSilver answers that the plugin has no silver.
func (p *Plugin) OpenSilver(context.Context, plugin.OpenRequest) (plugin.Silver, error) {
	return nil, unknownComponent("silver")
}

// OpenCheck answers that the plugin has no check.
func (p *Plugin) OpenCheck(context.Context, plugin.OpenRequest) (plugin.Check, error) {
	return nil, unknownComponent("check")
}
