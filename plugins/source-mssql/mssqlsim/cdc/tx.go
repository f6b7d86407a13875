package cdc

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// Tx is a transaction of one database. Its rows are its own until it commits; then they become one commit of the log.
type Tx struct {
	db      *Database
	home    atomic.Int64 // database_id of db, for others who list transactions: db may be read by the transaction's session alone
	id      int64        // transaction_id
	first   atomic.Int64 // ticks of its first record in the log, 0 before
	session int16        // the session whose transaction it is, 0 when it is none's
	name    string
	began   time.Time
	ops     []op
	own     map[*Table]*version
	locks   []rowLock
	kept    []*Table // of which it keeps what it has read, each once
	reads   int      // ranges that it has kept so far
	saved   []savepoint
	// blockers are the transactions this one waits for, and doomed is closed when it is a deadlock's victim: see waitGraph
	blockers []*Tx
	doomed   chan struct{}
	priority int8   // DEADLOCK_PRIORITY
	verb     string // of the statement that writes, as messages name it; "" is that of its changes
	// pairs makes updates of a key one pair of operations 3 and 4; a server writes 1 and 2.
	pairs bool
	// at holds the commit's LSN and time when they are given, as in a replay
	lsn  LSN
	time time.Time
	// snapshot holds the versions that the running statement of a SNAPSHOT transaction sees, versions those of all its
	// statements that SNAPSHOT isolation runs; shapes is the database's count of changes of shape when they were taken
	snapshot, versions map[*Table]*tree
	latest             map[*Table]*latest // see now
	shapes             int64
	started            bool         // it has accessed data
	ddl                []*ddlRecord // changes of the shape of captured tables
	// undone are how to undo changes of shape
	undone []func()
	done   bool
	// open tells that a session has begun it: it keeps its database in use, wherever the session is meanwhile
	open bool
}

// op is one change of the log. n is its number in the transaction: its __$seqval is the commit's LSN plus n.
type op struct {
	table    *Table
	old, new sqltype.Row // stored form
	n        int
	moved    bool // a deferred update
	versions bool // a new version of a row that stays as it is, which is not logged
}

// version is a transaction's own version of a table: base with the transaction's changes.
type version struct {
	base *tree
	rows *tree
}

type rowLock struct {
	table *Table
	key   string
}

// errStale tells that a row changed between a statement's scan and its write; the statement is run again.
var errStale = tsql.ErrStale

func (db *Database) begin() *Tx {
	tx := &Tx{db: db, id: db.srv.transactions.Add(1), began: db.srv.clock.Now(), own: map[*Table]*version{}}
	tx.home.Store(int64(db.ID))
	return tx
}

// rows gives the version of a table the transaction sees. The database's lock is held.
func (tx *Tx) rows(t *Table) *tree {
	if tx == nil {
		return t.rows
	}
	if tx.snapshot != nil {
		if v := tx.own[t]; v != nil {
			return v.rows
		}
		if r := tx.snapshot[t]; r != nil {
			return r
		}
		return t.rows
	}
	v := tx.own[t]
	if v == nil {
		return t.rows
	}
	if v.base != t.rows { // others have committed
		tx.rebase(t, v)
	}
	return v.rows
}

func (tx *Tx) rebase(t *Table, v *version) {
	if v.base = tx.snapshot[t]; v.base == nil {
		v.base = t.rows
	}
	v.rows = v.base.clone()
	for _, o := range tx.ops {
		if o.table == t {
			apply(v.rows, o)
		}
	}
}

func apply(rows *tree, o op) {
	if o.old != nil && (o.new == nil || rows.cmp(o.old, o.new) != 0) {
		rows.delete(o.old)
	}
	if o.new != nil {
		rows.set(o.new)
	}
}

// mine gives the transaction's own version of a table.
func (tx *Tx) mine(t *Table) *tree {
	rows := tx.rows(t)
	if v := tx.own[t]; v != nil {
		return v.rows
	}
	v := &version{base: rows, rows: rows.clone()}
	tx.own[t] = v
	return v.rows
}

// write does the changes of one statement, which are of a version of the table's shape, and what foreign keys make of them, all or
// nothing. They go into no table of which another transaction may put back the rows that it had.
func (tx *Tx) write(ctx context.Context, t *Table, version int64, changes []tsql.Change, wait lockWait) error {
	tx.db.mu.Lock()
	defer tx.db.mu.Unlock()
	waited, err := tx.db.settle(ctx, tx, wait)
	if err != nil {
		return err
	}
	if t.shaped != version || waited && !slices.Contains(tx.db.tables, t) {
		return errStale
	}
	before := len(tx.ops)
	ops, err := tx.change(ctx, t, changes, wait)
	if err == nil {
		err = tx.follow(ctx, changed{t, ops}, wait)
	}
	if err != nil && len(tx.ops) > before {
		tx.cut(before)
	}
	return err
}

