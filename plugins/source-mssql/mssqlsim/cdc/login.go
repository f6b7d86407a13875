package cdc

import (
	"fmt"
	"strings"
	"sync"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// Login is a SQL Server login with a user of the same name in the databases it may use.
type Login struct {
	Name     string
	Admin    bool // sysadmin
	password string
	mu       sync.RWMutex
	grants   map[string]map[string]bool // "db.schema.object" to columns; nil is the whole object
	roles    map[string]bool            // "db.role"
	dbs      map[string]bool            // nil is all
}

// AddLogin makes a login. An admin may do everything; another starts with no permission but to connect to any database.
func (s *Server) AddLogin(name, password string, admin bool) *Login {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := &Login{Name: name, Admin: admin, password: password, grants: map[string]map[string]bool{}, roles: map[string]bool{}}
	s.logins[lower(name)] = l
	return l
}

// Login finds a login, nil when there is none.
func (s *Server) Login(name string) *Login {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.logins[lower(name)]
}

func (s *Server) authenticate(user, password string) (*Login, error) {
	if l := s.Login(user); l != nil && l.password == password {
		return l, nil
	}
	return nil, loginFailed(user)
}

func loginFailed(user string) error {
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

// Revoke takes SELECT away.
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

func (l *Login) mayUse(db *Database) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.Admin || l.dbs == nil || l.dbs[lower(db.Name)]
}

// may tells whether the login has SELECT on an object, or on which of its columns.
func (l *Login) may(db *Database, object string) (whole bool, columns map[string]bool) {
	if l.Admin {
		return true, nil
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	cols, ok := l.grants[grantKey(db.Name, object)]
	return ok && cols == nil, cols
}

// mayInstance tells whether the CDC procedures and functions show an instance: SELECT on all captured columns, and
// the gating role if there is one (Microsoft: sys.sp_cdc_help_change_data_capture, Permissions).
func (l *Login) mayInstance(in *Instance) bool {
	if l.Admin {
		return true
	}
	db := in.table.db
	whole, cols := l.may(db, in.table.FullName())
	if !whole {
		for _, c := range in.captured {
			if !cols[lower(c.name)] {
				return false
			}
		}
	}
	if in.Role == "" {
		return true
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.roles[lower(db.Name+"."+in.Role)]
}
