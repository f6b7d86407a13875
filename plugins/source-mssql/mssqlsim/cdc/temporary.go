package cdc

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// Temporary tables are kept among the tables of the database in which they were made, under a name that nobody can say, as
// tempdb does it (Microsoft: CREATE TABLE (Transact-SQL), Temporary tables): the name, underscores up to 116 characters, and
// a number. They end with the scope that made them: a procedure, a text that is executed, or else the session.

// tempdb is the database that temporary tables are in for who names it.
const tempdb = "tempdb"

// model is the database whose options new databases have (Microsoft: model database).
const model = "model"

// isTemporary tells whether a table's name, written or kept, is that of a temporary one.
func isTemporary(name string) bool { return strings.HasPrefix(name, "#") }

// maxTemporaryName is the length of the name of a temporary table (Microsoft: CREATE TABLE (Transact-SQL), table_name).
const maxTemporaryName = 116

// temporary is a temporary table of a session.
type temporary struct {
	db    *Database
	name  string // as statements say it
	kept  string
	level int // the count of the scopes around the one that made it
}

// table finds the table as long as it is there: it may have been dropped, and be back again. The lock of its database is held.
func (k temporary) table() *Table { return k.db.table("dbo", k.kept) }

// there tells whether the table is there.
func (k temporary) there() bool {
	k.db.mu.RLock()
	defer k.db.mu.RUnlock()
	return k.table() != nil
}

// temporary finds the newest temporary table of a name in a database, whose lock is held. That of the innermost scope is the
// newest.
func (s *Session) temporary(db *Database, name string) *Table {
	for _, k := range slices.Backward(s.temporaries) {
		if k.db == db && sqltype.EqualName(k.name, name) {
			if t := k.table(); t != nil {
				return t
			}
		}
	}
	return nil
}

// createTemporary makes a temporary table, which every login may. One of the same name may be there of an outer scope (Microsoft:
// CREATE TABLE (Transact-SQL), Temporary tables).
func (s *Session) createTemporary(def tsql.TableDef) error {
	name := def.Name.Object
	switch {
	case strings.HasPrefix(name, "##"):
		return sqltype.Unsupported("a global temporary table")
	case len([]rune(name)) > maxTemporaryName:
		return sqltype.Errorf(193, "The object or column name starting with '%s' is too long. The maximum length is 116 characters.", name)
	}
	if err := s.elsewhere(s.db, name); err != nil {
		return err
	}
	own := temporary{db: s.db, name: name, level: len(s.outer),
		kept: fmt.Sprintf("%s%s%012X", name, strings.Repeat("_", max(0, maxTemporaryName-len(name))), s.srv.temporaries.Add(1))}
	s.db.mu.RLock()
	taken := slices.ContainsFunc(s.temporaries, func(k temporary) bool {
		return k.level == own.level && k.db == s.db && sqltype.EqualName(k.name, name) && k.table() != nil
	})
	s.db.mu.RUnlock()
	if taken {
		return sqltype.Errorf(2714, "There is already an object named '%s' in the database.", name)
	}
	def.Name = tsql.Name{Schema: "dbo", Object: own.kept}
	if err := s.db.CreateTable(def); err != nil {
		return err
	}
	if s.tx == nil { // else it may bring back what it dropped
		s.temporaries = slices.DeleteFunc(s.temporaries, func(k temporary) bool { return !k.there() })
	}
	s.temporaries = append(s.temporaries, own)
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	if t := own.table(); t != nil {
		t.ID = -s.srv.temporaryID.Add(1) // in one catalog with those of all databases
	}
	return nil
}

// owns tells whether a temporary table is the session's.
func (s *Session) owns(t *Table) bool {
	return isTemporary(t.Name) && slices.ContainsFunc(s.temporaries, func(k temporary) bool { return k.kept == t.Name })
}

// elsewhere refuses a temporary table of the session that was made in another database than that which a statement means: it is
// kept there, where a server has it in tempdb.
func (s *Session) elsewhere(db *Database, name string) error {
	for _, k := range s.temporaries {
		if k.db == db || !sqltype.EqualName(k.name, name) {
			continue
		}
		k.db.mu.RLock()
		t := k.table()
		k.db.mu.RUnlock()
		if t != nil {
			return sqltype.Unsupported("the temporary table %s in another database than %s, where it was made", name, k.db.Name)
		}
	}
	return nil
}

// temporaryID gives the object id of a temporary table; ok tells that there is one of that name.
func (s *Session) temporaryID(name string) (id int32, ok bool) {
	for _, k := range slices.Backward(s.temporaries) {
		if !sqltype.EqualName(k.name, name) {
			continue
		}
		k.db.mu.RLock()
		t := k.table()
		if t != nil {
			id = t.ID
		}
		k.db.mu.RUnlock()
		if t != nil {
			return id, true
		}
	}
	return 0, false
}

// temporaryObject is OBJECT_ID of a temporary table: its name needs that of tempdb in front, unless the session is there
// (Microsoft: OBJECT_ID (Transact-SQL), Remarks).
func (s *Session) temporaryObject(parts []string, kind sqltype.Value) sqltype.Value {
	database := s.db.Name
	if len(parts) > 2 && parts[len(parts)-3] != "" {
		database = parts[len(parts)-3]
	}
	if !sqltype.EqualName(database, tempdb) || !kind.IsNull() && !strings.EqualFold(strings.TrimSpace(kind.Str()), "U") {
		return null
	}
	if id, ok := s.temporaryID(parts[len(parts)-1]); ok {
		return num(int64(id))
	}
	return null
}

// temporaryIn tells whether a database shows a table as a temporary one.
func (s *Session) temporaryIn(db *Database, t *Table) bool { return db.Name == tempdb && s.owns(t) }

// ownTemporaries lists the temporary tables of the session that are kept elsewhere than in tempdb. Nobody else changes them.
func (s *Session) ownTemporaries() (out []*Table) {
	for _, k := range s.temporaries {
		if k.db.Name == tempdb {
			continue
		}
		k.db.mu.RLock()
		if t := k.table(); t != nil {
			out = append(out, t)
		}
		k.db.mu.RUnlock()
	}
	return out
}

// dropTemporaries removes the temporary tables that the scopes of a level and those inside of it made: of level 0 all, of a session
// that is over or begins anew.
func (s *Session) dropTemporaries(level int) {
	for n := len(s.temporaries); n > 0 && s.temporaries[n-1].level >= level; n-- {
		k := s.temporaries[n-1]
		k.db.mu.Lock()
		k.db.tables = slices.DeleteFunc(slices.Clone(k.db.tables), func(t *Table) bool { return t.Name == k.kept })
		k.db.mu.Unlock()
		s.temporaries = s.temporaries[:n-1]
	}
}
