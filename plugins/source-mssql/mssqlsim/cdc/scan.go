package cdc

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// scanLimit is the number of sessions the views of scans go back (Microsoft: sys.dm_cdc_errors; the documentation of
// sys.dm_cdc_log_scan_sessions names no limit).
const scanLimit = 32

// scanHistory is what the scans of a database's log have done since the server started. Guarded by its lock.
type scanHistory struct {
	sessions []scanSession // oldest first
	total    scanSession   // of all
	errors   []scanError   // of the sessions that are kept
	last     int32         // newest session id
}

// scanSession is one scan of the log. Times are ticks of the server's local clock, 0 when there is none.
type scanSession struct {
	id                   int32
	start, end           int64
	firstLSN, lastLSN    LSN // read by the scan
	transactions         int64
	commit               LSN // last commit
	commitTime           int64
	records, commands    int64
	schemaChanges        int64
	firstCDC, lastCDC    LSN // commits with changes
	lastCDCTime          int64
	latency              int64 // seconds
	empty                int64 // sessions in a row without changes, in this row
	errors, failedBefore int64
	failed               bool
}

// scanError is an error of a session.
type scanError struct {
	session         int32
	phase           int64
	time            int64
	err             *sqltype.Error
	start, begin, n LSN
}

// phaseSchema is the phase of a scan in which columns are changed (Microsoft: sys.dm_cdc_log_scan_sessions).
const phaseSchema = 6

// ready tells whether the log has something that capture may read now. The lock is held for reading at least.
func (db *Database) ready() bool {
	if len(db.queue) == 0 || db.frozen || db.offline.Load() || db.srv.Agent() != AgentRunning {
		return false
	}
	now := db.srv.clock.Now()
	return !now.Before(db.queue[0].at.Add(db.lag)) && !now.Before(db.retry)
}

// due tells whether capture, which here comes right behind each commit, has something to do. The lock is held for
// reading at least.
func (db *Database) due() bool {
	return !db.srv.polls && !db.stopped && db.scanner == 0 && db.ready()
}

// catchUp lets capture do what its lag has allowed by now.
func (db *Database) catchUp() {
	db.mu.RLock()
	due, idle := db.due(), db.idling()
	db.mu.RUnlock()
	if due || idle {
		db.mu.Lock()
		defer db.mu.Unlock()
		if db.idling() { // still
			db.idle(db.nextLSN(0), db.srv.clock.Now())
		}
		db.advance()
	}
}

// idling tells whether capture, which here comes right behind each commit, owes an entry because nothing was committed
// for long. The lock is held for reading at least.
func (db *Database) idling() bool {
	return db.srv.idles && !db.srv.polls && db.enabled.Load() && !db.stopped && !db.frozen && db.scanner == 0 && db.srv.Agent() == AgentRunning &&
		len(db.queue) == 0 && len(db.mapping) > 0 && !db.srv.clock.Now().Before(db.lastEntry.Add(idleInterval))
}

// advance captures what is due. The lock is held.
func (db *Database) advance() {
	if db.due() {
		db.scan(math.MaxInt64)
	}
}

// scan is one scan of the log: in commit order, change rows and mapping of up to limit transactions appear at once.
// It gives their number; ok is false when it failed at a record, which stays the next one. The lock is held.
func (db *Database) scan(limit int64) (n int64, ok bool) {
	s := scanSession{start: db.localNow(), commit: db.scans.total.commit, commitTime: db.scans.total.commitTime}
	var fault error
	for n < limit && fault == nil && db.ready() {
		r := db.queue[0]
		if s.firstLSN.IsZero() {
			s.firstLSN = r.lsn
		}
		if r.ddl != nil {
			if fault = r.ddl.apply(r.lsn); fault != nil {
				db.scanFailed(&s, r, fault)
				break
			}
			s.schemaChanges++
		} else if db.enabled.Load() {
			rows := db.captureCommit(r)
			if r.entry.Tran != idleTran {
				n++
				s.transactions++
				s.records += int64(len(r.ops)) + 2 // with begin and commit
				s.commands += rows
				s.commit, s.commitTime = r.lsn, r.entry.End
				if s.firstCDC.IsZero() {
					s.firstCDC = r.lsn
				}
				s.lastCDC, s.lastCDCTime = r.lsn, r.entry.End
			}
			db.lastEntry = db.srv.clock.Now()
		}
		s.lastLSN = r.lsn
		db.keepQueue(db.queue[1:])
	}
	if len(db.queue) == 0 {
		db.keepQueue(nil)
	}
	db.scans.add(s, db.localNow())
	return n, fault == nil
}

