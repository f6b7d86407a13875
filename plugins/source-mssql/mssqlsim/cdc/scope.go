package cdc

import (
	"slices"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// Scope begins the scope of a procedure or of a text that is executed. With it end its temporary tables (Microsoft: CREATE TABLE
// (Transact-SQL), Temporary tables), its USE (EXECUTE (Transact-SQL), sp_executesql (Transact-SQL)) and what it set (SET
// Statements (Transact-SQL)); leave gives the name of the database that the session is in again, "" when it was in no other.
func (s *Session) Scope() (leave func() (again string)) {
	if len(s.ids.scopes) == 0 {
		s.ids.scopes = []sqltype.Value{{}}
	}
	n, insert := len(s.ids.scopes), s.ids.insert
	s.ids.scopes = append(s.ids.scopes, sqltype.Value{})
	isolation, wait, priority := s.isolation, s.wait, s.priority
	s.outer = append(s.outer, s.db)
	return func() string {
		s.dropTemporaries(len(s.outer))
		s.ids.scopes, s.ids.insert = s.ids.scopes[:n], insert
		s.isolation, s.wait = isolation, wait
		if s.priority != priority {
			s.SetDeadlockPriority(priority)
		}
		return s.backToOuter()
	}
}

// backToOuter ends the innermost scope: the session is again in the database that it was in before.
func (s *Session) backToOuter() (again string) {
	s.srv.mu.Lock()
	defer s.srv.mu.Unlock()
	last := len(s.outer) - 1
	db := s.outer[last]
	s.outer = s.outer[:last]
	if db == s.db {
		return ""
	}
	s.quit()
	s.db = db
	s.moved(db.Name)
	return db.Name
}

// quit takes the session out of the count of its current database, which it still uses when an outer scope is in it. The
// server's lock is held.
func (s *Session) quit() {
	if s.db != nil && !slices.Contains(s.outer, s.db) {
		s.db.sessions--
		s.srv.gone()
	}
}
