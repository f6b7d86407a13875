// Command reconcile is the reconcile plugin as a file of its own.
package main

import (
	"log/slog"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/sdk"
	"github.com/pipectl/pipectl/plugins/reconcile/reconcile"
)

func main() {
	sdk.Serve(func(*slog.Logger) plugin.Plugin { return reconcile.New(plugin.Release) })
}
