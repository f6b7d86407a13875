package cdc

import (
	"context"
	"slices"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// CreateDatabase is CREATE DATABASE. Unlike Server.Database it gives the database the options of model, in which row versions
// are off (Microsoft: model database).
func (s *Session) CreateDatabase(name string) error {
	if !s.serverCan("CREATE ANY DATABASE") {
		return missing("CREATE DATABASE", "master")
	}
	s.srv.mu.Lock()
	defer s.srv.mu.Unlock()
	if s.srv.dbs[lower(name)] != nil || systemDatabase(name) {
		return sqltype.Errorf(1801, "Database '%s' already exists. Choose a different database name.", name)
	}
	db, as := s.srv.add(name), s.srv.dbs[model]
	db.snapshots.Store(settled(as.snapshots.Load()))
	db.rcsi.Store(as.rcsi.Load())
	db.recovery.Store(as.recovery.Load())
	return nil
}

func systemDatabase(name string) bool {
	switch lower(name) {
	case "master", tempdb, model, msdb:
		return true
	}
	return false
}

// recoveryModels are the numbers of recovery_model (Microsoft: sys.databases).
var recoveryModels = map[string]int64{"FULL": 1, "BULK_LOGGED": 2, "SIMPLE": 3}

// AlterDatabase is ALTER DATABASE ... SET; no name means the current database.
func (s *Session) AlterDatabase(ctx context.Context, name string, o tsql.DatabaseOptions) error {
	db := s.db
	if name != "" {
		db = s.srv.Find(name)
	}
	if db == nil || !s.serverCan("ALTER ANY DATABASE") && !s.dbo(db) {
		return sqltype.Errorf(5011, "User does not have permission to alter database '%s', the database does not exist, or the database is not in a state that allows access checks.", name)
	}
	if err := s.inTurn(db); err != nil {
		return err
	}
	if o.AllowSnapshot != nil {
		if db.offline.Load() {
			return offlineAlter()
		}
		return s.changeSnapshots(ctx, db, *o.AllowSnapshot)
	}
	if o.Recovery != "" {
		db.recovery.Store(&o.Recovery)
	}
	return nil
}

// DropDatabase is DROP DATABASE.
func (s *Session) DropDatabase(name string, ifExists bool) error {
	if systemDatabase(name) {
		return sqltype.Errorf(3708, "Cannot drop the database '%s' because it is a system database.", name)
	}
	s.srv.mu.Lock()
	defer s.srv.mu.Unlock()
	db := s.srv.dbs[lower(name)]
	switch {
	case db == nil && ifExists:
		return nil
	case db == nil || !s.serverCan("ALTER ANY DATABASE") && !s.dbo(db):
		return sqltype.Errorf(3701, "Cannot drop the database '%s', because it does not exist or you do not have permission.", name)
	case db.sessions > 0 || db.open.Load() > 0 || db.restoring.Load():
		return sqltype.Errorf(3702, "Cannot drop database \"%s\" because it is currently in use.", db.Name)
	}
	delete(s.srv.dbs, lower(name))
	return nil
}

// enter makes the database of a name the session's current one. Whether there is one, and whether the login may use
// it, is found in one step with that, so that nobody drops it in between; without both the session stays where it is.
func (s *Session) enter(name string) (exists, allowed bool, closed error) {
	s.srv.mu.Lock()
	defer s.srv.mu.Unlock()
	db := s.srv.dbs[lower(name)]
	if db == nil {
		return false, false, nil
	}
	if !s.reaches(db) {
		return true, false, nil
	}
	if db == s.db {
		return true, true, nil
	}
	if err := db.closed(); err != nil && !slices.Contains(s.outer, db) {
		return true, true, err
	}
	s.quit()
	s.db = db
	if !slices.Contains(s.outer, db) {
		db.sessions++
	}
	s.moved(db.Name)
	return true, true, nil
}

// gone tells those who wait for a database to be left. The server's lock is held.
func (s *Server) gone() {
	close(s.left)
	s.left = make(chan struct{})
}

// leave gives up the current database, for good.
func (s *Session) leave() {
	s.srv.mu.Lock()
	defer s.srv.mu.Unlock()
	if s.db != nil {
		s.quit()
		s.db = nil
		s.moved("")
	}
}
