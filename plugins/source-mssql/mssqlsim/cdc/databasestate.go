package cdc

import (
	"context"
	"slices"
	"time"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// SetState is ALTER DATABASE ... SET OFFLINE, ONLINE, SINGLE_USER, MULTI_USER and READ_COMMITTED_SNAPSHOT (Microsoft: ALTER
// DATABASE SET options (Transact-SQL)). A database is taken from others who are in it by waiting for them, by ending their
// sessions, or not. SET LOCK_TIMEOUT does not count for the wait (Microsoft: SET Statements (Transact-SQL)).
func (s *Session) SetState(ctx context.Context, name string, state tsql.DatabaseState) error {
	db := s.db
	if name != "" {
		db = s.srv.Find(name)
	}
	if db == nil || !s.serverCan("ALTER ANY DATABASE") && !s.dbo(db) {
		return sqltype.Errorf(5011, "User does not have permission to alter database '%s', the database does not exist, or the database is not in a state that allows access checks.", name)
	}
	own := 0
	if db == s.db || slices.Contains(s.outer, db) {
		own = 1
	}
	rcsi := state.ReadCommittedSnapshot
	takes := state.Offline != nil && *state.Offline || state.SingleUser != nil && *state.SingleUser || rcsi != nil
	switch {
	case rcsi != nil && db.offline.Load():
		return offlineAlter()
	case rcsi != nil && systemDatabase(db.Name) && db.Name != model && !*rcsi:
		return sqltype.Unsupported("READ_COMMITTED_SNAPSHOT of the database %s", db.Name)
	case rcsi != nil && db.Name == model:
	case rcsi != nil && systemDatabase(db.Name):
		return notAltered(sqltype.Errorf(5058, "Option 'READ_COMMITTED_SNAPSHOT' cannot be set in database '%s'.", db.Name))
	case takes && systemDatabase(db.Name):
		option := "SINGLE_USER"
		if state.Offline != nil {
			option = "OFFLINE"
		}
		return notAltered(sqltype.Errorf(5058, "Option '%s' cannot be set in database '%s'.", option, db.Name))
	case state.Offline != nil && *state.Offline && own == 1:
		return sqltype.Unsupported("taking a database offline from inside of it")
	}
	set := func() {
		if state.Offline != nil {
			db.offline.Store(*state.Offline)
		}
		if state.SingleUser != nil {
			db.single.Store(*state.SingleUser)
		}
		if rcsi != nil {
			db.rcsi.Store(*rcsi)
		}
	}
	if err := s.inTurn(db); err != nil {
		return err
	}
	if !takes {
		set()
	} else if err := s.withSoleUse(ctx, db, own, state, set); err != nil {
		return err
	}
	db.srv.poke()
	return nil
}

// inTurn refuses an ALTER DATABASE while another one of the database waits. A server takes a lock on the database for it
// (Microsoft: Database engine events and errors, 5061).
func (s *Session) inTurn(db *Database) error {
	s.srv.mu.RLock()
	defer s.srv.mu.RUnlock()
	return db.takenBy(s)
}

// takenBy tells that another session than this one waits with an ALTER DATABASE of the database, or ALLOW_SNAPSHOT_ISOLATION is in
// transition. The server's lock is held.
func (db *Database) takenBy(s *Session) error {
	if db.claimed != nil && db.claimed != s || db.snapshots.Load() > snapshotsOn {
		return db.inUse()
	}
	return nil
}

// inUse is the error of an ALTER DATABASE beside another.
func (db *Database) inUse() error {
	return notAltered(sqltype.Errorf(5061, "ALTER DATABASE failed because a lock could not be placed on database '%s'. Try again later.", db.Name))
}

// neededBy tells whether one of those who are in a database waits itself, over however many of them, for this session to leave
// the one that it is in: then neither would ever leave. The server's lock is held.
func (s *Session) neededBy(db *Database, seen map[*Database]bool) bool {
	seen[db] = true
	for _, wanted := range s.srv.dbs {
		x := wanted.claimed
		if x == nil || x == s || x.db != db && !slices.Contains(x.outer, db) {
			continue
		}
		if wanted == s.db || slices.Contains(s.outer, wanted) || !seen[wanted] && s.neededBy(wanted, seen) {
			return true
		}
	}
	return false
}

// withSoleUse calls set when no other session is in the database, before another one can enter it.
func (s *Session) withSoleUse(ctx context.Context, db *Database, own int, state tsql.DatabaseState, set func()) error {
	var patience <-chan time.Time
	if state.After > 0 {
		timer := time.NewTimer(state.After)
		defer timer.Stop()
		patience = timer.C
	}
	defer func() {
		s.srv.mu.Lock()
		defer s.srv.mu.Unlock()
		if db.claimed == s {
			db.claimed = nil
		}
	}()
	for {
		s.srv.mu.Lock()
		others, left := db.sessions-own, s.srv.left
		var err error
		switch {
		case others <= 0:
			set()
		case state.NoWait:
			err = notAltered(sqltype.Errorf(5070, "Database state cannot be changed while other users are using the database '%s'", db.Name))
		default:
			if err = db.takenBy(s); err == nil && !state.Rollback && s.neededBy(db, map[*Database]bool{}) {
				err = notAltered(errDeadlock(s.SPID))
			}
			if err == nil {
				db.claimed = s
			}
		}
		var kill []func()
		for x, c := range s.srv.connected {
			if x != s && x.db == db && c.Kill != nil {
				kill = append(kill, c.Kill)
			}
		}
		s.srv.mu.Unlock()
		switch {
		case others <= 0 || err != nil:
			return err
		case state.Rollback && state.After <= 0:
			for _, k := range kill {
				k()
			}
		}
		select {
		case <-left:
		case <-patience:
			patience, state.After = nil, 0
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// notAltered tells that ALTER DATABASE failed, behind the reason.
func notAltered(reason *sqltype.Error) *sqltype.Error {
	failed := sqltype.Errorf(5069, "ALTER DATABASE statement failed.")
	failed.First = reason
	return failed
}

// offlineAlter is the error of an option that cannot be changed in a database that is offline.
func offlineAlter() *sqltype.Error {
	return notAltered(sqltype.Errorf(5052, "ALTER DATABASE is not permitted while a database is in the OFFLINE state."))
}

// Kill is KILL (Microsoft: KILL (Transact-SQL)).
func (s *Session) Kill(spid int64) error {
	if !s.serverCan("ALTER ANY CONNECTION") {
		return sqltype.Errorf(6102, "User does not have permission to use the KILL statement.")
	}
	if spid == int64(s.SPID) {
		return sqltype.Errorf(6104, "Cannot use KILL to kill your own process.")
	}
	s.srv.mu.RLock()
	var kill func()
	for _, c := range s.srv.connected {
		if int64(c.SPID) == spid {
			kill = c.Kill
		}
	}
	s.srv.mu.RUnlock()
	if kill == nil {
		return sqltype.Errorf(6106, "Process ID %d is not an active process ID.", spid)
	}
	kill()
	return nil
}

// offline is the error of a database that is offline.
func offline(name string) *sqltype.Error {
	e := sqltype.Errorf(942, "Database '%s' cannot be opened because it is offline.", name)
	e.Class = 14
	return e
}

// unreadable tells why nothing of a database can be read in its state, nil when it can (Microsoft: Database engine events and
// errors, 927).
func (db *Database) unreadable() error {
	switch {
	case db.restoring.Load():
		e := sqltype.Errorf(927, "Database '%s' cannot be opened. It is in the middle of a restore.", db.Name)
		e.Class = 14
		return e
	case db.offline.Load():
		return offline(db.Name)
	}
	return nil
}

// closed tells why a database cannot be entered in its state, nil when it can. The server's lock is held.
func (db *Database) closed() error {
	if err := db.unreadable(); err != nil {
		return err
	}
	if db.single.Load() && db.sessions > 0 {
		e := sqltype.Errorf(924, "Database '%s' is already open and can only have one user at a time.", db.Name)
		e.Class = 14
		return e
	}
	return nil
}
