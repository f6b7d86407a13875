// Package deltalog reads and writes the transaction log of Delta Lake tables:
// snapshots, commits with conflict checks, checkpoints, statistics, deletion
// vectors, table features.
//
// It knows the protocol and nothing else. It must not know where objects lie
// (package store does), what the rows mean, or how rows become Parquet files;
// the only Parquet it touches is that of checkpoints.
//
// A reader opens a table and takes a snapshot:
//
//	table, err := deltalog.Open(ctx, st, "bronze/orders")
//	snapshot, err := table.Snapshot(ctx)
//	for file := range snapshot.Files(predicate) { ... }
//
// A writer writes data files, then commits what it did against the snapshot it
// read:
//
//	tx := table.Begin(snapshot)
//	tx.SetTxn("orders-v1", 7)
//	tx.AddFile(add)
//	version, err := tx.Commit(ctx)
//
// Facts about the format are from the Delta transaction log protocol
// (PROTOCOL.md of delta-io/delta); comments name the section. Where the
// protocol leaves a choice, the comment says what other writers do.
package deltalog
