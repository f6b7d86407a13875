// Package host finds, verifies, starts, configures, watches and stops plugin
// processes, and serves them the tables, source and ledger of the steps they
// carry out. There is one way to run a plugin: a process of its own. A bundled
// plugin is the host's own program started again with a hidden argument; a
// third party's is a file that is pinned by its digest.
//
// A process that dies gives one transient diagnostic with its last lines of
// standard error; it is started again, at most twice a run, and its sessions
// are configured again, so that a step can be repeated from its last durable
// position. A process that stops answering is found by keepalive and killed.
//
// The package implements core/plugin's interfaces for its callers and needs
// none of them: it knows nothing of planning, runs, the ledger, the language.
package host
