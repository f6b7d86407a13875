package cdc

import "github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"

// conflict tells whether a SNAPSHOT transaction, which holds the locks of a change by now, may not do it: others have
// changed or removed the row since the transaction's snapshot (Microsoft: Transaction locking and row versioning guide,
// Modify data under snapshot isolation), or have inserted one with a key of its new row, which the transaction does not
// see but must not have twice. The database's lock is held.
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
			if now := t.rows.get(o.old); now == nil || !sameRow(was, now) {
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
