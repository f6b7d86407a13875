// Package ledger keeps the books of a lake: the facts table (one row per
// micro-batch and event), the control table (the completeness verdict and the
// position of each silver) and, to read, the snapshot plans. It is their only
// writer, through the sink, and knows their layout, their migrations and their
// idempotency keys. It knows no source, no file format and not how a batch is
// read. The package may change at any time; the tables may not: their columns,
// property names and payload keys are shared with other writers.
//
// Order carries the correctness. Writers: data, facts, checkpoint, verdict.
// Readers: control, facts, plans, and only then do they pin bronze, so that
// bronze holds whatever the rows point to.
package ledger
