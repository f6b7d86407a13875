package cdc

import (
	"context"
	"slices"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// lockMode is the kind of a lock that a statement asks for what it reads.
type lockMode uint8

// The modes (Microsoft: Transaction locking and row versioning guide, Lock modes and Lock compatibility).
const (
	lockShared lockMode = iota
	lockUpdate
	lockExclusive
	lockSchema // of who changes a table's shape
	lockStable // of who needs that shape as it is
)

// bars tells whether a lock that another transaction holds is in the way of one that is asked for.
func (held lockMode) bars(asked lockMode) bool {
	return held == lockExclusive || asked == lockExclusive || held == lockUpdate && asked == lockUpdate
}

// keptRange is what a transaction keeps others from because it has read it: the rows that were there, and with locks of
// ranges or of the table whatever may come into the range (Microsoft: SET TRANSACTION ISOLATION LEVEL (Transact-SQL),
// REPEATABLE READ and SERIALIZABLE; Table hints (Transact-SQL)). Conditions that are not on the key make no range: all
// rows count as read, as those of a scan do.
type keptRange struct {
	read keptRead
	n    int // which of the transaction it is
	mode lockMode
	rng  keyRange
	rows *tree // as they were read; nil is the whole range
}

// keptReads are the ranges of a table that one transaction has read, each of them once however often it was read.
type keptReads struct {
	tx     *Tx
	ranges []*keptRange
	known  map[keptRead]*keptRange
}

// keptRead tells ranges apart.
type keptRead struct {
	mode  lockMode
	whole bool
	bytes string // of the values that bound it
}

// readLocks are the locks of one read.
type readLocks struct {
	mode  lockMode
	none  bool // row versions are read
	keep  bool // until the transaction ends
	whole bool // what may come into the range too
	table bool // all of the table
	wait  lockWait
}

// readLocks tells which locks a scan takes.
func (s *Session) readLocks(db *Database, level tsql.Isolation, write bool, h tsql.LockHint) readLocks {
	l := readLocks{table: h.Table, whole: h.Table || level == tsql.Serializable, wait: s.wait}
	switch {
	case h.Exclusive, h.Table && write:
		l.mode, l.keep = lockExclusive, true
	case h.Update:
		l.mode, l.keep = lockUpdate, true
	case write:
		l.mode = lockUpdate
	case !h.Table:
		switch level {
		case tsql.Snapshot, tsql.ReadUncommitted:
			l.none = true
		case tsql.ReadCommitted:
			l.none = db.rcsi.Load() && !h.NoVersions
		}
	}
	l.keep = l.keep || level == tsql.RepeatableRead || level == tsql.Serializable
	if h.NoWait {
		l.wait = 0
	}
	return l
}

// take waits for the locks of a read, and keeps them if it is to. It tells whether it had to wait. The database's lock
// is held.
func (l readLocks) take(ctx context.Context, t *Table, tx *Tx, req *tsql.ScanRequest) (waited bool, err error) {
	if l.none || len(t.locks) == 0 && len(t.kept) == 0 && !l.keep {
		return false, nil
	}
	if l.table {
		req = &tsql.ScanRequest{}
	}
	rng := t.keyRange(req)
	err = t.db.await(ctx, tx, l.wait, l.mode, func() []*Tx {
		holders := append(t.lockedIn(&rng, tx), t.keptIn(&rng, l, tx)...)
		waited = waited || len(holders) > 0
		return holders
	})
	if err == nil && l.keep && tx != nil && tx.session != 0 {
		t.keep(tx, l, req)
	}
	return waited, err
}

// keep keeps what a request reads until the transaction ends.
func (t *Table) keep(tx *Tx, l readLocks, req *tsql.ScanRequest) {
	own := tsql.ScanRequest{Prefix: slices.Clone(req.Prefix)}
	for _, b := range []struct{ from, to **tsql.Bound }{{&req.Low, &own.Low}, {&req.High, &own.High}} {
		if *b.from != nil {
			bound := **b.from
			*b.to = &bound
		}
	}
	r := &keptRange{mode: l.mode, rng: t.keyRange(&own)}
	if !l.whole {
		r.rows = tx.rows(t)
	}
	i := slices.IndexFunc(t.kept, func(k *keptReads) bool { return k.tx == tx })
	if i < 0 {
		i = len(t.kept)
		t.kept = append(t.kept, &keptReads{tx: tx, known: map[keptRead]*keptRange{}})
		tx.kept = append(tx.kept, t)
	}
	k := t.kept[i]
	read := keptRead{r.mode, l.whole, t.rangeBytes(&own)}
	if before := k.known[read]; before != nil {
		before.rows = r.rows // what was read before is there still, unless the transaction itself has it locked
		return
	}
	tx.reads++
	r.read, r.n = read, tx.reads
	k.known[read] = r
	k.ranges = append(k.ranges, r)
}

// rangeBytes tells ranges of keys apart.
func (t *Table) rangeBytes(req *tsql.ScanRequest) string {
	var b []byte
	types := t.keyTypes()
	for i, v := range req.Prefix {
		b = v.AppendKey(b, types[i])
	}
	for i, end := range []*tsql.Bound{req.Low, req.High} {
		if end == nil {
			continue
		}
		mark := byte(i)
		if end.Inclusive {
			mark += 2
		}
		b = end.Value.AppendKey(append(b, 0xFE, mark), types[len(req.Prefix)])
	}
	return string(b)
}

// keeps tells whether the range keeps others from making or changing a row.
func (r *keptRange) keeps(row sqltype.Row, made bool) bool {
	if row == nil || r.rng.below(row) || r.rng.above(row) {
		return false
	}
	return r.rows == nil || !made && r.rows.get(row) != nil
}

// readers gives the other transactions that have read what a change would change.
func (t *Table) readers(tx *Tx, o op) []*Tx {
	return t.keepers(tx, func(r *keptRange) bool { return r.keeps(o.old, false) || r.keeps(o.new, true) })
}

// keptIn gives the other transactions that keep something of a range from such a read.
func (t *Table) keptIn(rng *keyRange, l readLocks, tx *Tx) []*Tx {
	return t.keepers(tx, func(r *keptRange) bool { return r.barsRead(t, rng, l) })
}

// keepers gives the other transactions that keep a range of a kind.
func (t *Table) keepers(tx *Tx, kind func(*keptRange) bool) (keepers []*Tx) {
	for _, k := range t.kept {
		if k.tx != tx && slices.ContainsFunc(k.ranges, kind) {
			keepers = append(keepers, k.tx)
		}
	}
	return keepers
}

// barsRead tells whether the range is in the way of a read of another one.
func (r *keptRange) barsRead(t *Table, rng *keyRange, l readLocks) bool {
	if !r.mode.bars(l.mode) {
		return false
	}
	rows := r.rows
	if rows == nil && l.whole {
		return !r.rng.apart(rng)
	}
	if rows == nil {
		if r.mode == lockExclusive && !r.rng.apart(rng) {
			return true
		}
		rows = t.rows
	}
	return r.rng.meets(rng, rows)
}

// meets tells whether two ranges have one of these rows in common.
func (k *keyRange) meets(o *keyRange, rows *tree) bool {
	row := rows.ascend(func(row sqltype.Row) bool { return k.below(row) || o.below(row) }).next()
	return row != nil && !k.above(row) && !o.above(row)
}

// apart tells that no row could be in both ranges.
func (k *keyRange) apart(o *keyRange) bool { return k.before(o) || o.before(k) }

// before tells that all of the range comes before another one.
func (k *keyRange) before(o *keyRange) bool {
	last, lastIn := edge(k.req.Prefix, k.req.High)
	first, firstIn := edge(o.req.Prefix, o.req.Low)
	for i := range min(len(last), len(first)) {
		if c := k.cmps[i](&last[i], &first[i]); c != 0 {
			return c < 0
		}
	}
	// The shorter one goes on for all rows that begin with it.
	return len(last) == len(first) && !(lastIn && firstIn)
}

// edge gives one end of a range as values of the first key columns.
func edge(prefix []sqltype.Value, b *tsql.Bound) (values []sqltype.Value, inclusive bool) {
	if b == nil {
		return prefix, true
	}
	return append(slices.Clone(prefix), b.Value), b.Inclusive
}

// unkeep lets go of what the transaction has read behind the n-th range. The database's lock is held.
func (tx *Tx) unkeep(n int) {
	tx.kept = slices.DeleteFunc(tx.kept, func(t *Table) bool {
		i := slices.IndexFunc(t.kept, func(k *keptReads) bool { return k.tx == tx })
		k := t.kept[i]
		k.ranges = slices.DeleteFunc(k.ranges, func(r *keptRange) bool {
			if r.n > n {
				delete(k.known, r.read)
			}
			return r.n > n
		})
		if len(k.ranges) > 0 {
			return false
		}
		t.kept = slices.Delete(t.kept, i, i+1)
		return true
	})
}

// lockTable takes the exclusive lock of a table for a statement that changes it.
func (s *Session) lockTable(ctx context.Context, t *Table, h tsql.LockHint) error {
	t.db.mu.Lock()
	defer t.db.mu.Unlock()
	h.Exclusive = true
	if _, err := t.db.settle(ctx, s.current(), s.wait); err != nil {
		return err
	}
	if err := s.starts(t, s.isolation, true); err != nil {
		return err
	}
	_, err := s.readLocks(t.db, s.isolation, true, h).take(ctx, t, s.current(), &tsql.ScanRequest{})
	return err
}
