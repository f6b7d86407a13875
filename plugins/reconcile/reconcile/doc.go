// Package reconcile is the plugin that compares a silver table with the source
// table it was made from, and explains each difference.
//
// It compares twice. Cheap first: counts and sums of keys per bucket of the
// key space, one scan at the source and one pass over silver's key column.
// Then, for buckets that differ and a random share of those that do not, the
// rows themselves. A key that changed after the position silver stands at is
// in flight: it proves nothing and accuses nobody.
//
// The package knows the columns of bronze and silver. It knows no file format
// and no database (both are reached through the host) and no layout of facts,
// plans and control (the ledger answers questions about them).
package reconcile