// change does changes of one table, all or nothing, and gives them. The database's lock is held.
func (tx *Tx) change(ctx context.Context, t *Table, changes []tsql.Change, wait lockWait) ([]op, error) {
	db, shaped := tx.db, t.shaped
	written := make([]op, 0, len(changes))
	stay := 0
	for _, c := range changes {
		o := op{table: t}
		if c.Old != nil {
			o.old = t.stored(c.Old, c.ID.Int())
		}
		if c.New != nil {
			num := c.ID.Int()
			if c.Old == nil && t.key == nil {
				t.rowNum++
				num = t.rowNum
			}
			if err := t.fill(c.New, c.Old == nil, tx.verb); err != nil {
				return nil, err
			}
			o.new = t.stored(c.New, num)
		}
		if o.stays() {
			stay++
		}
		written = append(written, o)
	}
	unique := len(t.sideIndexes()) > 0
	for _, o := range written {
		if len(t.kept) > 0 {
			if err := db.await(ctx, tx, wait, lockExclusive, func() []*Tx { return t.readers(tx, o) }); err != nil {
				return nil, err
			}
		}
		for _, row := range []sqltype.Row{o.old, o.new} {
			if row == nil {
				continue
			}
			if t.key != nil || o.old != nil || len(t.foreign) > 0 {
				if err := tx.lock(ctx, t, t.lockKey(row), wait); err != nil {
					return nil, err
				}
			}
			if !unique {
				continue
			}
			for _, key := range t.lockKeys(row) {
				if err := tx.lock(ctx, t, key, wait); err != nil {
					return nil, err
				}
			}
		}
	}
	if t.shaped != shaped || len(db.shapers(tx)) > 0 { // while a lock was waited for
		return nil, errStale
	}
	rows := tx.mine(t)
	for _, o := range written {
		if err := tx.conflict(t, o); err != nil {
			return nil, err
		}
		if o.old == nil {
			continue
		}
		if cur := rows.get(o.old); cur == nil || !sameRow(cur, o.old) {
			return nil, errStale
		}
	}
	ops, versions := written, []op(nil)
	if stay > 0 { // a row that stays as it is is locked, and nothing is logged for it; with row versions it has another one
		ops = make([]op, 0, len(written)-stay)
		for _, o := range written {
			switch {
			case !o.stays():
				ops = append(ops, o)
			case db.snapshots.Load() != snapshotsOff || db.rcsi.Load():
				o.versions = true
				versions = append(versions, o)
			}
		}
	}
	if err := place(t, rows, ops); err != nil {
		tx.rebase(t, tx.own[t]) // without the changes
		return nil, err
	}
	for _, o := range versions {
		apply(rows, o)
	}
	logged := t.collapse(ops)
	for i, o := range logged {
		logged[i].moved = o.old != nil && o.new != nil && t.moved(o.old, o.new)
	}
	tx.ops = append(append(tx.ops, logged...), versions...)
	if len(logged) > 0 {
		db.active[tx] = true // rows of a table without a key are not locked
		if tx.first.Load() == 0 {
			tx.first.Store(db.srv.stamp())
		}
	}
	db.srv.moves.Add(1)
	return ops, nil
}

// stays tells an update that leaves its row as it is.
func (o op) stays() bool { return o.old != nil && o.new != nil && sameRow(o.old, o.new) }

// place puts the changes into the transaction's version: first all old rows go, so that keys may move among them.
func place(t *Table, rows *tree, ops []op) error {
	moves := false
	for _, o := range ops {
		moves = moves || o.old != nil && o.new != nil && rows.moved(o.old, o.new)
	}
	if moves {
		for _, o := range ops {
			if o.old != nil {
				rows.delete(o.old)
			}
		}
	}
	for _, o := range ops {
		if o.new == nil {
			rows.delete(o.old)
			continue
		}
		if rows.sides != nil {
			if was := rows.get(o.new); was != nil && (o.old == nil || moves) {
				return t.duplicate(t.primary(), o.new)
			}
			for i, s := range rows.sides {
				if was := s.get(o.new); was != nil && rows.cmp(was, o.new) != 0 {
					return t.duplicate(t.sideIndexes()[i], o.new)
				}
			}
		}
		if was := rows.set(o.new); was != nil && (o.old == nil || moves) {
			return t.duplicate(t.primary(), o.new)
		}
	}
	return nil
}

// moved tells whether a row gets another place in one of the orders.
func (t *tree) moved(old, new sqltype.Row) bool {
	if t.cmp(old, new) != 0 {
		return true
	}
	for _, s := range t.sides {
		if s.cmp(old, new) != 0 {
			return true
		}
	}
	return false
}

func sameRow(a, b sqltype.Row) bool {
	for i := range max(len(a), len(b)) {
		if !at(a, i).Same(at(b, i)) {
			return false
		}
	}
	return true
}