// idleTran is the tran_id of entries without a transaction (Microsoft: cdc.lsn_time_mapping (Transact-SQL)).
const idleTran = "\x00"

// captureCommit writes the change rows of a commit and its entry. It gives the number of changes.
func (db *Database) captureCommit(r *record) (commands int64) {
	for _, o := range r.ops {
		for ordinal, in := range o.table.inst {
			if !r.lsn.Less(in.created) {
				in.capture(r, o, ordinal)
				commands++
			}
		}
	}
	db.mapping = append(db.mapping, r.entry)
	return commands
}

func (db *Database) localNow() int64 {
	return sqltype.DateTimeTicks(db.srv.local(db.srv.clock.Now()))
}

// scanFailed notes the errors of a failed scan. Capture tries again a minute later, and stays where it is.
func (db *Database) scanFailed(s *scanSession, r *record, err error) {
	db.retry = db.srv.clock.Now().Add(retryInterval)
	s.failed = true
	for _, e := range unjoin(err) {
		s.errors++
		db.scans.errors = append(db.scans.errors, scanError{session: db.scans.last + 1, phase: phaseSchema, time: db.localNow(), err: e, start: s.firstLSN, begin: r.lsn, n: r.lsn})
	}
}

// unjoin gives the server errors that an error consists of.
func unjoin(err error) (out []*sqltype.Error) {
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range j.Unwrap() {
			out = append(out, unjoin(e)...)
		}
		return out
	}
	var e *sqltype.Error
	if !errors.As(err, &e) {
		e = &sqltype.Error{Number: 22859, State: 1, Class: 16, Message: err.Error()}
	}
	return append(out, e)
}

// recover lets capture try again at once after whoever was in its way is gone. The lock is held.
func (db *Database) recover() {
	db.retry = time.Time{}
	db.advance()
}

// add notes a session that ends. Sessions in a row without changes are one row
// (Microsoft: Administer and monitor change data capture).
func (h *scanHistory) add(s scanSession, now int64) {
	s.end = now
	t := &h.total
	if h.last == 0 {
		t.start = s.start
	}
	t.end, t.firstLSN, t.lastLSN = s.end, s.firstLSN, s.lastLSN
	t.transactions += s.transactions
	t.records += s.records
	t.commands += s.commands
	t.schemaChanges += s.schemaChanges
	t.errors += s.errors
	t.commit, t.commitTime = s.commit, s.commitTime
	if s.failed {
		t.failedBefore++
	}
	empty := s.transactions == 0 && !s.failed
	if empty {
		t.empty++
	} else {
		t.empty = 0
	}
	if !s.lastCDC.IsZero() {
		if t.firstCDC.IsZero() {
			t.firstCDC = s.firstCDC
		}
		t.lastCDC, t.lastCDCTime = s.lastCDC, s.lastCDCTime
		if s.latency = (s.end - s.lastCDCTime) / sqltype.TicksPerSecond; s.latency > 0 {
			t.latency = s.latency
		}
	}
	if n := len(h.sessions); empty && n > 0 && h.sessions[n-1].empty > 0 {
		last := &h.sessions[n-1]
		last.end, last.empty, last.schemaChanges = s.end, last.empty+1, last.schemaChanges+s.schemaChanges
		return
	}
	if empty {
		s.empty = 1
	}
	h.last++
	s.id, s.failedBefore = h.last, t.failedBefore
	h.sessions = append(h.sessions, s)
	if len(h.sessions) <= scanLimit {
		return
	}
	h.sessions = append(h.sessions[:0], h.sessions[len(h.sessions)-scanLimit:]...)
	for len(h.errors) > 0 && h.errors[0].session < h.sessions[0].id {
		h.errors = h.errors[1:]
	}
}

// logText gives an LSN as the views of scans show it.
func (l LSN) logText() string {
	if l.IsZero() {
		return "00000000:00000000:0000"
	}
	return fmt.Sprintf("%08x:%08x:%04x", l[0:4], l[4:8], l[8:10])
}
