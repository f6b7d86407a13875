package cdc

import (
	"fmt"
	"sync"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// waitGraph knows who waits for whom, in all databases: a transaction of one may read tables of another. Its lock guards what
// transactions say of that, and is taken last.
type waitGraph struct{ mu sync.Mutex }

// enter says that a transaction, or with nil a statement without one, which nobody waits for, waits for others. When it closes a
// circle the victim is told; the error is that of the transaction when it is itself. Who is another's victim sees that in the channel.
func (g *waitGraph) enter(tx *Tx, blockers []*Tx) (doomed <-chan struct{}, err error) {
	if tx == nil {
		return nil, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if tx.doomed == nil {
		tx.doomed = make(chan struct{})
	}
	tx.blockers = blockers
	for {
		circle := tx.circle(tx, map[*Tx]bool{})
		if circle == nil {
			return tx.doomed, nil
		}
		victim := cheapest(circle)
		victim.blockers = nil // it is about to let go
		if victim == tx {
			return nil, errDeadlock(tx.session)
		}
		close(victim.doomed)
	}
}

// leave says that a transaction waits no more; ok is false when it is a victim.
func (g *waitGraph) leave(tx *Tx) (ok bool) {
	if tx == nil {
		return true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	tx.blockers = nil
	select {
	case <-tx.doomed:
		tx.doomed = nil // it has been told
		return false
	default:
		return true
	}
}

// circle gives those who wait for one another from a transaction on around to it, nil when that is not so. Of those in seen it
// is not.
func (tx *Tx) circle(from *Tx, seen map[*Tx]bool) []*Tx {
	for _, b := range from.blockers {
		if b == tx {
			return []*Tx{from}
		}
		if seen[b] {
			continue
		}
		seen[b] = true
		if rest := tx.circle(b, seen); rest != nil {
			return append(rest, from)
		}
	}
	return nil
}

// cheapest gives the victim of a circle, whose last closed it: the one with the lowest DEADLOCK_PRIORITY, of equal ones the one that
// is cheapest to roll back, which here is the one that has changed the fewest rows, of equal ones the one that closes the circle; a
// server takes any of those (Microsoft: Deadlocks guide, Deadlock detection).
func cheapest(circle []*Tx) *Tx {
	victim := circle[len(circle)-1]
	for _, h := range circle {
		if h.priority < victim.priority || h.priority == victim.priority && len(h.ops) < len(victim.ops) {
			victim = h
		}
	}
	return victim
}

func errDeadlock(spid int16) *sqltype.Error {
	return &sqltype.Error{Number: 1205, State: 45, Class: 13, Message: fmt.Sprintf("Transaction (Process ID %d) was deadlocked on lock resources with another process and has been chosen as the deadlock victim. Rerun the transaction.", spid)}
}

// forget says that transactions wait for nobody, until they say so again.
func (g *waitGraph) forget(txs map[*Tx]bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for tx := range txs {
		tx.blockers = nil
	}
}

// wake lets all who wait look again. What they have waited for until now may be theirs, so that it makes no circle any more. The
// database's lock is held.
func (db *Database) wake() {
	db.srv.waiting.forget(db.waiters)
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
