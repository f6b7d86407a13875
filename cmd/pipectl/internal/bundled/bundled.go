// Package bundled is the list of plugins that come with the binary, and the
// only place of the command that knows them. Each runs as a process of its
// own: the binary starts itself again as the plugin.
package bundled

import (
	"log/slog"
	"maps"
	"slices"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/sdk"
	"github.com/pipectl/pipectl/plugins/reconcile/reconcile"
	"github.com/pipectl/pipectl/plugins/silver/silver"
	"github.com/pipectl/pipectl/plugins/sink-delta/delta"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql"
)

// Delta is the bundled sink, which also reads any table by its path.
const Delta = "pipectl/sink-delta"

// Plugins returns what the binary can be started as, by source.
func Plugins() map[string]sdk.Factory {
	return map[string]sdk.Factory{
		"pipectl/source-mssql": func(log *slog.Logger) plugin.Plugin { return mssql.New(log) },
		Delta:                  func(*slog.Logger) plugin.Plugin { return delta.New(plugin.Release) },
		"pipectl/silver":       func(*slog.Logger) plugin.Plugin { return silver.New(plugin.Release) },
		"pipectl/reconcile":    func(*slog.Logger) plugin.Plugin { return reconcile.New(plugin.Release) },
	}
}

// Sources lists the names by which a configuration asks for them.
func Sources() []string { return slices.Sorted(maps.Keys(Plugins())) }
