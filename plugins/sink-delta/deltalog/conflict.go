package deltalog

import "slices"

// Isolation levels as commitInfo names them.
const (
	serializable      = "Serializable"
	writeSerializable = "WriteSerializable"
	snapshotIsolation = "SnapshotIsolation"
)

// isolation is the level that the commit is checked at: the table's, or
// snapshot isolation for a commit that changes no rows and so may stand before
// or after any other.
func (tx *Transaction) isolation() string {
	changes := tx.metadata != nil || tx.protocol != nil ||
		slices.ContainsFunc(tx.adds, func(a *Add) bool { return a.DataChange }) ||
		slices.ContainsFunc(tx.removes, func(r *Remove) bool { return r.DataChange })
	switch {
	case !changes:
		return snapshotIsolation
	case Properties(tx.currentMetadata().Configuration).writeSerializable():
		return writeSerializable
	}
	return serializable
}

// conflict reports why the transaction cannot stand behind a commit that won
// (the rules of Spark's conflict checker).
func (tx *Transaction) conflict(version int64, winner *batch) error {
	conflict := func(kind error, detail string) error {
		e := &ConflictError{Kind: kind, Version: version, Detail: detail}
		if winner.info != nil {
			e.Operation = winner.info.Operation
		}
		return e
	}
	switch {
	case tx.creates:
		return conflict(ErrConcurrentWrite, "it created the table")
	case winner.protocol != nil:
		return conflict(ErrProtocolChanged, "")
	case winner.metadata != nil:
		return conflict(ErrMetadataChanged, "")
	}
	for _, t := range winner.txns {
		if slices.ContainsFunc(tx.txns, func(o Txn) bool { return o.AppID == t.AppID }) {
			return conflict(ErrConcurrentTransaction, t.AppID)
		}
	}
	for _, d := range winner.domains {
		if slices.ContainsFunc(tx.domains, func(o DomainMetadata) bool { return o.Domain == d.Domain }) {
			return conflict(ErrConcurrentWrite, "metadata domain "+d.Domain)
		}
	}
	level := tx.isolation()
	blind := winner.info != nil && winner.info.IsBlindAppend != nil && *winner.info.IsBlindAppend
	if level == serializable || level == writeSerializable && (!blind || tx.metadata != nil) {
		for _, a := range winner.adds {
			// Rows that only moved were in files that the same commit removes.
			if a.DataChange && tx.covers(a.PartitionValues, a.Stats) {
				return conflict(ErrConcurrentAppend, "file "+a.Path)
			}
		}
	}
	for _, r := range winner.removes {
		if _, ok := tx.removed[r.Path]; ok {
			return conflict(ErrConcurrentDeleteDelete, "file "+r.Path)
		}
		if tx.hasRead(r.Path) {
			return conflict(ErrConcurrentDeleteRead, "file "+r.Path)
		}
	}
	for _, a := range winner.adds {
		if _, ok := tx.added[a.Path]; ok {
			return conflict(ErrConcurrentWrite, "file "+a.Path)
		}
	}
	return nil
}

// covers reports whether rows of a file could be among those that were read.
func (tx *Transaction) covers(partition map[string]*string, statistics string) bool {
	if tx.readAll {
		return true
	}
	for _, p := range tx.predicates {
		if p.mayMatch(partition, statistics) {
			return true
		}
	}
	return false
}

// hasRead reports whether a file of the snapshot was read.
func (tx *Transaction) hasRead(path string) bool {
	if _, ok := tx.readFiles[path]; ok {
		return true
	}
	r, ok := tx.snapshot.files.get(path)
	return ok && tx.covers(r.partition, r.stats)
}
