package cdc

import (
	"slices"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// sharedRange is what a transaction keeps others from changing because it has read it: the rows that were there, and under
// SERIALIZABLE the whole range (Microsoft: SET TRANSACTION ISOLATION LEVEL (Transact-SQL), REPEATABLE READ and
// SERIALIZABLE). Conditions that are not on the key make no range: all rows count as read, as those of a scan do.
type sharedRange struct {
	tx   *Tx
	rng  keyRange
	rows *tree // as they were read; nil is the whole range
}

// share keeps what a request reads until the transaction ends. The database's lock is held.
func (t *Table) share(tx *Tx, req *tsql.ScanRequest, whole bool) {
	own := tsql.ScanRequest{Prefix: slices.Clone(req.Prefix)}
	for _, b := range []struct{ from, to **tsql.Bound }{{&req.Low, &own.Low}, {&req.High, &own.High}} {
		if *b.from != nil {
			bound := **b.from
			*b.to = &bound
		}
	}
	r := &sharedRange{tx: tx, rng: t.keyRange(&own)}
	if !whole {
		r.rows = tx.rows(t)
	}
	t.shared = append(t.shared, r)
	tx.shared = append(tx.shared, t)
}

// keeps tells whether the range keeps others from making or changing a row.
func (r *sharedRange) keeps(row sqltype.Row, made bool) bool {
	if row == nil || r.rng.below(row) || r.rng.above(row) {
		return false
	}
	return r.rows == nil || !made && r.rows.get(row) != nil
}

// reader gives another transaction that has read what a change would change, nil when there is none.
func (t *Table) reader(tx *Tx, o op) *Tx {
	for _, r := range t.shared {
		if r.tx != tx && (r.keeps(o.old, false) || r.keeps(o.new, true)) {
			return r.tx
		}
	}
	return nil
}

// unshare lets go of what the transaction has read. The database's lock is held.
func (tx *Tx) unshare() {
	for _, t := range tx.shared {
		t.shared = slices.DeleteFunc(t.shared, func(r *sharedRange) bool { return r.tx == tx })
	}
}

// versioned tells whether the session reads row versions and so waits for nobody.
func (s *Session) versioned(db *Database) bool {
	switch s.isolation {
	case tsql.Snapshot, tsql.ReadUncommitted:
		return true
	case tsql.ReadCommitted:
		return db.rcsi.Load()
	}
	return false
}
