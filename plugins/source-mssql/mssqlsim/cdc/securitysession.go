package cdc

import (
	"sort"
	"strings"
	"unicode"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// serverRoles are the fixed roles of the server, in the order of their ids from 3 (Microsoft: Server-level roles).
var serverRoles = []string{"sysadmin", "securityadmin", "serveradmin", "setupadmin", "processadmin", "diskadmin", "dbcreator", "bulkadmin"}

func serverRole(name string) bool { return name == "public" || named(serverRoles, name) }

// allLogins lists the logins by id.
func (s *Server) allLogins() (out []*Login) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, l := range s.logins {
		out = append(out, l)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].id < out[j].id })
	return out
}

// strong checks a password against the policy of a Windows or Linux host, unless CHECK_POLICY is off (Microsoft:
// Password policy): eight characters of three kinds, without the name of the login.
func strong(l *tsql.LoginDef) error {
	kinds := map[string]bool{}
	for _, r := range l.Password {
		switch {
		case unicode.IsUpper(r):
			kinds["upper"] = true
		case unicode.IsLower(r):
			kinds["lower"] = true
		case unicode.IsDigit(r):
			kinds["digit"] = true
		default:
			kinds["other"] = true
		}
	}
	switch {
	case len([]rune(l.Password)) < 8:
		return sqltype.Errorf(15116, "Password validation failed. The password does not meet the operating system policy requirements because it is too short.")
	case len(kinds) < 3 || strings.Contains(lower(l.Password), lower(l.Name)):
		return sqltype.Errorf(15118, "Password validation failed. The password does not meet the operating system policy requirements because it is not complex enough.")
	}
	return nil
}

func notAllowed() error {
	return sqltype.Errorf(15247, "User does not have permission to perform this action.")
}

// CreateLogin is CREATE LOGIN (Microsoft: CREATE LOGIN (Transact-SQL)).
func (s *Session) CreateLogin(d tsql.LoginDef) error {
	if !s.serverCan("ALTER ANY LOGIN") {
		return notAllowed()
	}
	if d.Policy {
		if err := strong(&d); err != nil {
			return err
		}
	}
	if d.DefaultDatabase != "" && s.srv.Find(d.DefaultDatabase) == nil {
		return sqltype.Errorf(15010, "The database '%s' does not exist. Supply a valid database name. To see available databases, use sys.databases.", d.DefaultDatabase)
	}
	s.srv.mu.Lock()
	defer s.srv.mu.Unlock()
	if s.srv.logins[lower(d.Name)] != nil || serverRole(lower(d.Name)) {
		return sqltype.Errorf(15025, "The server principal '%s' already exists.", d.Name)
	}
	l := s.srv.newLogin(d.Name, d.Password)
	l.policy = d.Policy
	if d.DefaultDatabase != "" {
		l.database = d.DefaultDatabase
	}
	if d.SID != "" {
		l.sid = d.SID
	}
	s.srv.logins[lower(d.Name)] = l
	return nil
}

