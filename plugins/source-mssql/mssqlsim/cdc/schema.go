package cdc

import (
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// CreateSchema makes a schema in the current database.
func (s *Session) CreateSchema(name, owner string) error {
	return s.reshape(tsql.Name{}, none, func() error { return s.createSchema(name, owner) })
}

func (s *Session) createSchema(name, owner string) error {
	db, err := s.at(tsql.Name{})
	if err != nil {
		return err
	}
	if !s.can(db, "CREATE SCHEMA", wholeDatabase) {
		e := sqltype.Errorf(2759, "CREATE SCHEMA failed due to previous errors.")
		e.First = missing("CREATE SCHEMA", db.Name)
		return e
	}
	var p *principal
	if owner != "" {
		if p = db.sec.find(func(p *principal) bool { return sqltype.EqualName(p.name, owner) }); p == nil {
			return notFound("user", owner)
		}
	}
	if err := db.CreateSchema(name); err != nil {
		return err
	}
	db.sec.own(name, p)
	return nil
}

// own makes a principal the owner of a schema that was made; nil is dbo. What was said of an older schema of that name
// is forgotten.
func (s *security) own(schema string, p *principal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.owners, lower(schema))
	if p != nil && p.id != dboID {
		s.owners[lower(schema)] = p
	}
	s.drop(func(g *permission) bool { return g.class == classSchema && sqltype.EqualName(g.schema, schema) })
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
	return s.reshape(tsql.Name{}, none, func() error { return s.dropSchema(name, ifExists) })
}

func (s *Session) dropSchema(name string, ifExists bool) error {
	db, err := s.at(tsql.Name{})
	if err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if _, ok := db.schemaID(name); ok && !s.can(db, "CONTROL", ofSchema(name)) && !s.can(db, "ALTER ANY SCHEMA", wholeDatabase) {
		return sqltype.Errorf(15151, "Cannot drop the schema '%s', because it does not exist or you do not have permission.", name)
	}
	if fixedSchema(name) && (db.enabled.Load() || !sqltype.EqualName(name, "cdc")) { // the name alone makes it no schema of capture
		return sqltype.Errorf(15150, "Cannot drop the schema '%s'.", name)
	}
	for _, t := range db.tables {
		if sqltype.EqualName(t.Schema, name) {
			return sqltype.Errorf(3729, "Cannot drop schema '%s' because it is being referenced by object '%s'.", name, t.Name)
		}
	}
	for _, r := range db.routines {
		if sqltype.EqualName(r.Name.Schema, name) {
			return sqltype.Errorf(3729, "Cannot drop schema '%s' because it is being referenced by object '%s'.", name, r.Name.Object)
		}
	}
	for i, n := range db.schemas {
		if sqltype.EqualName(n, name) {
			db.schemas[i] = "" // its place is the id of the schema
			db.sec.own(name, nil)
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
	return s.reshape(tsql.Name{}, s.called(n), func() error { return s.transfer(schema, n) })
}

func (s *Session) transfer(schema string, n tsql.Name) error {
	db, err := s.at(tsql.Name{})
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
	if to == "" || !s.can(db, "ALTER", ofSchema(to)) {
		return sqltype.Errorf(15151, "Cannot alter the schema '%s', because it does not exist or you do not have permission.", schema)
	}
	t := s.tableNamed(db, n)
	if t == nil && db.routines[routineKey(n.Schema, n.Object)] != nil {
		return sqltype.Unsupported("ALTER SCHEMA TRANSFER of a procedure")
	}
	if t == nil || !s.mayControl(t) {
		return sqltype.Errorf(15151, "Cannot find the object '%s', because it does not exist or you do not have permission.", n.Object)
	}
	if db.table(to, t.Name) != nil {
		return sqltype.Errorf(15530, "The object with name \"%s\" already exists.", t.Name)
	}
	t.Schema = to
	db.sec.mu.Lock()
	defer db.sec.mu.Unlock()
	db.sec.drop(func(g *permission) bool { return g.class == classObject && g.major == t.ID }) // as documented
	return nil
}

// mayControl tells whether the session has CONTROL on a table.
func (s *Session) mayControl(t *Table) bool {
	o := t.object()
	return s.can(t.db, "CONTROL", o.securable())
}

// mayAlter tells whether the session has ALTER on a table.
func (s *Session) mayAlter(t *Table) bool {
	o := t.object()
	return s.can(t.db, "ALTER", o.securable())
}

// ownerID gives principal_id of a schema.
func (s *security) ownerID(schema string) int32 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if p := s.owners[lower(schema)]; p != nil {
		return p.id
	}
	if lower(schema) == "sys" {
		return 4
	}
	return dboID
}
