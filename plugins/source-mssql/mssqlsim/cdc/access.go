package cdc

import (
	"context"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// securable is what permissions are about: a database, a schema, an object of a schema, or a principal.
type securable struct {
	class  int
	schema string
	id     int32  // of an object or a principal
	object string // name of an object, under which implicit logins have their grants
	cols   []securedColumn
	// routine: the object is a procedure
	routine bool
}

type securedColumn struct {
	name string
	id   int
}

// columns gives the ids of columns by name.
func (o *securable) columns(names []string) (ids []int, err error) {
next:
	for _, n := range names {
		for _, c := range o.cols {
			if sqltype.EqualName(c.name, n) {
				ids = append(ids, c.id)
				continue next
			}
		}
		return nil, sqltype.Errorf(1020, "Column '%s' does not exist in the target table or view.", n)
	}
	return ids, nil
}

// securableOf gives an object as permissions know it.
func (o *object) securable() securable {
	r := securable{class: classObject, schema: o.schema, id: o.id, object: o.name}
	if o.in != nil {
		for i, c := range o.in.changeColumns() {
			r.cols = append(r.cols, securedColumn{c.Name, i + 1})
		}
		return r
	}
	for _, c := range o.table.columns {
		r.cols = append(r.cols, securedColumn{c.Name, c.id})
	}
	return r
}

func (t *Table) object() object {
	return object{id: t.ID, name: t.Name, schema: t.Schema, created: t.created, table: t}
}

func (in *Instance) object() object {
	return object{id: in.ID, name: in.Name + "_CT", schema: "cdc", created: in.at, table: in.table, in: in}
}

// access is what a session may do to an object with one permission.
type access struct {
	whole   bool // all columns that are not denied
	granted map[int]bool
	denied  map[int]bool
	names   map[string]bool // columns that an implicit login was granted
}

// any tells whether there is something the session may do.
func (a *access) any() bool { return a.whole || len(a.granted) > 0 || len(a.names) > 0 }

// all tells whether the session may do it with every column.
func (a *access) all() bool { return a.whole && len(a.denied) == 0 }

func (a *access) column(c securedColumn) bool {
	return !a.denied[c.id] && (a.whole || a.granted[c.id] || a.names[lower(c.name)])
}

var everything = access{whole: true}

// covers tells whether a permission includes another (Microsoft: Permissions hierarchy (Database Engine)).
func covers(has string, class int, want string) bool {
	switch {
	case has == want, has == "CONTROL":
		return true
	case class == classDatabase && has == "ALTER":
		return strings.HasPrefix(want, "CREATE ") || strings.HasPrefix(want, "ALTER ")
	case class == classDatabase && has == "ALTER ANY SCHEMA":
		return want == "ALTER" || want == "CREATE SCHEMA"
	case has == "VIEW DATABASE STATE":
		return want == "VIEW DATABASE PERFORMANCE STATE" || want == "VIEW DATABASE SECURITY STATE"
	case has == "VIEW ANY DEFINITION":
		return want == "VIEW DEFINITION"
	}
	return false
}

// on tells whether a permission is about a securable or about what holds it.
func (g *permission) on(o *securable) bool {
	switch g.class {
	case classDatabase:
		return o.class != classPrincipal || g.name == "CONTROL"
	case classSchema:
		return (o.class == classSchema || o.class == classObject) && sqltype.EqualName(g.schema, o.schema)
	}
	return g.class == o.class && g.major == o.id
}

// roleCovers tells what the fixed roles may do (Microsoft: Database-level roles).
func roleCovers(role, want string, o *securable) (granted, denied bool) {
	data := want == "INSERT" || want == "UPDATE" || want == "DELETE"
	switch role {
	case "db_owner":
		return true, false
	case "db_datareader":
		return want == "SELECT" && o.class != classPrincipal, false
	case "db_datawriter":
		return data && o.class != classPrincipal, false
	case "db_denydatareader":
		return false, want == "SELECT"
	case "db_denydatawriter":
		return false, data
	case "db_ddladmin":
		return want == "ALTER" && o.class != classPrincipal && o.class != classDatabase || want == "ALTER ANY SCHEMA" || want == "REFERENCES" || strings.HasPrefix(want, "CREATE ") && want != "CREATE ROLE", false
	case "db_accessadmin":
		return want == "ALTER ANY USER" || want == "CREATE SCHEMA", false
	case "db_securityadmin":
		return want == "ALTER ANY ROLE" || want == "CREATE ROLE" || want == "VIEW DEFINITION" || want == "CREATE SCHEMA", false
	}
	return false, false
}

// access computes what the session may do. The database's own lock is not needed.
func (s *Session) access(db *Database, want string, o securable) access {
	if s.admin() || o.class == classObject && isTemporary(o.object) {
		return everything
	}
	u := s.user(db)
	if u == nil {
		return access{}
	}
	if u.id == dboID {
		return everything
	}
	a := access{}
	db.sec.mu.RLock()
	defer db.sec.mu.RUnlock()
	if u.login != nil && o.class == classObject && want == "SELECT" {
		a.whole, a.names = u.login.granted(db.Name, o.schema+"."+o.object)
	}
	ps := db.sec.all(u, db)
	db.sec.evaluate(ps, want, &o, &a)
	return a
}

// evaluate adds up the permissions of principals. A DENY wins over every GRANT, but one on a whole object does not over
// a GRANT on a column (Microsoft: DENY Object Permissions (Transact-SQL)). The lock is held.
func (s *security) evaluate(ps map[*principal]bool, want string, o *securable, a *access) {
	deny := false
	for _, g := range s.perms {
		if !ps[g.grantee] || !g.on(o) || !covers(g.name, g.class, want) {
			continue
		}
		switch {
		case g.minor > 0 && g.state == 'D':
			if a.denied == nil {
				a.denied = map[int]bool{}
			}
			a.denied[g.minor] = true
		case g.minor > 0:
			if a.granted == nil {
				a.granted = map[int]bool{}
			}
			a.granted[g.minor] = true
		case g.state == 'D':
			deny = true
		default:
			a.whole = true
		}
	}
	for p := range ps {
		if p.role && p.fixed {
			g, d := roleCovers(p.name, want, o)
			a.whole, deny = a.whole || g, deny || d
		}
	}
	if owner := s.owners[lower(o.schema)]; owner != nil && ps[owner] && o.class != classPrincipal {
		a.whole, deny = true, false
	}
	if deny {
		a.whole = false
	}
}

// passesOn tells whether principals hold a permission with the option to grant it. The lock is held.
func (s *security) passesOn(ps map[*principal]bool, want string, o *securable) bool {
	var a access
	s.evaluate(ps, "CONTROL", o, &a)
	if a.whole {
		return true
	}
	for _, g := range s.perms {
		if ps[g.grantee] && g.on(o) && g.name == want && g.state == 'W' {
			return true
		}
	}
	return false
}

// mayConnect tells whether a user may come into the database.
func (s *security) mayConnect(u *principal) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	ok := false
	for _, g := range s.perms {
		if g.grantee == u && g.class == classDatabase && g.name == "CONNECT" {
			ok = g.state != 'D'
		}
	}
	return ok
}

