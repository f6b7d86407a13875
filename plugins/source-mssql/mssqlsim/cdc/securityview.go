package cdc

import (
	"maps"
	"slices"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// securityViews are the catalog views of principals and permissions.
var securityViews = map[string]view{
	"database_principals":   databasePrincipals,
	"database_role_members": databaseRoleMembers,
	"database_permissions":  databasePermissionRows,
	"server_principals":     serverPrincipals,
	"server_role_members":   serverRoleMembers,
	"server_permissions":    serverPermissionRows,
	"sql_logins":            sqlLogins,
}

var desc60 = sqltype.Str(sqltype.NVarChar, 60)

// seesPrincipal tells whether the session sees a principal: itself, those it belongs to, and the fixed ones; others
// need a permission (Microsoft: sys.database_principals (Transact-SQL), Permissions). The lock of the security is held.
func seesPrincipal(p *principal, all bool, mine map[*principal]bool) bool {
	return all || p.fixed || mine[p]
}

// principalsSeen runs fn for the principals that the session sees.
func (s *Session) principalsSeen(db *Database, fn func(p *principal)) {
	me := s.user(db)
	all := s.can(db, "ALTER ANY USER", wholeDatabase) || s.can(db, "VIEW DEFINITION", wholeDatabase)
	if s.admin() {
		for _, l := range s.srv.allLogins() { // those that have a user everywhere
			if l.implicit && !l.admin() && l.mayUse(db) {
				_ = db.sec.user(l, db)
			}
		}
	}
	db.sec.mu.RLock()
	defer db.sec.mu.RUnlock()
	mine := map[*principal]bool{}
	if me != nil {
		mine = db.sec.all(me, db)
	}
	for _, p := range db.sec.principals {
		if seesPrincipal(p, all, mine) {
			fn(p)
		}
	}
}

// databasePrincipals is Microsoft: sys.database_principals (Transact-SQL).
func databasePrincipals(s *Session, db *Database) *tsql.Rows {
	r := &tsql.Rows{Cols: []tsql.Column{col("name", sysname), col("principal_id", integer), col("type", sqltype.Str(sqltype.Char, 1)), ncol("type_desc", desc60), ncol("default_schema_name", sysname),
		col("create_date", stamp), col("modify_date", stamp), ncol("owning_principal_id", integer), ncol("sid", sidType), col("is_fixed_role", bit), col("authentication_type", integer),
		ncol("authentication_type_desc", desc60)}}
	s.principalsSeen(db, func(p *principal) {
		typ, desc, owner, auth, authDesc := "S", "SQL_USER", null, int64(0), "NONE"
		if p.role {
			typ, desc, owner = "R", "DATABASE_ROLE", num(1)
		}
		if p.login != nil || p.id == dboID {
			auth, authDesc = 1, "INSTANCE"
		}
		sid := null
		if p.sid != "" {
			sid = sqltype.FromBytes(p.sid)
		}
		r.Data = append(r.Data, sqltype.Row{text(p.name), num(int64(p.id)), text(typ), text(desc), orNull(p.schema), sqltype.FromTicks(p.created), sqltype.FromTicks(p.created), owner, sid,
			flag(p.role && p.fixed && p.id != publicID), num(auth), text(authDesc)})
	})
	return r
}

// databaseRoleMembers is Microsoft: sys.database_role_members (Transact-SQL).
func databaseRoleMembers(s *Session, db *Database) *tsql.Rows {
	r := &tsql.Rows{Cols: []tsql.Column{col("role_principal_id", integer), col("member_principal_id", integer)}}
	add := func(role, member int32) {
		r.Data = append(r.Data, sqltype.Row{num(int64(role)), num(int64(member))})
	}
	s.principalsSeen(db, func(p *principal) {
		if p.name == "db_owner" && p.fixed {
			add(p.id, dboID)
		}
		for _, m := range db.sec.principals { // in the order of the members
			if p.members[m] {
				add(p.id, m.id)
			}
		}
	})
	return r
}

var stateNames = map[byte]string{'G': "GRANT", 'W': "GRANT_WITH_GRANT_OPTION", 'D': "DENY"}

// databasePermissionRows is Microsoft: sys.database_permissions (Transact-SQL).
func databasePermissionRows(s *Session, db *Database) *tsql.Rows {
	r := &tsql.Rows{Cols: []tsql.Column{col("class", tiny), ncol("class_desc", desc60), col("major_id", integer), col("minor_id", integer), col("grantee_principal_id", integer), col("grantor_principal_id", integer),
		col("type", sqltype.Str(sqltype.Char, 4)), ncol("permission_name", sysname), col("state", sqltype.Str(sqltype.Char, 1)), ncol("state_desc", desc60)}}
	classNames := map[int]string{classDatabase: "DATABASE", classObject: "OBJECT_OR_COLUMN", classSchema: "SCHEMA", classPrincipal: "DATABASE_PRINCIPAL"}
	there := map[int32]bool{}
	for _, o := range s.everyObject(db) {
		there[o.id] = true
	}
	seen := map[*principal]bool{}
	s.principalsSeen(db, func(p *principal) { seen[p] = true })
	db.sec.mu.RLock()
	defer db.sec.mu.RUnlock()
	for _, g := range db.sec.perms {
		major := g.major
		if g.class == classSchema {
			major, _ = db.schemaID(g.schema)
		}
		if !seen[g.grantee] || g.class == classObject && !there[g.major] {
			continue
		}
		grantor := int32(dboID)
		if g.grantor != nil {
			grantor = g.grantor.id
		}
		r.Data = append(r.Data, sqltype.Row{num(int64(g.class)), text(classNames[g.class]), num(int64(major)), num(int64(g.minor)), num(int64(g.grantee.id)), num(int64(grantor)),
			text(shortName(g.class, g.name)), text(g.name), text(string(g.state)), text(stateNames[g.state])})
	}
	return r
}

// loginsSeen lists the logins that the session sees: all, or itself and sa.
func (s *Session) loginsSeen() (out []*Login) {
	all := s.serverCan("ALTER ANY LOGIN") || s.serverCan("VIEW ANY DEFINITION")
	for _, l := range s.srv.allLogins() {
		if all || l.id == 1 || l == s.now().login {
			out = append(out, l)
		}
	}
	return out
}

// serverPrincipals is Microsoft: sys.server_principals (Transact-SQL).
func serverPrincipals(s *Session, _ *Database) *tsql.Rows {
	r := &tsql.Rows{Cols: []tsql.Column{col("name", sysname), col("principal_id", integer), ncol("sid", sidType), col("type", sqltype.Str(sqltype.Char, 1)), ncol("type_desc", desc60), ncol("is_disabled", bit),
		col("create_date", stamp), col("modify_date", stamp), ncol("default_database_name", sysname), ncol("default_language_name", sysname), ncol("owning_principal_id", integer), col("is_fixed_role", bit)}}
	for _, l := range s.loginsSeen() {
		l.mu.RLock()
		r.Data = append(r.Data, sqltype.Row{text(l.name), num(int64(l.id)), sqltype.FromBytes(l.sid), text("S"), text("SQL_LOGIN"), flag(l.disabled), sqltype.FromTicks(l.created), sqltype.FromTicks(l.created),
			text(l.database), text("us_english"), null, flag(false)})
		l.mu.RUnlock()
	}
	created := s.srv.Find("master").created
	for i, name := range append([]string{"public"}, serverRoles...) {
		r.Data = append(r.Data, sqltype.Row{text(name), num(int64(i + 2)), sqltype.FromBytes(string([]byte{byte(i + 2)})), text("R"), text("SERVER_ROLE"), flag(false), sqltype.FromTicks(created), sqltype.FromTicks(created),
			null, null, num(1), flag(name != "public")})
	}
	return r
}

// serverRoleMembers is Microsoft: sys.server_role_members (Transact-SQL).
func serverRoleMembers(s *Session, _ *Database) *tsql.Rows {
	r := &tsql.Rows{Cols: []tsql.Column{col("role_principal_id", integer), col("member_principal_id", integer)}}
	for i, role := range serverRoles {
		for _, l := range s.loginsSeen() {
			if l.inServerRole(role) {
				r.Data = append(r.Data, sqltype.Row{num(int64(i + 3)), num(int64(l.id))})
			}
		}
	}
	return r
}

// serverPermissionRows is Microsoft: sys.server_permissions (Transact-SQL).
func serverPermissionRows(s *Session, _ *Database) *tsql.Rows {
	r := &tsql.Rows{Cols: []tsql.Column{col("class", tiny), ncol("class_desc", desc60), col("major_id", integer), col("minor_id", integer), col("grantee_principal_id", integer), col("grantor_principal_id", integer),
		col("type", sqltype.Str(sqltype.Char, 4)), ncol("permission_name", sysname), col("state", sqltype.Str(sqltype.Char, 1)), ncol("state_desc", desc60)}}
	add := func(id int32, name string, state byte) {
		r.Data = append(r.Data, sqltype.Row{num(100), text("SERVER"), num(0), num(0), num(int64(id)), num(1), text(serverPermissions[name]), text(name), text(string(state)), text(stateNames[state])})
	}
	add(2, "VIEW ANY DATABASE", 'G')
	for _, l := range s.loginsSeen() {
		l.mu.RLock()
		if l.perms["CONNECT SQL"] == 0 {
			add(l.id, "CONNECT SQL", 'G')
		}
		for _, name := range slices.Sorted(maps.Keys(l.perms)) {
			add(l.id, name, l.perms[name])
		}
		l.mu.RUnlock()
	}
	return r
}

// sqlLogins is Microsoft: sys.sql_logins (Transact-SQL), without the hashes of passwords.
func sqlLogins(s *Session, db *Database) *tsql.Rows {
	r := serverPrincipals(s, db)
	r.Cols = append(r.Cols[:10:10], ncol("is_policy_checked", bit), ncol("is_expiration_checked", bit))
	var logins []sqltype.Row
	for _, row := range r.Data {
		if row[3].Str() != "S" {
			continue
		}
		l := s.srv.Login(row[0].Str())
		policy := l != nil && l.checked()
		logins = append(logins, append(row[:10:10], flag(policy), flag(false)))
	}
	r.Data = logins
	return r
}

func (l *Login) checked() bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.policy
}

// securityProcedures are the older ways to change memberships.
var securityProcedures = map[string]procedure{
	"sp_addrolemember": {[]tsql.Param{need("@rolename", sysname), need("@membername", sysname)}, func(s *Session, _ *Database, a args) (*tsql.Rows, error) {
		return nil, s.Member(a.str("@rolename"), a.str("@membername"), true)
	}},
	"sp_droprolemember": {[]tsql.Param{need("@rolename", sysname), need("@membername", sysname)}, func(s *Session, _ *Database, a args) (*tsql.Rows, error) {
		return nil, s.Member(a.str("@rolename"), a.str("@membername"), false)
	}},
	"sp_addsrvrolemember": {[]tsql.Param{need("@loginame", sysname), need("@rolename", sysname)}, func(s *Session, _ *Database, a args) (*tsql.Rows, error) {
		return nil, s.ServerMember(a.str("@rolename"), a.str("@loginame"), true)
	}},
	"sp_dropsrvrolemember": {[]tsql.Param{need("@loginame", sysname), need("@rolename", sysname)}, func(s *Session, _ *Database, a args) (*tsql.Rows, error) {
		return nil, s.ServerMember(a.str("@rolename"), a.str("@loginame"), false)
	}},
}
