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

// ownSchemas are the schemas that every database has beside dbo, with their ids, which are those of their owners (Microsoft:
// Ownership and user-schema separation; sys.schemas (Transact-SQL)).
var ownSchemas = func() []ownSchema {
	out := []ownSchema{{"guest", guestID}, {"INFORMATION_SCHEMA", infoSchemaID}, {"sys", sysSchemaID}}
	for _, r := range fixedRoles {
		out = append(out, ownSchema{r.name, r.id})
	}
	return out
}()

type ownSchema struct {
	name string
	id   int32
}

// ownSchemaID gives the id of such a schema, 0 of another.
func ownSchemaID(name string) int32 {
	for _, s := range ownSchemas {
		if sqltype.EqualName(s.name, name) {
			return s.id
		}
	}
	return 0
}

func (db *Database) allSchemas() []string {
	var out []string
	for _, n := range db.schemas {
		if n != "" { // one that was dropped
			out = append(out, n)
		}
	}
	for _, s := range ownSchemas {
		out = append(out, s.name)
	}
	if db.enabled.Load() {
		out = append(out, "cdc")
	}
	return out
}

func (db *Database) schemaID(name string) (int32, bool) {
	if id := ownSchemaID(name); id != 0 {
		return id, true
	}
	switch lower(name) {
	case "cdc":
		return 5, db.enabled.Load()
	case "":
		return 0, false
	}
	for i, n := range db.schemas {
		if sqltype.EqualName(n, name) {
			if i == 0 {
				return 1, true
			}
			return int32(5 + i), true
		}
	}
	return 0, false
}

// noSchema is the error of a schema in which nothing can be made: one of every database's own takes tables on a server, too.
func noSchema(name string) error {
	if id := ownSchemaID(name); id == guestID || id > sysSchemaID {
		return sqltype.Unsupported("objects in the schema %s", name)
	}
	return sqltype.Errorf(2760, "The specified schema name \"%s\" either does not exist or you do not have permission to use it.", name)
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
	if ownSchemaID(name) != 0 {
		return sqltype.Unsupported("DROP SCHEMA of %s", name)
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
	if to == "" && ownSchemaID(schema) != 0 {
		return sqltype.Unsupported("TRANSFER to the schema %s", schema)
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
	if id := ownSchemaID(schema); id != 0 {
		return id
	}
	return dboID
}