// AlterLogin is ALTER LOGIN. A login may change its own password when it gives the old one.
func (s *Session) AlterLogin(name string, c tsql.LoginChange) error {
	l := s.srv.Login(name)
	own := l != nil && l == s.now().login && c.Old != nil && c.Name == "" && c.Enabled == nil
	if l == nil || !own && !s.serverCan("ALTER ANY LOGIN") || l.admin() && !s.admin() {
		return sqltype.Errorf(15151, "Cannot alter the login '%s', because it does not exist or you do not have permission.", name)
	}
	if c.DefaultDatabase != "" && s.srv.Find(c.DefaultDatabase) == nil {
		return sqltype.Errorf(15010, "The database '%s' does not exist. Supply a valid database name. To see available databases, use sys.databases.", c.DefaultDatabase)
	}
	s.srv.mu.Lock()
	defer s.srv.mu.Unlock()
	if c.Name != "" && !sqltype.EqualName(c.Name, name) && s.srv.logins[lower(c.Name)] != nil {
		return sqltype.Errorf(15025, "The server principal '%s' already exists.", c.Name)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.Policy != nil {
		l.policy = *c.Policy
	}
	if c.Password != "" {
		if c.Old != nil && *c.Old != l.password {
			return sqltype.Errorf(15151, "Cannot alter the login '%s', because it does not exist or you do not have permission.", name)
		}
		if l.policy {
			if err := strong(&tsql.LoginDef{Name: l.name, Password: c.Password}); err != nil {
				return err
			}
		}
		l.password = c.Password
	}
	if c.DefaultDatabase != "" {
		l.database = c.DefaultDatabase
	}
	if c.Enabled != nil {
		l.disabled = !*c.Enabled
	}
	if c.Name != "" {
		delete(s.srv.logins, lower(l.name))
		l.name = c.Name
		s.srv.logins[lower(l.name)] = l
	}
	return nil
}

// DropLogin is DROP LOGIN. Users of the login stay, without it.
func (s *Session) DropLogin(name string, ifExists bool) error {
	l := s.srv.Login(name)
	if l == nil && ifExists {
		return nil
	}
	if l == nil || !s.serverCan("ALTER ANY LOGIN") || l.admin() && !s.admin() {
		return sqltype.Errorf(15151, "Cannot drop the login '%s', because it does not exist or you do not have permission.", name)
	}
	s.srv.mu.Lock()
	defer s.srv.mu.Unlock()
	if s.srv.sessions[l] > 0 {
		return sqltype.Errorf(15434, "Could not drop login '%s' as the user is currently logged in.", name)
	}
	delete(s.srv.logins, lower(name))
	return nil
}

// ServerMember is ALTER SERVER ROLE ... ADD or DROP MEMBER.
func (s *Session) ServerMember(role, login string, in bool) error {
	if !serverRole(lower(role)) || lower(role) == "public" {
		return sqltype.Errorf(15151, "Cannot alter the server role '%s', because it does not exist or you do not have permission.", role)
	}
	if !s.admin() && !(s.now().user == nil && s.now().login.inServerRole(lower(role))) {
		return sqltype.Errorf(15151, "Cannot alter the server role '%s', because it does not exist or you do not have permission.", role)
	}
	l := s.srv.Login(login)
	if l == nil {
		return sqltype.Errorf(15151, "Cannot add the principal '%s', because it does not exist or you do not have permission.", login)
	}
	if !in && l.id == 1 {
		return sqltype.Errorf(15405, "Cannot use the special principal '%s'.", login)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.server[lower(role)] = in
	return nil
}

// CreateUser is CREATE USER in the current database.
func (s *Session) CreateUser(d tsql.UserDef) error {
	db := s.db
	if !s.can(db, "ALTER ANY USER", wholeDatabase) {
		return notAllowed()
	}
	var l *Login
	if !d.NoLogin {
		if l = s.srv.Login(d.Login); l == nil {
			return sqltype.Errorf(15007, "'%s' is not a valid login or you do not have permission.", d.Login)
		}
	}
	db.sec.mu.Lock()
	defer db.sec.mu.Unlock()
	if o := db.sec.named(d.Name); o != nil {
		return sqltype.Errorf(15023, "User, group, or role '%s' already exists in the current database.", d.Name)
	}
	for _, p := range db.sec.principals {
		if l != nil && p.login == l || l != nil && l.id == 1 {
			return sqltype.Errorf(15063, "The login already has an account under a different user name.")
		}
	}
	p := &principal{name: d.Name, login: l, schema: "dbo", created: db.localNow()}
	if d.DefaultSchema != "" {
		p.schema = d.DefaultSchema
	}
	if l != nil {
		p.sid = l.sid
	} else {
		g := newGUID()
		p.sid = "\x01\x05\x00\x00\x00\x00\x00\x09\x03\x00\x00\x00" + string(g[:])
	}
	db.sec.add(p)
	return nil
}

// changing finds a principal that a statement changes or drops.
func (s *security) changing(verb, what, name string, role bool) (*principal, error) {
	p := s.named(name)
	if p == nil || p.role != role {
		return nil, sqltype.Errorf(15151, "Cannot %s the %s '%s', because it does not exist or you do not have permission.", verb, what, name)
	}
	if p.fixed && (verb == "drop" || !p.role) {
		return nil, sqltype.Errorf(15150, "Cannot %s the %s '%s'.", verb, what, p.name)
	}
	return p, nil
}

// AlterUser is ALTER USER.
func (s *Session) AlterUser(name string, c tsql.UserDef) error {
	db := s.db
	var l *Login
	if c.Login != "" {
		if l = s.srv.Login(c.Login); l == nil {
			return sqltype.Errorf(15007, "'%s' is not a valid login or you do not have permission.", c.Login)
		}
	}
	if !s.can(db, "ALTER ANY USER", wholeDatabase) {
		return sqltype.Errorf(15151, "Cannot alter the user '%s', because it does not exist or you do not have permission.", name)
	}
	db.sec.mu.Lock()
	defer db.sec.mu.Unlock()
	p, err := db.sec.changing("alter", "user", name, false)
	if err != nil {
		return err
	}
	if c.Name != "" && !sqltype.EqualName(c.Name, name) && db.sec.named(c.Name) != nil {
		return sqltype.Errorf(15023, "User, group, or role '%s' already exists in the current database.", c.Name)
	}
	if l != nil {
		for _, o := range db.sec.principals {
			if o != p && o.login == l {
				return sqltype.Errorf(15063, "The login already has an account under a different user name.")
			}
		}
		p.login, p.sid = l, l.sid
	}
	if c.Name != "" {
		p.name = c.Name
	}
	if c.DefaultSchema != "" {
		p.schema = c.DefaultSchema
	}
	return nil
}

// DropUser is DROP USER.
func (s *Session) DropUser(name string, ifExists bool) error {
	return s.dropPrincipal("user", "ALTER ANY USER", name, false, ifExists)
}

// DropRole is DROP ROLE.
func (s *Session) DropRole(name string, ifExists bool) error {
	return s.dropPrincipal("role", "ALTER ANY ROLE", name, true, ifExists)
}

func (s *Session) dropPrincipal(what, permission, name string, role, ifExists bool) error {
	db := s.db
	may := s.can(db, permission, wholeDatabase)
	db.sec.mu.Lock()
	defer db.sec.mu.Unlock()
	if ifExists && db.sec.named(name) == nil {
		return nil
	}
	if !may {
		return sqltype.Errorf(15151, "Cannot drop the %s '%s', because it does not exist or you do not have permission.", what, name)
	}
	p, err := db.sec.changing("drop", what, name, role)
	if err != nil {
		return err
	}
	if role && len(p.members) > 0 {
		return sqltype.Errorf(15144, "The role has members. It must be empty before it can be dropped.")
	}
	for _, o := range db.sec.owners {
		if o == p {
			return sqltype.Errorf(15138, "The database principal owns a schema in the database, and cannot be dropped.")
		}
	}
	db.sec.remove(p)
	return nil
}

// CreateRole is CREATE ROLE.
func (s *Session) CreateRole(name, owner string) error {
	db := s.db
	if !s.can(db, "CREATE ROLE", wholeDatabase) {
		return missing("CREATE ROLE", db.Name)
	}
	db.sec.mu.Lock()
	defer db.sec.mu.Unlock()
	if owner != "" && db.sec.named(owner) == nil {
		return notFound("user", owner)
	}
	if db.sec.named(name) != nil {
		return sqltype.Errorf(15023, "User, group, or role '%s' already exists in the current database.", name)
	}
	db.sec.add(&principal{name: name, role: true, created: db.localNow()})
	return nil
}

// RenameRole is ALTER ROLE ... WITH NAME.
func (s *Session) RenameRole(name, to string) error {
	db := s.db
	may := s.can(db, "ALTER ANY ROLE", wholeDatabase)
	db.sec.mu.Lock()
	defer db.sec.mu.Unlock()
	p, err := db.sec.changing("alter", "role", name, true)
	if err != nil {
		return err
	}
	if !may || p.fixed {
		return sqltype.Errorf(15151, "Cannot alter the role '%s', because it does not exist or you do not have permission.", name)
	}
	if db.sec.named(to) != nil {
		return sqltype.Errorf(15023, "User, group, or role '%s' already exists in the current database.", to)
	}
	p.name = to
	return nil
}

// Member is ALTER ROLE ... ADD or DROP MEMBER. Members of db_owner alone change fixed roles.
func (s *Session) Member(role, member string, in bool) error {
	db := s.db
	may, owner := s.can(db, "ALTER ANY ROLE", wholeDatabase), s.dbo(db)
	if l := s.srv.Login(member); l != nil && l.implicit && l.mayUse(db) { // it has a user, if not yet
		_ = db.sec.user(l, db)
	}
	db.sec.mu.Lock()
	defer db.sec.mu.Unlock()
	r := db.sec.named(role)
	if r == nil || !r.role || r.id == publicID || !may || r.fixed && !owner {
		return sqltype.Errorf(15151, "Cannot alter the role '%s', because it does not exist or you do not have permission.", role)
	}
	m := db.sec.named(member)
	verb := map[bool]string{true: "add", false: "drop"}[in]
	switch {
	case m == nil:
		return sqltype.Errorf(15151, "Cannot %s the principal '%s', because it does not exist or you do not have permission.", verb, member)
	case m.fixed:
		return sqltype.Errorf(15405, "Cannot use the special principal '%s'.", m.name)
	case in && (m == r || m.role && db.sec.all(r, db)[m]):
		return sqltype.Errorf(15413, "Cannot make a role a member of itself.")
	case in:
		r.members[m] = true
	default:
		delete(r.members, m)
	}
	return nil
}

// count keeps the number of sessions of a login.
func (s *Server) count(l *Login, by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions == nil {
		s.sessions = map[*Login]int{}
	}
	s.sessions[l] += by
}
