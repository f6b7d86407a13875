package cdc

import (
	"fmt"
	"strings"
	"sync"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// Login is a SQL Server login. One made with AddLogin has a user of the same name in every database it may use, and the
// grants that it is given in Go hold by name, whether or not the object is there; one made by CREATE LOGIN needs a
// CREATE USER in each database.
type Login struct {
	mu       sync.RWMutex
	name     string
	id       int32
	sid      string
	password string
	disabled bool
	policy   bool
	database string // default database
	created  int64
	server   map[string]bool            // fixed server roles
	perms    map[string]byte            // permissions of the server: 'G', 'W' (with grant option) or 'D'
	implicit bool                       // made with AddLogin
	grants   map[string]map[string]bool // "db.schema.object" to columns; nil is the whole object
	roles    map[string]bool            // "db.role"
	dbs      map[string]bool            // of an implicit login; nil is all
}

// AddLogin makes a login. An admin may do everything; another starts with no permission but to connect to any database.
func (s *Server) AddLogin(name, password string, admin bool) *Login {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.newLogin(name, password)
	l.implicit = true
	if admin {
		l.server["sysadmin"] = true
	}
	s.logins[lower(name)] = l
	return l
}

// newLogin gives a login that is not yet one of the server's. s.mu is held.
func (s *Server) newLogin(name, password string) *Login {
	g := newGUID()
	l := &Login{name: name, password: password, sid: string(g[:]), id: firstLoginID + int32(len(s.logins)), policy: true, database: "master", created: sqltype.DateTimeTicks(s.local(s.clock.Now())),
		server: map[string]bool{}, perms: map[string]byte{}, grants: map[string]map[string]bool{}, roles: map[string]bool{}}
	if sqltype.EqualName(name, "sa") {
		l.id, l.sid = 1, "\x01"
	}
	for _, o := range s.logins {
		l.id = max(l.id, o.id+1)
	}
	return l
}

// firstLoginID is where principal_id of logins begins.
const firstLoginID = 260

// Login finds a login, nil when there is none.
func (s *Server) Login(name string) *Login {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.logins[lower(name)]
}

// Name gives the login's name.
func (l *Login) Name() string {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.name
}

// admin tells whether the login is a member of sysadmin.
func (l *Login) admin() bool { return l.inServerRole("sysadmin") }

func (l *Login) inServerRole(role string) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.server[role]
}

// authenticate checks a password. A client is told the same for every reason, with state 1; only the server's log has
// the state that tells them apart (Microsoft: MSSQLSERVER error 18456). A login that is disabled is told so, when the
// password is right (Microsoft: MSSQLSERVER error 18470 in sys.messages).
func (s *Server) authenticate(user, password string) (*Login, error) {
	l := s.Login(user)
	if l == nil {
		return nil, loginFailed(user)
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	switch {
	case l.password != password || l.perms["CONNECT SQL"] == 'D':
		return nil, loginFailed(user)
	case l.disabled:
		return nil, &sqltype.Error{Number: 18470, State: 1, Class: 14, Message: fmt.Sprintf("Login failed for user '%s'. Reason: The account is disabled.", user)}
	}
	return l, nil
}

func loginFailed(user string) *sqltype.Error {
	return &sqltype.Error{Number: 18456, State: 1, Class: 14, Message: fmt.Sprintf("Login failed for user '%s'.", user)}
}

func grantKey(db, object string) string {
	if !strings.Contains(object, ".") {
		object = "dbo." + object
	}
	return lower(db + "." + object)
}

// Grant gives SELECT on a table or change table ("dbo.orders", "cdc.dbo_orders_CT"), or on columns of it.
func (l *Login) Grant(db, object string, columns ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := grantKey(db, object)
	if len(columns) == 0 {
		l.grants[k] = nil
		return
	}
	m := map[string]bool{}
	for _, c := range columns {
		m[lower(c)] = true
	}
	l.grants[k] = m
}

// Revoke takes SELECT away that Grant gave.
func (l *Login) Revoke(db, object string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.grants, grantKey(db, object))
}

// JoinRole makes the login a member of a database role, such as the gating role of a capture instance.
func (l *Login) JoinRole(db, role string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.roles[lower(db+"."+role)] = true
}

// OnlyDatabases limits the databases the login may open.
func (l *Login) OnlyDatabases(names ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dbs = map[string]bool{"master": true}
	for _, n := range names {
		l.dbs[lower(n)] = true
	}
}

// granted tells what Grant gave on an object.
func (l *Login) granted(db, object string) (whole bool, columns map[string]bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	cols, ok := l.grants[grantKey(db, object)]
	return ok && cols == nil, cols
}

// mayUse tells whether the login may open a database: it has a user there that may connect, or the database has the
// user guest enabled, as the system databases have.
func (l *Login) mayUse(db *Database) bool {
	if l.admin() || systemDatabase(db.Name) && db.Name != model { // guests may enter all others
		return true
	}
	if u := db.sec.ofLogin(l); u != nil {
		return db.sec.mayConnect(u)
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.implicit && (l.dbs == nil || l.dbs[lower(db.Name)])
}
