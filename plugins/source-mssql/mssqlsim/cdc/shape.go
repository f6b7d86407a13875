package cdc

import (
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// shapeProcedures are the procedures that change the shape of a database.
var shapeProcedures = map[string]procedure{"sp_rename": {renameParams, func(s *Session, db *Database, a args) (*tsql.Rows, error) {
	var rows *tsql.Rows
	err := s.reshape(tsql.Name{Database: db.Name}, func(db *Database) *Table { return db.renamed(a) }, func() (err error) {
		rows, err = rename(s, db, a)
		return err
	})
	return rows, err
}}}

// CreateTable makes a table.
func (s *Session) CreateTable(def tsql.TableDef) error {
	return s.reshape(def.Name, none, func() error { return s.createTable(def) })
}

func (s *Session) createTable(def tsql.TableDef) error {
	if isTemporary(def.Name.Object) {
		return s.createTemporary(def)
	}
	db, err := s.at(def.Name)
	if err != nil {
		return err
	}
	if def.Name.Schema == "" {
		def.Name.Schema = s.defaultSchema(db)
	}
	if !s.can(db, "CREATE TABLE", wholeDatabase) {
		return missing("CREATE TABLE", db.Name)
	}
	if !s.can(db, "ALTER", ofSchema(def.Name.Schema)) {
		return noSchema(def.Name.Schema)
	}
	if err := s.references(db, def.ForeignKeys, def.Name); err != nil {
		return err
	}
	return db.CreateTable(def)
}

// AlterTable changes a table.
func (s *Session) AlterTable(n tsql.Name, a tsql.Alter, sql string) error {
	find := s.called(n)
	others := func(db *Database) []*Table { return s.heldAgainst(db, find(db), a) }
	return s.reshapeAny(n, find, others, true, func() error { return s.alterTable(n, a, sql) })
}

func (s *Session) alterTable(n tsql.Name, a tsql.Alter, sql string) error {
	db, n, ok, err := s.altering(n)
	if err != nil {
		return err
	}
	if !ok {
		return sqltype.Errorf(4902, "Cannot find the object \"%s\" because it does not exist or you do not have permissions.", n)
	}
	if err := s.references(db, a.ForeignKeys, n); err != nil {
		return err
	}
	return db.alter(s.tx, n.Schema+"."+n.Object, a, sql, LSN{})
}

// altering finds the table that a statement changes, with its whole name; ok tells whether the session may.
func (s *Session) altering(n tsql.Name) (db *Database, full tsql.Name, ok bool, err error) {
	if db, err = s.at(n); err != nil {
		return nil, n, false, err
	}
	db.mu.RLock()
	defer db.mu.RUnlock()
	t := s.tableNamed(db, n)
	if t == nil {
		return db, n, false, nil
	}
	o := t.object()
	return db, tsql.Name{Schema: t.Schema, Object: t.Name}, s.can(db, "ALTER", o.securable()), nil
}

// tableNamed finds the table of a name; one without a schema is looked for in that of the user, then in dbo.
func (s *Session) tableNamed(db *Database, n tsql.Name) *Table {
	if isTemporary(n.Object) {
		return s.temporary(db, n.Object)
	}
	if n.Schema != "" {
		return db.table(n.Schema, n.Object)
	}
	if t := db.table(s.defaultSchema(db), n.Object); t != nil {
		return t
	}
	return db.table("dbo", n.Object)
}

// DropTable removes a table.
func (s *Session) DropTable(n tsql.Name, ifExists bool) error {
	return s.reshape(n, s.called(n), func() error { return s.dropTable(n, ifExists) })
}

func (s *Session) dropTable(n tsql.Name, ifExists bool) error {
	db, full, ok, err := s.altering(n)
	switch {
	case err != nil:
		return err
	case ok:
		return db.DropTable(full.Schema + "." + full.Object)
	case ifExists && full.Schema == "":
		return nil
	case ifExists:
		db.mu.RLock()
		defer db.mu.RUnlock()
		if s.tableNamed(db, n) == nil {
			return nil
		}
	}
	return sqltype.Errorf(3701, "Cannot drop the table '%s', because it does not exist or you do not have permission.", n)
}

// Truncate empties a table that is not captured.
func (s *Session) Truncate(n tsql.Name) error {
	return s.reshape(n, s.called(n), func() error { return s.truncate(n) })
}

func (s *Session) truncate(n tsql.Name) error {
	db, n, ok, err := s.altering(n)
	if err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	t := db.table(n.Schema, n.Object)
	if t == nil || !ok {
		return sqltype.Errorf(4701, "Cannot find the object \"%s\" because it does not exist or you do not have permissions.", n.Object)
	}
	if len(t.inst) > 0 {
		return sqltype.Errorf(4711, "Cannot truncate table '%s' because it is published for replication or enabled for Change Data Capture.", n.Object)
	}
	if _, k := t.referenced(true); k != nil {
		return sqltype.Errorf(4712, "Cannot truncate table '%s' because it is being referenced by a FOREIGN KEY constraint.", n.Object)
	}
	if len(t.writers(nil)) > 0 {
		return errLockTimeout
	}
	t.rows, t.identity.used = t.newRows(), false // the identity starts over (Microsoft: TRUNCATE TABLE (Transact-SQL))
	return nil
}

// shaped finds the table of a statement about its indexes, with the lock held.
func (db *Database) shaped(n tsql.Name, ok bool) (*Table, error) {
	t := db.table(n.Schema, n.Object)
	if t == nil || !ok {
		return nil, sqltype.Errorf(1088, "Cannot find the object \"%s\" because it does not exist or you do not have permissions.", n)
	}
	if len(t.writers(nil)) > 0 {
		return nil, errLockTimeout
	}
	return t, nil
}

// CreateIndex is CREATE INDEX.
func (s *Session) CreateIndex(n tsql.Name, def tsql.IndexDef) error {
	return s.reshapeAny(n, s.called(n), noOthers, true, func() error { return s.createIndex(n, def) })
}

func (s *Session) createIndex(n tsql.Name, def tsql.IndexDef) error {
	db, n, ok, err := s.altering(n)
	if err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	t, err := db.shaped(n, ok)
	if err != nil {
		return err
	}
	return t.addIndex(def)
}

// DropIndex is DROP INDEX, which does not drop those of constraints.
func (s *Session) DropIndex(n tsql.Name, name string, ifExists bool) error {
	return s.reshapeAny(n, s.called(n), noOthers, true, func() error { return s.dropIndex(n, name, ifExists) })
}

func (s *Session) dropIndex(n tsql.Name, name string, ifExists bool) error {
	db, n, ok, err := s.altering(n)
	if err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	t, err := db.shaped(n, ok)
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
	case t.referencedBy(x.name) != nil:
		return sqltype.Errorf(3723, "An explicit DROP INDEX is not allowed on index '%s.%s'. It is being used for FOREIGN KEY constraint enforcement.", n, x.name)
	case t.captures(x.name):
		return sqltype.Errorf(3724, "Cannot drop the index '%s' because it is being used for replication.", x.name)
	}
	return t.dropIndex(x)
}
