// Package state keeps what a configuration remembers between runs: which
// addresses were accepted, how far each stream has come (an offset log written
// before a batch and a commit log written after it), locks and the history of
// runs. It lives in small objects, inside a sink or in a local directory. It
// knows no source, no table format and not what a batch is. The package may
// change at any time; the layout has a number of its own, see format.json.
//
//	format.json                     lineage, environment: created once, if absent
//	declared.json                   replaced by apply under its lock
//	streams/<app id>/stream.json    created with the first offset; changed only by a database that is known by another name since
//	streams/<app id>/offsets/<N>    20 digits, created if absent, before the batch
//	streams/<app id>/commits/<N>    created if absent, after the batch's facts
//	streams/<app id>/_mssql_cdc_generation.json, _generations/<n>/offsets, commits
//	locks/<name>/<k>                see Lock
//	runs/<time>-<run id>.json       created if absent; the time it was written
//
// Every write may be repeated: what is created if absent keeps its first value
// and a second writer takes over what is stored; what is replaced is replaced
// whole by the one holder of a lock. Locks save work, the transactions of the
// tables keep it right.
package state
