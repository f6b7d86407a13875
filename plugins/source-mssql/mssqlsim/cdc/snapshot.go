package cdc

import (
	"context"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// conflict tells whether a SNAPSHOT transaction, which holds the locks of a change by now, may not do it: others have
// changed or removed the row since the transaction's snapshot, be it to the values that it had (Microsoft: Transaction
// locking and row versioning guide, Modify data under snapshot isolation: what counts is that it was modified, and every
// modification makes a version), or have inserted one with a key of its new row, which the transaction does not see but
// must not have twice. The database's lock is held.
func (tx *Tx) conflict(t *Table, o op) error {
	if tx.snapshot == nil {
		return nil
	}
	seen := tx.snapshot[t]
	if seen == nil { // a table that is younger than the snapshot
		return nil
	}
	if o.old != nil {
		if was := seen.get(o.old); was != nil {
			if now := t.rows.get(o.old); now == nil || &was[0] != &now[0] {
				return updateConflict(t)
			}
		}
	}
	if o.new == nil {
		return nil
	}
	if t.key != nil && seen.get(o.new) == nil && t.rows.get(o.new) != nil {
		return t.duplicate(t.primary(), o.new)
	}
	for i, s := range t.rows.sides {
		if i < len(seen.sides) && s.get(o.new) != nil && seen.sides[i].get(o.new) == nil {
			return t.duplicate(t.sideIndexes()[i], o.new)
		}
	}
	return nil
}

func updateConflict(t *Table) error {
	return sqltype.Errorf(3960, "Snapshot isolation transaction aborted due to update conflict. You cannot use snapshot isolation to access table '%s' directly or indirectly in database '%s' to update, delete, or insert the row that has been modified or deleted by another transaction. Retry the transaction or change the isolation level for the update/delete statement.", t.FullName(), t.db.Name)
}

// dirty gives the rows as all transactions have left them so far, the reader's own and those of others that have not
// committed (Microsoft: SET TRANSACTION ISOLATION LEVEL, READ UNCOMMITTED). The database's lock is held.
func (t *Table) dirty(own *Tx) *tree {
	rows := own.rows(t).clone()
	seen := map[*Tx]bool{own: true}
	for _, o := range t.locks {
		if seen[o] {
			continue
		}
		seen[o] = true
		for _, c := range o.ops {
			if c.table == t {
				apply(rows, c)
			}
		}
	}
	return rows
}

// starts begins the transaction of a statement that is about to access a table, if it has not begun, and makes it see
// what the statement's isolation level shows. Only a transaction that began with SNAPSHOT isolation may use it, and it
// may use other levels in between (Microsoft: SET TRANSACTION ISOLATION LEVEL (Transact-SQL), SNAPSHOT). The database's
// lock is held.
//
// A transaction is of one database, that of the first table that it writes or keeps locks of, and only reads what is committed in
// others; binds tells that this is such an access.
func (s *Session) starts(t *Table, level tsql.Isolation, binds bool) error {
	db := t.db
	if tx := s.current(); tx != nil && tx.db != db {
		switch {
		case binds:
			if err := tx.moveTo(db); err != nil {
				return err
			}
		case s.tx != nil && level == tsql.Snapshot:
			return sqltype.Unsupported("SNAPSHOT isolation of a transaction over the databases %s and %s", tx.db.Name, db.Name)
		default:
			return nil
		}
	}
	tx := s.tx
	if tx == nil {
		return nil
	}
	db.active[tx] = true
	if s.isolation != tsql.Snapshot {
		tx.started = true
	} else if tx.versions == nil {
		if tx.started {
			return sqltype.Errorf(3951, "Transaction failed in database '%s' because the statement was run under snapshot isolation but the transaction did not start in snapshot isolation. You cannot change the isolation level of the transaction to snapshot after the transaction has started unless the transaction was originally started under snapshot isolation level.", db.Name)
		}
		tx.versions, tx.shapes, tx.started = db.versions(), db.shapes, true
	}
	if tx.versions == nil {
		return nil
	}
	if level == tsql.Snapshot && t.shaped > tx.shapes && t.shaper != tx {
		return sqltype.Errorf(3961, "Snapshot isolation transaction failed in database '%s' because the object accessed by the statement has been modified by a DDL statement in another concurrent transaction since the start of this transaction. It is disallowed because the metadata is not versioned. A concurrent update to metadata can lead to inconsistency if mixed with snapshot isolation.", db.Name)
	}
	if on := level == tsql.Snapshot; on != (tx.snapshot != nil) {
		if tx.snapshot = nil; on {
			tx.snapshot = tx.versions
		}
		tx.redo()
	}
	return nil
}

// moveTo makes a transaction that has done nothing yet one of another database. The lock of that one is held.
func (tx *Tx) moveTo(db *Database) error {
	from := tx.db
	if tx.started || tx.versions != nil || len(tx.ops)+len(tx.locks)+len(tx.kept)+len(tx.undone) > 0 || from.shaping.Load() == tx {
		return sqltype.Unsupported("a transaction that changes or locks rows of the databases %s and %s", from.Name, db.Name)
	}
	if tx.open {
		db.open.Add(1)
		from.open.Add(-1)
	}
	tx.db = db
	tx.home.Store(int64(db.ID))
	return nil
}

// reshaped notes a change of the table's shape. The database's lock is held.
func (t *Table) reshaped() {
	t.db.shapes++
	t.shaped, t.shaper = t.db.shapes, t.db.shaping.Load()
}

// version gives the rows of a table that a scan must deliver. READ COMMITTED waits for the locks of others in the range
// and reads what is committed then; SNAPSHOT and READ COMMITTED with row versions read without waiting
// (Microsoft: SET TRANSACTION ISOLATION LEVEL).
func (s *Session) version(ctx context.Context, r *source, req *tsql.ScanRequest) (*tree, error) {
	t, db, hint := r.t, r.t.db, r.hint
	db.mu.Lock()
	defer db.mu.Unlock()
	level := s.isolation
	if hint.Isolation != 0 {
		level = hint.Isolation
	}
	tx := s.current()
	if level == tsql.Snapshot {
		if err := db.snapshotable(s.tx != nil && s.tx.versions != nil); err != nil {
			return nil, err
		}
	}
	locks := s.readLocks(db, level, req.Write, hint)
	waited, err := db.settle(ctx, tx, locks.wait)
	if err == nil {
		err = r.asCompiled()
	}
	if err == nil {
		err = s.starts(t, level, req.Write || locks.keep)
	}
	for more := true; err == nil && more; waited = waited || more { // what was waited for may have let in a change of shape
		if more, err = locks.take(ctx, t, tx, req); err == nil && more {
			_, err = db.settle(ctx, tx, locks.wait)
		}
		if err == nil && more {
			err = r.asCompiled()
		}
	}
	if err != nil {
		return nil, err
	}
	if waited || s.stmt == nil {
		s.stmt = db.versions()
	}
	if level == tsql.ReadUncommitted && !req.Write && len(t.locks) > 0 {
		return t.dirty(tx), nil
	}
	if s.writing || s.tx != nil {
		return tx.rows(t), nil
	}
	if rows := s.stmt[t]; rows != nil {
		return rows, nil
	}
	return t.rows, nil
}