// can tells whether the session has a permission on a database, a schema or an object as a whole.
func (s *Session) can(db *Database, want string, o securable) bool {
	a := s.access(db, want, o)
	return a.all()
}

var wholeDatabase = securable{class: classDatabase}

func ofSchema(name string) securable { return securable{class: classSchema, schema: name} }

// stateOf asks for VIEW DATABASE STATE, which VIEW SERVER STATE includes.
func (s *Session) stateOf(db *Database) error {
	if s.serverCan("VIEW SERVER STATE") || s.can(db, "VIEW DATABASE STATE", wholeDatabase) {
		return nil
	}
	return missing("VIEW DATABASE STATE", db.Name)
}

// missing is the error of a permission of a database (Microsoft: Database engine events and errors, 262).
func missing(permission, database string) *sqltype.Error {
	return &sqltype.Error{Number: 262, State: 1, Class: 14, Message: permission + " permission denied in database '" + database + "'."}
}

// Guard tells whether the session may do something to a relation. Relations of the system are for everybody.
func (s *Session) Guard(rel tsql.Relation, permission string, columns []int) error {
	var (
		db  *Database
		get func() object
	)
	switch r := rel.(type) {
	case *source:
		db, get = r.t.db, r.t.object
	case *changeTable:
		db, get = r.in.table.db, r.in.object
	case *columnGuard:
		db, get = r.in.table.db, r.in.object
	default:
		return nil
	}
	db.mu.RLock() // others may change the shape meanwhile
	o := get()
	sec := o.securable()
	db.mu.RUnlock()
	if s.chain.reaches(db, o.schema) {
		return nil
	}
	a := s.access(db, permission, sec)
	if a.all() {
		return nil
	}
	if !a.any() {
		return denied(permission, o.name, db.Name, o.schema)
	}
	for _, c := range columns {
		if c < len(sec.cols) && !a.column(sec.cols[c]) {
			return deniedColumn(permission, sec.cols[c].name, o.name, db.Name, o.schema)
		}
	}
	return nil
}

func denied(perm, object, database, schema string) error {
	return &sqltype.Error{Number: 229, State: 5, Class: 14, Message: "The " + perm + " permission was denied on the object '" + object + "', database '" + database + "', schema '" + schema + "'."}
}

func deniedColumn(perm, column, object, database, schema string) error {
	return &sqltype.Error{Number: 230, State: 1, Class: 14, Message: "The " + perm + " permission was denied on the column '" + column + "' of the object '" + object + "', database '" + database + "', schema '" + schema + "'."}
}

// mayInstance tells whether the CDC procedures and functions show an instance: SELECT on all captured columns, and
// membership in the gating role if there is one, which owners of the database do not need
// (Microsoft: sys.sp_cdc_help_change_data_capture, Permissions; About change data capture, Access control).
func (s *Session) mayInstance(in *Instance) bool {
	db := in.table.db
	if s.dbo(db) {
		return true
	}
	o := in.table.object()
	a := s.access(db, "SELECT", o.securable())
	for _, c := range in.captured {
		if !a.column(securedColumn{c.name, c.id}) {
			return false
		}
	}
	return in.Role == "" || db.sec.member(s.user(db), in.Role, db)
}

// columnGuard is a change table of which the session may read some columns only.
type columnGuard struct {
	*changeTable
	may func(securedColumn) bool
}

// Scan refuses columns that the session may not read.
func (r *columnGuard) Scan(ctx context.Context, req tsql.ScanRequest) (tsql.Cursor, error) {
	for _, c := range req.Columns {
		if c >= 0 && !r.may(securedColumn{r.cols[c].Name, c + 1}) {
			return nil, deniedColumn("SELECT", r.cols[c].Name, r.in.Name+"_CT", r.in.table.db.Name, "cdc")
		}
	}
	return r.changeTable.Scan(ctx, req)
}
