// Package stream carries the changes of one source table into one bronze
// table: micro-batches, their replay after a crash, and the snapshot that a
// new stream may begin with. It orders the calls; the source knows positions
// and rows, the sink tables, the ledger the books. It knows no SQL, no position
// arithmetic and no file format. The package may change at any time.
//
// A batch, in calls. Each may be the last before a crash, and the next run
// repeats from the newest offset on:
//
//  1. Latest says where the batch ends.
//  2. Offset N is stored if absent; what is stored wins.
//  3. PlanBatch cuts it into ranges, the same ones every time.
//  4. BeginWrite to bronze under the key (sink id, N).
//  5. Each range is read into a part of its own.
//  6. Commit, or Abort when no row came.
//  7. The facts: the batch and its events under (sink id#facts, N).
//  8. Commit mark N.
//  9. The verdict moves, if it does.
//
// Three things join this order without changing it, each with a file of its
// own when it comes: chunk waves (rows of a chunked snapshot read next to the
// batches), recovery (a new generation after data loss, picked where run.go
// reads the generation) and switching snapshots (taken between steps 7 and 8
// of the batch that crossed into a new capture instance).
package stream
