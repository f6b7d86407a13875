package cdc

import (
	"strconv"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// acting is who a session acts as after EXECUTE AS: a login, or a user of one database.
type acting struct {
	login *Login // of the user; nil when it has none
	user  *principal
	db    *Database // of the user
	stuck bool      // WITH NO REVERT
}

// now gives who the session acts as.
func (s *Session) now() acting {
	if n := len(s.as); n > 0 {
		return s.as[n-1]
	}
	return acting{login: s.login}
}

// admin tells whether the session may do everything.
func (s *Session) admin() bool {
	a := s.now()
	return a.user == nil && a.login.admin()
}

// user gives who the session is in a database; nil when it may not be there.
func (s *Session) user(db *Database) *principal {
	a := s.now()
	switch {
	case a.user == nil:
		return db.sec.user(a.login, db)
	case a.db == db:
		return a.user
	}
	return nil // a user of one database is nobody in another (Microsoft: EXECUTE AS (Transact-SQL))
}

// dbo tells whether the session may do everything in a database, as members of db_owner may.
func (s *Session) dbo(db *Database) bool {
	if s.admin() {
		return true
	}
	u := s.user(db)
	return u != nil && (u.id == dboID || db.sec.member(u, "db_owner", db))
}

// serverCan tells whether the session has a permission on the server.
func (s *Session) serverCan(permission string) bool {
	a := s.now()
	if a.user != nil {
		return false
	}
	if a.login.admin() {
		return true
	}
	a.login.mu.RLock()
	defer a.login.mu.RUnlock()
	switch a.login.perms[permission] {
	case 'D':
		return false
	case 'G', 'W':
		return true
	}
	if a.login.perms["CONTROL SERVER"] == 'G' || a.login.perms["CONTROL SERVER"] == 'W' {
		return true
	}
	switch permission {
	case "CONNECT SQL", "VIEW ANY DATABASE": // of public
		return true
	case "ALTER ANY LOGIN":
		return a.login.server["securityadmin"]
	case "CREATE ANY DATABASE":
		return a.login.server["dbcreator"] || a.login.perms["ALTER ANY DATABASE"] == 'G'
	case "ALTER ANY DATABASE":
		return a.login.server["dbcreator"]
	case "VIEW SERVER STATE", "ALTER SERVER STATE":
		return a.login.server["serveradmin"]
	}
	return false
}

// defaultSchema is where names without a schema are looked for first.
func (s *Session) defaultSchema(db *Database) string {
	u := s.user(db)
	db.sec.mu.RLock()
	defer db.sec.mu.RUnlock()
	if u != nil && u.schema != "" {
		return u.schema
	}
	return "dbo"
}

// ExecuteAs is EXECUTE AS (Microsoft: EXECUTE AS (Transact-SQL)).
func (s *Session) ExecuteAs(c tsql.Context) error {
	if c.Login {
		l := s.srv.Login(c.Name)
		if l == nil || !s.admin() && l != s.now().login {
			return sqltype.Errorf(15406, "Cannot execute as the server principal because the principal \"%s\" does not exist, this type of principal cannot be impersonated, or you do not have permission.", c.Name)
		}
		if !l.mayUse(s.db) {
			return sqltype.Errorf(916, "The server principal \"%s\" is not able to access the database \"%s\" under the current security context.", l.Name(), s.db.Name)
		}
		s.as = append(s.as, acting{login: l, stuck: c.NoRevert})
		return nil
	}
	db := s.db
	me, owner := s.user(db), s.dbo(db)
	db.sec.mu.RLock()
	u := db.sec.named(c.Name)
	allowed := owner || u == me
	if u != nil && me != nil && !allowed {
		var a access
		db.sec.evaluate(db.sec.all(me, db), "IMPERSONATE", &securable{class: classPrincipal, id: u.id}, &a)
		allowed = a.whole
	}
	db.sec.mu.RUnlock()
	if u == nil && owner { // a login that has a user everywhere but was never here
		if l := s.srv.Login(c.Name); l != nil && l.implicit && l.mayUse(db) {
			u = db.sec.user(l, db)
		}
	}
	if u == nil || u.role || !allowed || u.id == 3 || u.id == 4 {
		return sqltype.Errorf(15517, "Cannot execute as the database principal because the principal \"%s\" does not exist, this type of principal cannot be impersonated, or you do not have permission.", c.Name)
	}
	s.as = append(s.as, acting{login: u.login, user: u, db: db, stuck: c.NoRevert})
	return nil
}

// Revert goes back to who the session was before the last EXECUTE AS; without one it does nothing.
func (s *Session) Revert() error {
	n := len(s.as)
	if n == 0 || s.as[n-1].stuck {
		return nil
	}
	if db := s.as[n-1].db; db != nil && db != s.db {
		return sqltype.Errorf(15590, "Can only revert the execution context in the database in which it was set.")
	}
	s.as = s.as[:n-1]
	return nil
}

// who names the session as a login, for SUSER_SNAME and messages.
func (s *Session) who() string {
	a := s.now()
	switch {
	case a.login != nil:
		return a.login.Name()
	case a.user != nil:
		return "S-1-9-3-" + strconv.Itoa(int(a.user.id)) // a user without a login is known by its security identifier
	}
	return ""
}

// identityOf answers the functions that tell who somebody is, and what they are a member of.
func (s *Session) identityOf(name string, a []sqltype.Value, arg func(int) sqltype.Value) (sqltype.Value, sqltype.Type, bool) {
	db := s.db
	me := s.user(db)
	number := func(v sqltype.Value) int32 {
		w, err := sqltype.Convert(v, sysname, integer, 0)
		if err != nil || w.IsNull() {
			return -1
		}
		return int32(w.Int())
	}
	switch name {
	case "ORIGINAL_LOGIN":
		if s.srv.Version == Azure { // Microsoft: ORIGINAL_LOGIN (Transact-SQL)
			return null, sysname, true
		}
		return text(s.login.Name()), sysname, true
	case "SUSER_SNAME", "SUSER_NAME", "SYSTEM_USER", "SYSTEMUSER":
		if len(a) == 0 {
			return text(s.who()), sysname, true
		}
		for _, l := range s.srv.allLogins() {
			if name == "SUSER_NAME" && l.id == number(arg(0)) || name == "SUSER_SNAME" && l.sid == arg(0).Str() {
				return text(l.Name()), sysname, true
			}
		}
		return null, sysname, true
	case "SUSER_ID", "SUSER_SID":
		l := s.now().login
		if len(a) > 0 {
			l = s.srv.Login(arg(0).Str())
		}
		if l == nil {
			return null, integer, true
		}
		if name == "SUSER_ID" {
			return num(int64(l.id)), integer, true
		}
		return sqltype.FromBytes(l.sid), sidType, true
	case "USER_NAME", "CURRENT_USER", "SESSION_USER", "USER", "CURRENTUSER", "SESSIONUSER":
		if len(a) == 0 {
			if me == nil {
				return null, sysname, true
			}
			return text(db.sec.nameOf(me)), sysname, true
		}
		if p := db.sec.find(func(p *principal) bool { return p.id == number(arg(0)) }); p != nil {
			return text(db.sec.nameOf(p)), sysname, true
		}
		return null, sysname, true
	case "USER_ID", "DATABASE_PRINCIPAL_ID":
		p := me
		if len(a) > 0 {
			p = db.sec.find(func(p *principal) bool { return sqltype.EqualName(p.name, arg(0).Str()) })
		}
		if p == nil {
			return null, integer, true
		}
		return num(int64(p.id)), integer, true
	case "IS_MEMBER":
		return s.isMember(me, arg(0).Str()), integer, true
	case "IS_ROLEMEMBER":
		u := me
		if len(a) > 1 {
			u = db.sec.find(func(p *principal) bool { return sqltype.EqualName(p.name, arg(1).Str()) })
		}
		return s.isMember(u, arg(0).Str()), integer, true
	case "IS_SRVROLEMEMBER":
		l := s.now().login
		if len(a) > 1 {
			l = s.srv.Login(arg(1).Str())
		}
		role := lower(arg(0).Str())
		if l == nil || !serverRole(role) {
			return null, integer, true
		}
		return flag01(role == "public" || l.inServerRole(role)), integer, true
	case "HAS_DBACCESS":
		d := s.srv.Find(arg(0).Str())
		if d == nil {
			return null, integer, true
		}
		return flag01(s.reaches(d)), integer, true
	}
	return null, sqltype.Type{}, false
}

var sidType = sqltype.Bin(sqltype.VarBinary, 85)

func flag01(on bool) sqltype.Value {
	if on {
		return num(1)
	}
	return num(0)
}

// isMember is 1 for members, 0 for others, NULL for what is no role. A member of sysadmin is dbo, who is in every fixed
// role's place but a member of db_owner only (Microsoft: IS_MEMBER (Transact-SQL)).
func (s *Session) isMember(u *principal, role string) sqltype.Value {
	r := s.db.sec.find(func(p *principal) bool { return p.role && sqltype.EqualName(p.name, role) })
	if r == nil || u == nil {
		return null
	}
	if u.id == dboID {
		return flag01(r.id == publicID || r.name == "db_owner" || s.db.sec.member(u, role, s.db))
	}
	return flag01(s.db.sec.member(u, role, s.db))
}

// reaches tells whether the session may come into a database.
func (s *Session) reaches(db *Database) bool {
	a := s.now()
	if a.user != nil {
		return a.db == db
	}
	return a.login.mayUse(db)
}

// nameOf gives the name of a principal, which ALTER may change.
func (s *security) nameOf(p *principal) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return p.name
}

// find gives the first principal that fn holds for.
func (s *security) find(fn func(*principal) bool) *principal {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, p := range s.principals {
		if fn(p) {
			return p
		}
	}
	return nil
}
