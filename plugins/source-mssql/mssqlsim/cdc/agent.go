package cdc

import (
	"context"
	"time"
)

// AgentState is what SQL Server Agent does.
type AgentState int32

// The states. The numbers are those of status in sys.dm_server_services.
const (
	AgentStopped  AgentState = 1 // jobs can be made and do not run
	AgentStarting AgentState = 2 // jobs cannot be made: error 14258 (verified on SQL Server 2022)
	AgentRunning  AgentState = 4
)

// agentSession is the session id under which the capture job scans the log; clients have other ones.
const agentSession = 50

// idleInterval is the time after which capture writes an entry although nothing was committed (verified on SQL Server
// 2022; not documented).
const idleInterval = 5 * time.Minute

// retryInterval is the time after which a capture job that failed tries again.
const retryInterval = time.Minute

// cleanupHour is when the cleanup job runs, each day by the server's clock (Microsoft: About change data capture).
const cleanupHour = 2

// Agent gives the state of SQL Server Agent.
func (s *Server) Agent() AgentState { return AgentState(s.agent.Load()) }

// SetAgent starts or stops SQL Server Agent. While it is not running no job does, so that commits wait in the log.
func (s *Server) SetAgent(state AgentState) {
	s.agent.Store(int32(state))
	s.poke()
	for _, db := range s.databases() {
		db.catchUp()
	}
}

// poke tells whoever serves the jobs that one may be due.
func (s *Server) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// RunJobs runs the capture and cleanup jobs of all databases that are due by the server's clock. It gives the time at
// which the next one will be; the zero time when none will.
func (s *Server) RunJobs() (next time.Time) {
	for _, db := range s.databases() {
		if at := db.runJobs(s.clock.Now()); !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}

// RunJobs runs the jobs of this database that are due: see Server.RunJobs.
func (db *Database) RunJobs() (next time.Time) { return db.runJobs(db.srv.clock.Now()) }

// ServeJobs runs jobs whenever they are due, until the context ends. The server's clock must be the machine's: it
// waits by that one.
func (s *Server) ServeJobs(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-s.wake:
		}
		wait := time.Hour
		if next := s.RunJobs(); !next.IsZero() {
			wait = max(next.Sub(s.clock.Now()), 0)
		}
		timer.Reset(wait)
	}
}

// runJobs runs the jobs of one database that are due, and tells when the next one will be.
func (db *Database) runJobs(now time.Time) (next time.Time) {
	if db.srv.Agent() != AgentRunning {
		return next
	}
	db.mu.Lock()
	if j := db.capture; j != nil && j.active != nil {
		if !now.Before(j.next) {
			db.poll(now)
		}
		if j.active != nil {
			next = j.next
		}
	}
	clean := false
	if j := db.cleanup; j != nil && !j.next.IsZero() {
		if clean = !now.Before(j.next) && j.active == nil; clean {
			db.started(j, "sa")
			db.scheduleCleanup()
		}
		if next.IsZero() || j.next.Before(next) {
			next = j.next
		}
	}
	db.mu.Unlock()
	if clean {
		db.runCleanup()
	}
	return next
}

// poll is one round of the capture job: scans until the log is drained or maxscans is reached, an idle entry when
// there is nothing for long, then the wait of pollinginterval, or the job's end when it does not run continuously
// (Microsoft: Administer and monitor change data capture). The lock is held.
func (db *Database) poll(now time.Time) {
	j := db.capture
	n, drained := db.drain(j.active.maxTrans, j.active.maxScans)
	if n == 0 && drained && !db.frozen && !now.Before(db.lastEntry.Add(idleInterval)) {
		db.keepQueue(append(db.queue, db.idleRecord(db.nextLSN(0), now)))
		db.scan(1)
	}
	if !j.active.continuous {
		db.stopCapture()
		return
	}
	j.next = now.Add(time.Duration(j.active.polling) * time.Second)
	if j.active.polling == 0 { // there is no wait while there is something to do
		j.next = now.Add(idleInterval)
		if !drained {
			j.next = now
		}
	}
}

// drain scans up to scans times, up to trans transactions at a time. It gives the number of transactions, and whether
// none is left that could be scanned now. The lock is held.
func (db *Database) drain(trans, scans int64) (n int64, drained bool) {
	for range scans {
		k, ok := db.scan(trans)
		n += k
		if !ok || k < trans {
			return n, true
		}
	}
	return n, !db.ready()
}

// scheduleCleanup sets the cleanup job's next run. The lock is held.
func (db *Database) scheduleCleanup() {
	local := db.srv.clock.Now().In(db.srv.location)
	at := time.Date(local.Year(), local.Month(), local.Day(), cleanupHour, 0, 0, 0, db.srv.location)
	if !at.After(local) {
		at = time.Date(local.Year(), local.Month(), local.Day()+1, cleanupHour, 0, 0, 0, db.srv.location)
	}
	db.cleanup.next = at.UTC()
}
