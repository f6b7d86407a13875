// Source-mssql is the source plugin for SQL Server change data capture as a
// process of its own.
package main

import (
	"log/slog"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/sdk"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql"
)

func main() { sdk.Serve(factory) }

func factory(log *slog.Logger) plugin.Plugin { return mssql.New(log) }
