package cdc

import (
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// shapeProcedures are the procedures that change the shape of a database.
var shapeProcedures = map[string]procedure{"sp_rename": {renameParams, rename}}

// CreateTable makes a table.
func (s *Session) CreateTable(def tsql.TableDef) error {
	db, err := s.ddl(def.Name)
	if err != nil {
		return err
	}
	return db.CreateTable(def)
}

// AlterTable changes a table.
func (s *Session) AlterTable(n tsql.Name, a tsql.Alter, sql string) error {
	db, err := s.ddl(n)
	if err != nil {
		return err
	}
	return db.Alter(qualified(n), a, sql, LSN{})
}

func qualified(n tsql.Name) string {
	if n.Schema == "" {
		return "dbo." + n.Object
	}
	return n.Schema + "." + n.Object
}

// DropTable removes a table.
func (s *Session) DropTable(n tsql.Name, ifExists bool) error {
	db, err := s.ddl(n)
	if err != nil {
		return err
	}
	if err := db.DropTable(qualified(n)); err != nil && !ifExists {
		return err
	}
	return nil
}

// Truncate empties a table that is not captured.
func (s *Session) Truncate(n tsql.Name) error {
	db, err := s.ddl(n)
	if err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	t, err := db.tableNamed(qualified(n))
	if err != nil {
		return sqltype.Errorf(4701, "Cannot find the object \"%s\" because it does not exist or you do not have permissions.", n.Object)
	}
	if len(t.inst) > 0 {
		return sqltype.Errorf(4711, "Cannot truncate table '%s' because it is published for replication or enabled for Change Data Capture.", n.Object)
	}
	if len(t.locks) > 0 {
		return errLockTimeout
	}
	t.rows, t.identity.used = t.newRows(), false // the identity starts over (Microsoft: TRUNCATE TABLE (Transact-SQL))
	return nil
}

// target finds the table of a statement about its indexes, with the lock held.
func (db *Database) shaped(n tsql.Name) (*Table, error) {
	t := db.table(n.Schema, n.Object)
	if t == nil {
		return nil, sqltype.Errorf(1088, "Cannot find the object \"%s\" because it does not exist or you do not have permissions.", n)
	}
	if len(t.locks) > 0 {
		return nil, errLockTimeout
	}
	return t, nil
}

// CreateIndex is CREATE INDEX.
func (s *Session) CreateIndex(n tsql.Name, def tsql.IndexDef) error {
	db, err := s.ddl(n)
	if err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	t, err := db.shaped(n)
	if err != nil {
		return err
	}
	return t.addIndex(def)
}

// DropIndex is DROP INDEX, which does not drop those of constraints.
func (s *Session) DropIndex(n tsql.Name, name string, ifExists bool) error {
	db, err := s.ddl(n)
	if err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	t, err := db.shaped(n)
	if err != nil && !ifExists {
		return sqltype.Errorf(3701, "Cannot drop the index '%s.%s', because it does not exist or you do not have permission.", n, name)
	}
	if err != nil {
		return nil
	}
	x := t.index(name)
	switch {
	case x == nil && ifExists:
		return nil
	case x == nil:
		return sqltype.Errorf(3701, "Cannot drop the index '%s.%s', because it does not exist or you do not have permission.", n, name)
	case x.kind == tsql.PrimaryKey:
		return sqltype.Errorf(3723, "An explicit DROP INDEX is not allowed on index '%s.%s'. It is being used for PRIMARY KEY constraint enforcement.", n, x.name)
	case x.kind == tsql.UniqueConstraint:
		return sqltype.Errorf(3723, "An explicit DROP INDEX is not allowed on index '%s.%s'. It is being used for UNIQUE KEY constraint enforcement.", n, x.name)
	case t.captures(x.name):
		return sqltype.Errorf(3724, "Cannot drop the index '%s' because it is being used for replication.", x.name)
	}
	return t.dropIndex(x)
}
