// Command sink-delta is the Delta Lake sink plugin as a file of its own.
package main

import (
	"log/slog"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/sdk"
	"github.com/pipectl/pipectl/plugins/sink-delta/delta"
)

func main() { sdk.Serve(factory) }

func factory(*slog.Logger) plugin.Plugin { return delta.New(plugin.Release) }
