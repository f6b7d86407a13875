package cdc

import (
	"fmt"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// Temporary tables are kept among the tables of the database in which they were made, under a name that only their
// session can say, as tempdb does it (Microsoft: CREATE TABLE (Transact-SQL), Temporary tables): the name, underscores
// up to 116 characters, and a number.

// tempdb is the database that temporary tables are in for who names it.
const tempdb = "tempdb"

// model is the database whose options new databases have (Microsoft: model database).
const model = "model"

// isTemporary tells whether a table's name, written or kept, is that of a temporary one.
func isTemporary(name string) bool { return strings.HasPrefix(name, "#") }

// maxTemporaryName is the length of the name of a temporary table (Microsoft: CREATE TABLE (Transact-SQL), table_name).
const maxTemporaryName = 116

// temporary gives the name under which the session keeps a temporary table.
func (s *Session) temporary(name string) tsql.Name {
	if s.number == 0 {
		s.number = s.srv.temporaries.Add(1)
	}
	return tsql.Name{Schema: "dbo", Object: fmt.Sprintf("%s%s%012X", name, strings.Repeat("_", max(0, maxTemporaryName-len(name))), s.number)}
}

// createTemporary makes a temporary table, which every login may.
func (s *Session) createTemporary(def tsql.TableDef) error {
	name := def.Name.Object
	switch {
	case strings.HasPrefix(name, "##"):
		return sqltype.Unsupported("a global temporary table")
	case len([]rune(name)) > maxTemporaryName:
		return sqltype.Errorf(193, "The object or column name starting with '%s' is too long. The maximum length is 116 characters.", name)
	}
	if err := s.elsewhere(name); err != nil {
		return err
	}
	def.Name = s.temporary(name)
	if err := s.db.CreateTable(def); err != nil {
		if e, ok := err.(*sqltype.Error); ok && e.Number == 2714 {
			return sqltype.Errorf(2714, "There is already an object named '%s' in the database.", name)
		}
		return err
	}
	s.temporaries = append(s.temporaries, s.db)
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	if t := s.db.table(def.Name.Schema, def.Name.Object); t != nil {
		t.ID = -s.srv.temporaryID.Add(1) // in one catalog with those of all databases
	}
	return nil
}

// owns tells whether a temporary table is the session's.
func (s *Session) owns(t *Table) bool {
	return s.number > 0 && isTemporary(t.Name) && strings.HasSuffix(t.Name, fmt.Sprintf("%012X", s.number))
}

// elsewhere refuses a temporary table of the session that was made in another database: it is kept there, where a server has it
// in tempdb.
func (s *Session) elsewhere(name string) error {
	kept := s.temporary(name).Object
	for _, db := range s.temporaries {
		if db == s.db {
			continue
		}
		db.mu.RLock()
		t := db.table("dbo", kept)
		db.mu.RUnlock()
		if t != nil {
			return sqltype.Unsupported("the temporary table %s in another database than %s, where it was made", name, db.Name)
		}
	}
	return nil
}

// temporaryIn tells whether a database shows a table as a temporary one.
func (s *Session) temporaryIn(db *Database, t *Table) bool { return db.Name == tempdb && s.owns(t) }

// ownTemporaries lists the temporary tables of the session that are kept elsewhere than in tempdb. Nobody else changes them.
func (s *Session) ownTemporaries() (out []*Table) {
	seen := map[*Database]bool{}
	for _, db := range s.temporaries {
		if seen[db] || db.Name == tempdb {
			continue
		}
		seen[db] = true
		db.mu.RLock()
		for _, t := range db.tables {
			if s.owns(t) {
				out = append(out, t)
			}
		}
		db.mu.RUnlock()
	}
	return out
}

// dropTemporaries removes the temporary tables of the session, which is over or begins anew.
func (s *Session) dropTemporaries() {
	for _, db := range s.temporaries {
		db.mu.Lock()
		kept := make([]*Table, 0, len(db.tables))
		for _, t := range db.tables {
			if !s.owns(t) {
				kept = append(kept, t)
			}
		}
		db.tables = kept
		db.mu.Unlock()
	}
	s.temporaries = nil
}