// lockWait is how long a statement waits for locks; negative is for ever.
type lockWait time.Duration

// lock takes the lock of a row. The database's lock is held, and given back while waiting.
func (tx *Tx) lock(ctx context.Context, t *Table, key string, wait lockWait) error {
	if err := tx.db.await(ctx, tx, wait, lockExclusive, func() []*Tx { return t.holder(key, tx) }); err != nil {
		return err
	}
	if t.locks[key] != tx {
		t.locks[key] = tx
		tx.locks = append(tx.locks, rowLock{t, key})
		tx.db.active[tx] = true
	}
	return nil
}

// errLockTimeout is what SQL Server answers when LOCK_TIMEOUT has passed.
var errLockTimeout = &sqltype.Error{Number: 1222, State: 51, Class: 16, Message: "Lock request time out period exceeded."}

// holder gives the other transaction that has a row locked, none when there is none.
func (t *Table) holder(key string, tx *Tx) []*Tx {
	if o := t.locks[key]; o != nil && o != tx {
		return []*Tx{o}
	}
	return nil
}

// await waits for a lock of a mode until no transaction is in its way; holders gives all that are. The database's lock is held on
// entry and on return.
func (db *Database) await(ctx context.Context, tx *Tx, wait lockWait, mode lockMode, holders func() []*Tx) error {
	var timer *time.Timer
	for {
		blockers := holders()
		switch {
		case len(blockers) == 0:
			return nil
		case wait == 0:
			return errLockTimeout
		}
		doomed, err := db.srv.waiting.enter(tx, blockers)
		if err != nil {
			return err
		}
		var expired <-chan time.Time
		if wait > 0 {
			if timer == nil {
				timer = time.NewTimer(time.Duration(wait))
				defer timer.Stop()
			}
			expired = timer.C
		}
		freed := db.freed
		showBlocked(ctx, db, blockers[0], mode)
		if tx != nil {
			db.waiters[tx] = true
		}
		db.mu.Unlock()
		select {
		case <-freed:
		case <-doomed:
		case <-expired:
			err = errLockTimeout
		case <-ctx.Done():
			err = ctx.Err()
		}
		showUnblocked(ctx)
		db.mu.Lock()
		delete(db.waiters, tx)
		if !db.srv.waiting.leave(tx) {
			return errDeadlock(tx.session)
		}
		if err != nil {
			return err
		}
	}
}

// release gives all locks back and wakes those who wait. The database's lock is held.
func (tx *Tx) release() {
	if tx.open {
		tx.open = false
		tx.db.open.Add(-1)
	}
	held := len(tx.locks) > 0 || len(tx.kept) > 0
	tx.unlock(0)
	tx.unkeep(0)
	if shaped := tx.db.shaping.CompareAndSwap(tx, nil); held || shaped || tx.db.active[tx] {
		tx.db.wake()
	}
	delete(tx.db.active, tx)
	tx.locks, tx.kept, tx.done = nil, nil, true
	tx.db.srv.moves.Add(1)
}

var errTxDone = errors.New("mssqlsim: the transaction has already ended")

// rollback forgets everything.
func (tx *Tx) rollback() {
	tx.db.mu.Lock()
	defer tx.db.mu.Unlock()
	if !tx.done {
		tx.revert(0)
		tx.release()
	}
}

// undoFrom takes back the changes from the n-th on.
func (tx *Tx) undoFrom(n int) {
	tx.db.mu.Lock()
	defer tx.db.mu.Unlock()
	if len(tx.ops) > n {
		tx.cut(n)
	}
}

// cut forgets the changes from the n-th on, for which somebody may have waited. The lock is held.
func (tx *Tx) cut(n int) {
	tx.ops = tx.ops[:n]
	tx.redo()
	tx.db.wake()
	tx.db.srv.moves.Add(1)
}

// unlock gives the locks of rows back from the n-th on. The lock is held.
func (tx *Tx) unlock(n int) {
	for _, l := range tx.locks[n:] {
		delete(l.table.locks, l.key)
	}
	tx.locks = tx.locks[:n]
}

// redo makes the transaction's own versions anew, of those it sees now and its changes.
func (tx *Tx) redo() {
	tx.own, tx.latest = map[*Table]*version{}, nil
	for _, o := range tx.ops {
		apply(tx.mine(o.table), o)
	}
}

// commit publishes the transaction's rows and writes its log record.
func (tx *Tx) commit() (LSN, error) {
	db := tx.db
	db.mu.Lock()
	defer db.mu.Unlock()
	if tx.done {
		return LSN{}, errTxDone
	}
	tx.snapshot = nil
	for t, v := range tx.own {
		if v.base != t.rows {
			tx.rebase(t, v)
		}
		t.rows = v.rows
	}
	lsn, err := db.log(tx)
	tx.release()
	return lsn, err
}
