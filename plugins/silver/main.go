// Command silver is the silver plugin as a file of its own.
package main

import (
	"log/slog"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/sdk"
	"github.com/pipectl/pipectl/plugins/silver/silver"
)

func main() {
	sdk.Serve(func(*slog.Logger) plugin.Plugin { return silver.New(plugin.Release) })
}
