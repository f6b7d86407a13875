package cdc

import "slices"

// savepoint tells how much a transaction had done and locked at one.
type savepoint struct {
	name                      string
	ops, shapes, locks, reads int
}

// save marks a savepoint.
func (tx *Tx) save(name string) {
	tx.saved = append(tx.saved, savepoint{name, len(tx.ops), len(tx.undone), len(tx.locks), tx.reads})
}

// undo goes back to the newest savepoint of a name, which is told apart by case, and lets go of what the transaction has locked since
// (Microsoft: SAVE TRANSACTION (Transact-SQL); ROLLBACK TRANSACTION (Transact-SQL), Locking behavior).
func (tx *Tx) undo(name string) bool {
	for i, s := range slices.Backward(tx.saved) {
		if s.name != name {
			continue
		}
		tx.saved = tx.saved[:i+1]
		tx.db.mu.Lock()
		defer tx.db.mu.Unlock()
		tx.revert(s.shapes)
		if s.shapes == 0 {
			tx.db.shaping.CompareAndSwap(tx, nil)
		}
		tx.unlock(s.locks)
		tx.unkeep(s.reads)
		tx.cut(s.ops)
		return true
	}
	return false
}
