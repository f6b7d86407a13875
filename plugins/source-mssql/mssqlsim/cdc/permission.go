package cdc

import (
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// The classes of securables (Microsoft: sys.database_permissions (Transact-SQL)).
const (
	classDatabase  = 0
	classObject    = 1
	classSchema    = 3
	classPrincipal = 4
)

// permission is a row of sys.database_permissions. Schemas are known by name, the rest by id; minor is a column.
type permission struct {
	class   int
	major   int32
	schema  string
	minor   int
	grantee *principal
	grantor *principal
	name    string
	state   byte // 'G', 'W' (with grant option) or 'D'
}

func (g *permission) same(o *permission) bool {
	return g.class == o.class && g.major == o.major && sqltype.EqualName(g.schema, o.schema) && g.grantee == o.grantee && g.name == o.name
}

// drop removes permissions. The lock is held.
func (s *security) drop(which func(*permission) bool) {
	var rest []*permission
	for _, g := range s.perms {
		if !which(g) {
			rest = append(rest, g)
		}
	}
	s.perms = rest
}

// The permissions that GRANT takes, and their short names in the catalog (Microsoft: Permissions (Database Engine)).
var (
	objectPermissions = map[string]string{"SELECT": "SL", "INSERT": "IN", "UPDATE": "UP", "DELETE": "DL", "EXECUTE": "EX", "REFERENCES": "RF", "ALTER": "AL", "CONTROL": "CL", "TAKE OWNERSHIP": "TO",
		"VIEW DEFINITION": "VW", "VIEW CHANGE TRACKING": "VWCT"}
	databasePermissions = map[string]string{"CONNECT": "CO", "CREATE TABLE": "CRTB", "CREATE VIEW": "CRVW", "CREATE PROCEDURE": "CRPR", "CREATE FUNCTION": "CRFN", "CREATE SCHEMA": "CRSM", "CREATE ROLE": "CRRL",
		"CREATE TYPE": "CRTY", "VIEW DATABASE STATE": "VWDS", "VIEW DATABASE PERFORMANCE STATE": "VDP", "VIEW DATABASE SECURITY STATE": "VDSS", "ALTER ANY USER": "ALUS", "ALTER ANY ROLE": "ALRL",
		"ALTER ANY SCHEMA": "ALSM", "BACKUP DATABASE": "BADB", "SHOWPLAN": "SPLN", "ALTER ANY DATASPACE": "ALDS", "VIEW ANY DEFINITION": "VWAD"}
	serverPermissions = map[string]string{"CONNECT SQL": "COSQ", "CONTROL SERVER": "CL", "VIEW SERVER STATE": "VWSS", "VIEW SERVER PERFORMANCE STATE": "VSPS", "VIEW SERVER SECURITY STATE": "VSS",
		"VIEW ANY DATABASE": "VWDB", "VIEW ANY DEFINITION": "VWAD", "ALTER ANY LOGIN": "ALLG", "ALTER ANY DATABASE": "ALDB", "CREATE ANY DATABASE": "CRDB", "ALTER SERVER STATE": "ALSS", "CONNECT ANY DATABASE": "CADB",
		"ALTER ANY SERVER ROLE": "ALSR", "ALTER TRACE": "ALTR"}
	principalPermissions = map[string]string{"IMPERSONATE": "IM", "ALTER": "AL", "CONTROL": "CL", "VIEW DEFINITION": "VW", "TAKE OWNERSHIP": "TO"}
)

// shortName gives type of sys.database_permissions.
func shortName(class int, name string) string {
	for _, m := range []map[string]string{principalPermissions, objectPermissions, databasePermissions} {
		if t := m[name]; t != "" && (class == classPrincipal || name != "IMPERSONATE") {
			return t
		}
	}
	return ""
}

// Permit is GRANT, DENY or REVOKE (Microsoft: GRANT (Transact-SQL), DENY (Transact-SQL), REVOKE (Transact-SQL)).
func (s *Session) Permit(p tsql.Permit) error {
	if !p.On {
		if _, ok := serverPermissions[p.Permissions[0].Name]; ok && databasePermissions[p.Permissions[0].Name] == "" {
			return s.permitServer(p)
		}
	}
	db, err := s.at(p.Name)
	if err != nil {
		return err
	}
	db.mu.RLock()
	defer db.mu.RUnlock()
	on, allowed, err := s.securable(db, p)
	if err != nil {
		return err
	}
	me, owner := s.user(db), s.dbo(db)
	db.sec.mu.Lock()
	defer db.sec.mu.Unlock()
	grantor, mine := db.sec.byID(dboID), map[*principal]bool{}
	if !owner && me != nil {
		grantor, mine = me, db.sec.all(me, db)
	}
	for _, name := range p.Principals {
		to := db.sec.named(name)
		if to == nil {
			return notFound("user", name)
		}
		if to.fixed && to.role && to.id != publicID {
			return sqltype.Errorf(4617, "Cannot grant, deny or revoke permissions to or from special roles.")
		}
		if to.fixed && to.id != publicID && to.id != guestID || to == me {
			return sqltype.Errorf(4624, "Cannot grant, deny, or revoke permissions to sa, dbo, entity owner, information_schema, sys, or yourself.")
		}
		for _, q := range expand(p.Permissions, on) {
			if allowed[q.Name] == "" {
				return sqltype.Errorf(4606, "Granted or revoked privilege %s is not compatible with object.", q.Name)
			}
			if !owner && !db.sec.passesOn(mine, q.Name, on) {
				return noGrantor(p, on)
			}
			cols, err := on.columns(q.Columns)
			if err != nil {
				return err
			}
			g := permission{class: on.class, major: on.id, schema: on.schema, grantee: to, grantor: grantor, name: q.Name}
			if on.class == classObject {
				g.schema = ""
			}
			if err := db.sec.permit(p, g, cols); err != nil {
				return err
			}
		}
	}
	return nil
}

// expand replaces ALL by what it stands for.
func expand(list []tsql.Permission, on *securable) (out []tsql.Permission) {
	for _, q := range list {
		if q.Name != "ALL" {
			out = append(out, q)
			continue
		}
		names := []string{"SELECT", "INSERT", "UPDATE", "DELETE", "REFERENCES"}
		switch {
		case on.routine:
			names = []string{"EXECUTE"}
		case on.class == classDatabase:
			names = []string{"CREATE TABLE", "CREATE VIEW", "CREATE PROCEDURE", "CREATE FUNCTION", "BACKUP DATABASE"}
		}
		for _, n := range names {
			out = append(out, tsql.Permission{Name: n, Columns: q.Columns})
		}
	}
	return out
}

// permit does one permission for one principal. A statement about the whole object also takes away what was said of
// its columns. The lock is held.
func (s *security) permit(p tsql.Permit, g permission, cols []int) error {
	whole := len(cols) == 0
	if whole {
		cols = []int{0}
	}
	for _, c := range cols {
		g.minor = c
		for _, o := range s.perms {
			if o.same(&g) && o.minor == c && o.state == 'W' && p.Verb != "GRANT" && !p.Cascade {
				return sqltype.Errorf(4611, "To revoke or deny grantable privileges, specify the CASCADE option.")
			}
		}
		if p.Verb == "REVOKE" && p.GrantOption {
			for _, o := range s.perms {
				if o.same(&g) && o.minor == c && o.state == 'W' {
					o.state = 'G'
				}
			}
			continue
		}
		s.drop(func(o *permission) bool { return o.same(&g) && (whole || o.minor == c) })
		if p.Verb == "REVOKE" {
			continue
		}
		own := g
		own.state = 'G'
		switch {
		case p.Verb == "DENY":
			own.state = 'D'
		case p.GrantOption:
			own.state = 'W'
		}
		s.perms = append(s.perms, &own)
	}
	return nil
}

// securable finds what a GRANT is about, and which permissions there are for it. The database's lock is held.
func (s *Session) securable(db *Database, p tsql.Permit) (*securable, map[string]string, error) {
	name := p.Name.Object
	switch {
	case !p.On, p.Class == "DATABASE":
		if p.On && !sqltype.EqualName(name, db.Name) {
			return nil, nil, notFound("database", name)
		}
		all := map[string]string{}
		for _, m := range []map[string]string{objectPermissions, databasePermissions} {
			for k, v := range m {
				all[k] = v
			}
		}
		return &securable{class: classDatabase}, all, nil
	case p.Class == "SCHEMA":
		if _, ok := db.schemaID(name); !ok {
			return nil, nil, notFound("schema", name)
		}
		return &securable{class: classSchema, schema: name}, objectPermissions, nil
	case p.Class == "USER", p.Class == "ROLE":
		db.sec.mu.RLock()
		defer db.sec.mu.RUnlock()
		u := db.sec.named(name)
		if u == nil || u.role != (p.Class == "ROLE") {
			return nil, nil, notFound(lower(p.Class), name)
		}
		return &securable{class: classPrincipal, id: u.id}, principalPermissions, nil
	case p.Class == "LOGIN":
		return nil, nil, sqltype.Unsupported("%s on a login", p.Verb)
	}
	schema := p.Name.Schema
	if schema == "" {
		schema = s.defaultSchema(db)
	}
	for _, o := range s.everyObject(db) {
		if sqltype.EqualName(o.name, name) && sqltype.EqualName(o.schema, schema) {
			on := o.securable()
			return &on, tablePermissions, nil
		}
	}
	if r := db.routines[routineKey(schema, name)]; r != nil {
		on := securableRoutine(r)
		return &on, routinePermissions, nil
	}
	return nil, nil, notFound("object", name)
}

func notFound(what, name string) error {
	return sqltype.Errorf(15151, "Cannot find the %s '%s', because it does not exist or you do not have permission.", what, name)
}

// permitServer is Permit of permissions of the server.
func (s *Session) permitServer(p tsql.Permit) error {
	if !sqltype.EqualName(s.db.Name, "master") {
		return sqltype.Errorf(4621, "Permissions at the server scope can only be granted when the current database is master")
	}
	if !s.serverCan("CONTROL SERVER") {
		return sqltype.Errorf(4613, "Grantor does not have GRANT permission.")
	}
	for _, name := range p.Principals {
		l := s.srv.Login(name)
		if l == nil {
			return notFound("login", name)
		}
		if l == s.login || l.admin() {
			return sqltype.Errorf(4624, "Cannot grant, deny, or revoke permissions to sa, dbo, entity owner, information_schema, sys, or yourself.")
		}
		l.mu.Lock()
		for _, q := range p.Permissions {
			switch {
			case serverPermissions[q.Name] == "":
				l.mu.Unlock()
				return sqltype.Errorf(102, "Incorrect syntax near '%s'.", strings.Fields(q.Name)[0])
			case p.Verb == "REVOKE":
				delete(l.perms, q.Name)
			case p.Verb == "DENY":
				l.perms[q.Name] = 'D'
			case p.GrantOption:
				l.perms[q.Name] = 'W'
			default:
				l.perms[q.Name] = 'G'
			}
		}
		l.mu.Unlock()
	}
	return nil
}

// noGrantor is what who may not grant is told: of an object, that it may not know of it; of what is wider, that it may
// not grant (texts of sys.messages; Microsoft's pages do not say which one comes).
func noGrantor(p tsql.Permit, on *securable) error {
	if on.class == classDatabase {
		return sqltype.Errorf(4613, "Grantor does not have GRANT permission.")
	}
	what := lower(p.Class)
	if what == "" {
		what = "object"
	}
	return notFound(what, p.Name.Object)
}
