package cdc

import (
	"context"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// The states of ALLOW_SNAPSHOT_ISOLATION.
const (
	snapshotsOff = iota
	snapshotsOn
	snapshotsToOff
	snapshotsToOn
)

// snapshotStates are their names (Microsoft: sys.databases (Transact-SQL), snapshot_isolation_state_desc).
var snapshotStates = [...]string{"OFF", "ON", "IN_TRANSITION_TO_OFF", "IN_TRANSITION_TO_ON"}

// settled gives the state that one in transition began in.
func settled(state int32) int32 {
	switch state {
	case snapshotsToOff:
		return snapshotsOn
	case snapshotsToOn:
		return snapshotsOff
	}
	return state
}

// AllowSnapshot sets ALLOW_SNAPSHOT_ISOLATION at once; it is on for a new database.
func (db *Database) AllowSnapshot(on bool) {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.snapshots.Store(snapshotsOff)
	if on {
		db.snapshots.Store(snapshotsOn)
	}
	db.wake()
}

// changeSnapshots is ALTER DATABASE ... SET ALLOW_SNAPSHOT_ISOLATION. The database is in transition until all transactions
// have ended that were active, on the way to ON those that have changed rows; when the wait is cancelled it is as it was
// (Microsoft: ALTER DATABASE SET options (Transact-SQL); sys.databases (Transact-SQL), snapshot_isolation_state).
func (s *Session) changeSnapshots(ctx context.Context, db *Database, on bool) error {
	target, moving := int32(snapshotsOff), int32(snapshotsToOff)
	if on {
		target, moving = snapshotsOn, snapshotsToOn
	}
	before, err := s.moveSnapshots(db, target, moving)
	if err != nil || before == target {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	var earlier []*Tx
	for tx := range db.active {
		if !on || len(tx.ops) > 0 || len(tx.locks) > 0 {
			earlier = append(earlier, tx)
		}
	}
	for _, tx := range earlier {
		for !tx.done {
			if err := db.nextWake(ctx); err != nil {
				db.snapshots.Store(before)
				db.wake()
				return err
			}
		}
	}
	db.snapshots.Store(target)
	db.wake()
	return nil
}

// moveSnapshots takes a database from the state before, which it gives, into transition to another one, unless another ALTER DATABASE
// was faster.
func (s *Session) moveSnapshots(db *Database, target, moving int32) (before int32, err error) {
	s.srv.mu.Lock()
	defer s.srv.mu.Unlock()
	if err := db.takenBy(s); err != nil {
		return 0, err
	}
	if before = db.snapshots.Load(); before != target {
		db.snapshots.Store(moving)
	}
	return before, nil
}

// nextWake waits until something of the database has ended. The database's lock is held, but not meanwhile.
func (db *Database) nextWake(ctx context.Context) error {
	freed := db.freed
	db.mu.Unlock()
	defer db.mu.Lock()
	select {
	case <-freed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// snapshotable tells why a statement cannot use SNAPSHOT isolation; begun is that its transaction does already. The database's
// lock is held.
func (db *Database) snapshotable(begun bool) error {
	switch state := db.snapshots.Load(); {
	case state == snapshotsOff:
		return sqltype.Errorf(3952, "Snapshot isolation transaction failed accessing database '%s' because snapshot isolation is not allowed in this database. Use ALTER DATABASE to allow snapshot isolation.", db.Name)
	case state == snapshotsToOn:
		return sqltype.Errorf(3956, "Snapshot isolation transaction failed to start in database '%s' because the ALTER DATABASE command which enables snapshot isolation for this database has not finished yet. The database is in transition to pending ON state. You must wait until the ALTER DATABASE Command completes successfully.", db.Name)
	case state == snapshotsToOff && !begun:
		return sqltype.Errorf(3954, "Snapshot isolation transaction failed to start in database '%s' because the ALTER DATABASE command that disallows snapshot isolation had started before this transaction began. The database is in transition to OFF state. You will either need to change the isolation level of the transaction or re-enable the snapshot isolation in the database.", db.Name)
	}
	return nil
}
