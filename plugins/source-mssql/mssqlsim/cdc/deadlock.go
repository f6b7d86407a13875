package cdc

import "github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"

// deadlock tells who is the victim when a transaction is about to wait for another: nil when they are in no circle, else
// the one with the lowest DEADLOCK_PRIORITY, of equal ones the one that is cheapest to roll back, which here is the one
// that has changed the fewest rows, of equal ones the one that closes the circle; a server takes any of those (Microsoft:
// Deadlocks guide, Deadlock detection). The database's lock is held.
func (tx *Tx) deadlock(holder *Tx) (victim *Tx) {
	if tx == nil {
		return nil
	}
	victim = tx
	for h := holder; h != tx; h = h.waits {
		if h == nil || h.doomed { // a victim is about to let go
			return nil
		}
		if h.priority < victim.priority || h.priority == victim.priority && len(h.ops) < len(victim.ops) {
			victim = h
		}
	}
	return victim
}

func errDeadlock() error {
	return &sqltype.Error{Number: 1205, State: 45, Class: 13, Message: "Transaction was deadlocked on lock resources with another process and has been chosen as the deadlock victim. Rerun the transaction."}
}

// wake lets all who wait look again. The database's lock is held.
func (db *Database) wake() {
	close(db.freed)
	db.freed = make(chan struct{})
}

// SetDeadlockPriority is SET DEADLOCK_PRIORITY, from -10 to 10.
func (s *Session) SetDeadlockPriority(n int8) {
	s.priority = n
	if tx := s.current(); tx != nil {
		tx.db.mu.Lock()
		defer tx.db.mu.Unlock()
		tx.priority = n
	}
}
