// Package memory holds in-process fakes of all four roles with the true
// semantics of the contract, for tests of everything that uses plugins: a Lake
// (the tables role), a scripted Database (the source role), a ledger view, a
// trivial silver and check, and Faults, which breaks calls by name and count
// or kills the pretended process at any point before or after a call.
//
// A Lake and a Database outlive the sessions opened on them, as a folder and a
// server outlive the processes that use them: that is what crash tests need.
// The package knows no real source, no table format and no process.
package memory
