// Package examples holds configurations that validate and run, for the demo
// and for tests.
package examples

import _ "embed"

// Quickstart is quickstart.hcl: one table of SQL Server into a lake in a local
// folder. It wants the environment variable SHOP_MSSQL_URL.
//
//go:embed quickstart.hcl
var Quickstart []byte

// FiftyTables is fifty-tables.hcl: one map, and five blocks with for_each.
//
//go:embed fifty-tables.hcl
var FiftyTables []byte
