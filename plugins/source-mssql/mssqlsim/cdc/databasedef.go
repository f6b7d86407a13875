package cdc

import (
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// CreateDatabase is CREATE DATABASE. Unlike Server.Database it leaves row versions off, as a new database has them
// (Microsoft: ALTER DATABASE SET options, ALLOW_SNAPSHOT_ISOLATION).
func (s *Session) CreateDatabase(name string) error {
	if !s.login.Admin {
		return sqltype.Errorf(262, "CREATE DATABASE permission denied in database 'master'.")
	}
	if s.srv.Find(name) != nil || systemDatabase(name) {
		return sqltype.Errorf(1801, "Database '%s' already exists. Choose a different database name.", name)
	}
	s.srv.Database(name).AllowSnapshot(false)
	return nil
}

func systemDatabase(name string) bool {
	switch lower(name) {
	case "master", "tempdb", "model", "msdb":
		return true
	}
	return false
}

// recoveryModels are the numbers of recovery_model (Microsoft: sys.databases).
var recoveryModels = map[string]int64{"FULL": 1, "BULK_LOGGED": 2, "SIMPLE": 3}

// AlterDatabase is ALTER DATABASE ... SET; no name means the current database.
func (s *Session) AlterDatabase(name string, o tsql.DatabaseOptions) error {
	db := s.db
	if name != "" {
		db = s.srv.Find(name)
	}
	if db == nil || !s.login.Admin {
		return sqltype.Errorf(5011, "User does not have permission to alter database '%s', the database does not exist, or the database is not in a state that allows access checks.", name)
	}
	if o.AllowSnapshot != nil {
		db.AllowSnapshot(*o.AllowSnapshot)
	}
	if o.ReadCommittedSnapshot != nil {
		db.ReadCommittedSnapshot(*o.ReadCommittedSnapshot)
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
	db := s.srv.Find(name)
	switch {
	case db == nil && ifExists:
		return nil
	case db == nil || !s.login.Admin:
		return sqltype.Errorf(3701, "Cannot drop the database '%s', because it does not exist or you do not have permission.", name)
	}
	s.srv.mu.Lock()
	defer s.srv.mu.Unlock()
	if db.sessions.Load() > 0 {
		return sqltype.Errorf(3702, "Cannot drop database \"%s\" because it is currently in use.", db.Name)
	}
	delete(s.srv.dbs, strings.ToLower(name))
	return nil
}

// enter makes a database the session's current one.
func (s *Session) enter(db *Database) {
	if s.db != nil {
		s.db.sessions.Add(-1)
	}
	if s.db = db; db != nil {
		db.sessions.Add(1)
	}
}
