package cdc

import (
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// CreateSchema makes a schema in the current database.
func (s *Session) CreateSchema(name, owner string) error {
	db, err := s.ddl(tsql.Name{})
	if err != nil {
		return err
	}
	if owner != "" && !sqltype.EqualName(owner, "dbo") {
		return sqltype.Unsupported("a schema of another owner than dbo")
	}
	return db.CreateSchema(name)
}

// fixedSchema tells whether a schema cannot be dropped.
func fixedSchema(name string) bool {
	switch lower(name) {
	case "dbo", "sys", "information_schema", "guest", "cdc":
		return true
	}
	return false
}

// DropSchema is DROP SCHEMA of a schema without objects.
func (s *Session) DropSchema(name string, ifExists bool) error {
	db, err := s.ddl(tsql.Name{})
	if err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if fixedSchema(name) {
		return sqltype.Errorf(15150, "Cannot drop the schema '%s'.", name)
	}
	for _, t := range db.tables {
		if sqltype.EqualName(t.Schema, name) {
			return sqltype.Errorf(3729, "Cannot drop schema '%s' because it is being referenced by object '%s'.", name, t.Name)
		}
	}
	for i, n := range db.schemas {
		if sqltype.EqualName(n, name) {
			db.schemas[i] = "" // its place is the id of the schema
			return nil
		}
	}
	if ifExists {
		return nil
	}
	return sqltype.Errorf(15151, "Cannot drop the schema '%s', because it does not exist or you do not have permission.", name)
}

// Transfer is ALTER SCHEMA ... TRANSFER. Capture instances keep their names and follow the table.
func (s *Session) Transfer(schema string, n tsql.Name) error {
	db, err := s.ddl(tsql.Name{})
	if err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	to := ""
	for _, x := range db.schemas {
		if x != "" && sqltype.EqualName(x, schema) {
			to = x
		}
	}
	if to == "" {
		return sqltype.Errorf(15151, "Cannot alter the schema '%s', because it does not exist or you do not have permission.", schema)
	}
	t := db.table(n.Schema, n.Object)
	if t == nil {
		return sqltype.Errorf(15151, "Cannot find the object '%s', because it does not exist or you do not have permission.", n.Object)
	}
	if db.table(to, t.Name) != nil {
		return sqltype.Errorf(15530, "The object with name \"%s\" already exists.", t.Name)
	}
	t.Schema = to
	return nil
}
