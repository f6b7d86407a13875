// Package delta is the sink plugin: the tables role over Delta Lake. It maps
// the contract's calls to package deltatable (rows), deltalog (protocol) and
// store (bytes), and their errors to diagnostics. It does not know what rows
// mean: bronze, silver and ledger are all just tables to it.
package delta
