// Package sdk is what a plugin author imports: Serve and Main to run a plugin
// as a process, types to embed that answer "unsupported" for calls an author
// leaves out, a schema builder, the logger, and the contract under short
// names. The packages whose types it re-exports (core/plugin, core/schema,
// core/diag, core/plugin/rows) may be imported directly as well.
//
// A plugin is a value of the interface Plugin. Its program is:
//
//	func main() { sdk.Serve(mssql.New) }
//
// where New is a Factory. The suite in sdk/conformance says whether it does
// what the contract asks.
//
// The package knows nothing of planning, runs, the ledger, the language or
// any driver.
package sdk
