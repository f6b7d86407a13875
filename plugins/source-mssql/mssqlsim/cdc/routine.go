package cdc

import (
	"maps"
	"slices"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// routineKey is what a procedure is kept under; "" is the schema dbo.
func routineKey(schema, name string) string {
	if schema == "" {
		schema = "dbo"
	}
	return lower(schema) + "." + lower(name)
}

// home is where the procedure of a name is kept: the session for #temporary ones, else the database. One without a schema
// is looked for in that of the user, then in dbo (Microsoft: EXECUTE (Transact-SQL), module_name).
type home struct {
	db       *Database
	routines map[string]*tsql.Routine
	schema   string // in which it is, or is made
	key      string
}

// home is at of the name of a procedure. What is looked for to be called before a statement runs waits for nothing: its statements do.
func (s *Session) home(n tsql.Name) (*Database, error) {
	if s.running {
		return s.at(n)
	}
	return s.named(n)
}

func (s *Session) routineHome(n tsql.Name) (h home, err error) {
	if h.db, err = s.home(n); err != nil {
		return h, err
	}
	h.routines, h.schema = h.db.routines, n.Schema
	switch {
	case strings.HasPrefix(n.Object, "#"):
		if s.routines == nil {
			s.routines = map[string]*tsql.Routine{}
		}
		h.routines = s.routines
	case h.schema == "":
		h.schema = s.defaultSchema(h.db)
		h.db.mu.RLock()
		if h.routines[routineKey(h.schema, n.Object)] == nil && h.routines[routineKey("dbo", n.Object)] != nil {
			h.schema = "dbo"
		}
		h.db.mu.RUnlock()
	}
	if h.schema == "" {
		h.schema = "dbo"
	}
	h.key = routineKey(h.schema, n.Object)
	return h, nil
}

// Routine finds a procedure that a user made, and asks for EXECUTE on it (Microsoft: EXECUTE (Transact-SQL), Permissions).
func (s *Session) Routine(n tsql.Name) (*tsql.Routine, error) {
	h, err := s.routineHome(n)
	if err != nil {
		return nil, err
	}
	h.db.mu.RLock()
	r := h.routines[h.key]
	h.db.mu.RUnlock()
	if r == nil || strings.HasPrefix(n.Object, "#") || s.chain.reaches(h.db, r.Name.Schema) || s.can(h.db, "EXECUTE", securableRoutine(r)) {
		return r, nil
	}
	return nil, denied("EXECUTE", r.Name.Object, h.db.Name, r.Name.Schema)
}

// CreateRoutine keeps a procedure, also one that takes the place of another, whose permissions it has.
func (s *Session) CreateRoutine(r *tsql.Routine, create, alter bool) error {
	h, err := s.changeRoutines(r.Name)
	if err != nil {
		return err
	}
	h.db.mu.Lock()
	defer h.db.mu.Unlock()
	old := h.routines[h.key]
	switch {
	case old != nil && !alter || h.db.table(h.schema, r.Name.Object) != nil:
		return sqltype.Errorf(2714, "There is already an object named '%s' in the database.", r.Name.Object)
	case old == nil && !create:
		return sqltype.Errorf(208, "Invalid object name '%s'.", r.Name)
	}
	i := slices.IndexFunc(h.db.schemas, func(n string) bool { return n != "" && sqltype.EqualName(n, h.schema) })
	if i < 0 {
		return noSchema(r.Name.Schema)
	}
	r.Name.Schema = h.db.schemas[i]
	r.Changed = sqltype.DateTimeTicks(s.srv.local(s.srv.clock.Now()))
	if old != nil {
		r.ID, r.Created = old.ID, old.Created
	} else {
		r.ID, r.Created = h.db.objectID(), r.Changed
	}
	h.routines[h.key] = r
	return nil
}

// DropRoutine removes a procedure and what was granted on it.
func (s *Session) DropRoutine(n tsql.Name, ifExists bool) error {
	h, err := s.changeRoutines(n)
	if err != nil {
		return err
	}
	h.db.mu.Lock()
	defer h.db.mu.Unlock()
	r := h.routines[h.key]
	if r == nil {
		if ifExists {
			return nil
		}
		return sqltype.Errorf(3701, "Cannot drop the procedure '%s', because it does not exist or you do not have permission.", n)
	}
	delete(h.routines, h.key)
	h.db.sec.mu.Lock()
	defer h.db.sec.mu.Unlock()
	h.db.sec.drop(func(g *permission) bool { return g.class == classObject && g.major == r.ID })
	return nil
}

func (s *Session) changeRoutines(n tsql.Name) (home, error) {
	if s.tx != nil {
		return home{}, sqltype.Unsupported("changing procedures inside a transaction")
	}
	h, err := s.routineHome(n)
	if err == nil && !s.dbo(h.db) {
		err = missing("CREATE PROCEDURE", h.db.Name)
	}
	return h, err
}

// Permissions that tables and procedures have (Microsoft: GRANT Object Permissions (Transact-SQL)).
var (
	tablePermissions   = without(objectPermissions, "EXECUTE")
	routinePermissions = without(objectPermissions, "SELECT", "INSERT", "UPDATE", "DELETE", "REFERENCES", "VIEW CHANGE TRACKING")
)

func without(m map[string]string, names ...string) map[string]string {
	m = maps.Clone(m)
	for _, n := range names {
		delete(m, n)
	}
	return m
}

// securableRoutine gives a procedure as permissions know it.
func securableRoutine(r *tsql.Routine) securable {
	return securable{class: classObject, schema: r.Name.Schema, id: r.ID, object: r.Name.Object, routine: true}
}

// chain is the ownership chain of the procedure whose statements run: what belongs to the same owner in the same database
// is used without permissions (Microsoft: Ownership chains). The zero value is none.
type chain struct {
	db    *Database
	owner int32
}

// Chain begins the chain of a procedure; texts that it runs are outside of it.
func (s *Session) Chain(r *tsql.Routine) (back func()) {
	before := s.chain
	s.chain = chain{}
	if r != nil && !strings.HasPrefix(r.Name.Object, "#") {
		s.db.mu.RLock()
		here := s.db.routines[routineKey(r.Name.Schema, r.Name.Object)] == r
		s.db.mu.RUnlock()
		if here { // of another database it has no chain in this one
			s.chain = chain{s.db, s.db.sec.ownerID(r.Name.Schema)}
		}
	}
	return func() { s.chain = before }
}

// reaches tells whether an object of a schema belongs to the chain. The schema cdc has an owner of its own, the user cdc.
func (c chain) reaches(db *Database, schema string) bool {
	return c.db == db && db != nil && !sqltype.EqualName(schema, "cdc") && db.sec.ownerID(schema) == c.owner
}

// routinesOf lists the procedures that a session sees, by name.
func (s *Session) routinesOf(db *Database) (out []*tsql.Routine) {
	for _, key := range slices.Sorted(maps.Keys(db.routines)) {
		if r := db.routines[key]; s.dbo(db) || s.anyOf(db, securableRoutine(r)) {
			out = append(out, r)
		}
	}
	return out
}

// routineParts lists them for sys.objects.
func (s *Session) routineParts(db *Database) (out []part) {
	for _, r := range s.routinesOf(db) {
		out = append(out, part{object: object{id: r.ID, name: r.Name.Object, schema: r.Name.Schema, created: r.Created}, id: r.ID, name: r.Name.Object, typ: "P ", desc: "SQL_STORED_PROCEDURE", changed: r.Changed})
	}
	return out
}

// sysProcedures is Microsoft: sys.procedures (Transact-SQL).
func sysProcedures(s *Session, db *Database) *tsql.Rows {
	return s.view(db, []tsql.Column{col("is_auto_executed", bit), ncol("is_execution_replicated", bit), ncol("is_repl_serializable_only", bit), ncol("skips_repl_constraints", bit)}, func(p *part) sqltype.Row {
		if p.typ != "P " {
			return nil
		}
		return sqltype.Row{flag(false), flag(false), flag(false), flag(false)}
	})
}
