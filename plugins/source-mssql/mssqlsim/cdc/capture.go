package cdc

import (
	"encoding/binary"
	"fmt"
	"sort"
	"time"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// Entry is a row of cdc.lsn_time_mapping: a commit that was captured, or an idle entry.
type Entry struct {
	LSN   LSN
	Begin int64 // ticks of the server's local clock, on the ticks of datetime
	End   int64
	Tran  string // tran_id: idleTran for idle entries
	value sqltype.Value
}

// record is a record of the log that capture has still to read.
type record struct {
	lsn   LSN
	entry *Entry // nil for DDL
	ops   []op
	pairs bool
	at    time.Time
	ddl   *ddlRecord
}

// lsnStep is the distance of commits that do not need more room for their changes.
const lsnStep = 16

// nextLSN gives an LSN above all others, with room for n changes. The lock is held.
func (db *Database) nextLSN(n int) LSN {
	l := db.last.Add(lsnStep)
	db.last = l.Add(int64(max(n-lsnStep+1, 0)))
	return l
}

// takeLSN takes a given LSN.
func (db *Database) takeLSN(l LSN) error {
	if !db.last.Less(l) {
		return fmt.Errorf("the LSN %s is not above %s, the newest of database %s", l, db.last, db.Name)
	}
	db.last = l
	return nil
}

// tranID gives a tran_id.
func (db *Database) tranID() string {
	db.tran++
	return string(binary.BigEndian.AppendUint64(nil, db.tran)[2:])
}

// log writes a transaction's record. Only tables that are captured at the commit are of interest. The lock is held.
func (db *Database) log(tx *Tx) (LSN, error) {
	var ops []op
	n := 0
	for _, o := range tx.ops {
		if len(o.table.inst) == 0 || o.versions {
			continue
		}
		if o.n == 0 {
			o.n = n + 1
		}
		n = o.n
		if o.old != nil && o.new != nil { // two log records
			n++
		}
		ops = append(ops, o)
	}
	if len(ops) == 0 && len(tx.ddl) == 0 && tx.lsn.IsZero() {
		return LSN{}, nil
	}
	now := tx.time
	if now.IsZero() {
		now = db.srv.clock.Now()
	}
	lsn := tx.lsn
	if lsn.IsZero() {
		lsn = db.nextLSN(n)
	} else if err := db.takeLSN(lsn); err != nil {
		return LSN{}, err
	}
	for _, d := range tx.ddl {
		db.keepQueue(append(db.queue, &record{lsn: lsn, at: now, ddl: d}))
	}
	if len(ops) == 0 && tx.lsn.IsZero() { // DDL alone has no entry
		db.advance()
		return lsn, nil
	}
	began := tx.began
	if !tx.time.IsZero() {
		began = now
	}
	e := &Entry{LSN: lsn, Begin: sqltype.DateTimeTicks(db.srv.local(began)), End: sqltype.DateTimeTicks(db.srv.local(now)), Tran: db.tranID(), value: lsn.Value()}
	if e.Begin > e.End {
		e.Begin = e.End
	}
	db.keepQueue(append(db.queue, &record{lsn: lsn, entry: e, ops: ops, pairs: tx.pairs, at: now}))
	db.advance()
	if db.srv.polls && db.capture != nil && db.capture.active != nil && db.capture.active.polling == 0 {
		db.capture.next = now
		db.srv.poke()
	}
	return lsn, nil
}

// Idle makes capture write an entry without changes, as it does every five minutes when nothing happens (verified on
// SQL Server 2022; not documented).
func (db *Database) Idle() LSN {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.idle(db.nextLSN(0), db.srv.clock.Now())
}

// IdleAt is Idle with the entry's LSN and time given.
func (db *Database) IdleAt(lsn LSN, at time.Time) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if err := db.takeLSN(lsn); err != nil {
		return err
	}
	db.idle(lsn, at)
	return nil
}

func (db *Database) idle(lsn LSN, now time.Time) LSN {
	db.keepQueue(append(db.queue, db.idleRecord(lsn, now)))
	db.advance()
	return lsn
}

func (db *Database) idleRecord(lsn LSN, now time.Time) *record {
	end := sqltype.DateTimeTicks(db.srv.local(now))
	return &record{lsn: lsn, entry: &Entry{LSN: lsn, Begin: end, End: end, Tran: idleTran, value: lsn.Value()}, at: now}
}

// Freeze stops the capture process: commits wait in the log.
func (db *Database) Freeze() {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.advance()
	db.frozen = true
}

// Resume starts the capture process again; it catches up at once, as far as its lag allows.
func (db *Database) Resume() {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.frozen = false
	db.advance()
}

// SetLag makes commits reach the change tables that much later, by the server's clock.
func (db *Database) SetLag(d time.Duration) {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.lag = d
	db.advance()
}

// maxLSN is sys.fn_cdc_get_max_lsn; ok is false when capture has never written.
func (db *Database) maxLSN() (LSN, bool) {
	if len(db.mapping) == 0 {
		return LSN{}, false
	}
	return db.mapping[len(db.mapping)-1].LSN, true
}

// MaxLSN gives the last LSN capture has processed; the zero LSN when it never wrote.
func (db *Database) MaxLSN() LSN {
	db.catchUp()
	db.mu.RLock()
	defer db.mu.RUnlock()
	l, _ := db.maxLSN()
	return l
}

// Restore sets the database back to another past: its LSNs start again from lsn and entries above it are gone, as
// after a restore of an older backup in place; capture instances and DDL history of later are gone. Its name and
// identity stay. Tables keep their rows and columns; the caller changes them as the older backup had them.
func (db *Database) Restore(lsn LSN) {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.last = lsn
	db.keepQueue(nil)
	keep := db.mapping[:0:0]
	for _, e := range db.mapping {
		if !lsn.Less(e.LSN) {
			keep = append(keep, e)
		}
	}
	db.mapping = keep
	for _, t := range db.tables {
		var instances []*Instance
		for _, in := range t.inst {
			if lsn.Less(in.created) {
				continue
			}
			in.rows = in.rows[:in.after(lsn):in.after(lsn)]
			n := sort.Search(len(in.ddl), func(i int) bool { return lsn.Less(in.ddl[i].lsn) })
			in.ddl = in.ddl[:n:n]
			instances = append(instances, in)
		}
		t.inst = instances
	}
}

// Replace gives the database another identity, as when another one was restored under its name.
func (db *Database) Replace() {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.setGUID()
}

// JoinGroup makes the database one of an availability group, under the id that all its replicas have.
func (db *Database) JoinGroup(id [16]byte) { db.group.Store(&id) }

// BeSecondary makes the database a readable secondary, or a primary again. That shows in its Updateability (Microsoft:
// DATABASEPROPERTYEX (Transact-SQL)); what a redo of the primary's log would write still may be written.
func (db *Database) BeSecondary(on bool) { db.secondary.Store(on) }

// LeaveGroup makes it a database of no group again.
func (db *Database) LeaveGroup() { db.group.Store(nil) }
