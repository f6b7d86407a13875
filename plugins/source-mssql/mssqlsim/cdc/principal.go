package cdc

import (
	"sync"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// security is what a database knows of users, roles and permissions. Its lock is taken last, under the database's and
// the server's, for sessions ask it while they hold either.
type security struct {
	mu         sync.RWMutex
	principals []*principal
	perms      []*permission
	owners     map[string]*principal // of schemas, when it is not dbo
	nextID     int32
}

// principal is a user or a role of a database. Its fields are guarded by the security's lock.
type principal struct {
	id      int32
	name    string
	role    bool
	fixed   bool
	login   *Login // of a user that has one
	sid     string
	schema  string // default schema
	created int64
	members map[*principal]bool // of a role
}

// fixedRoles are the roles that every database has, with their ids (Microsoft: Database-level roles).
var fixedRoles = []struct {
	name string
	id   int32
}{{"db_owner", 16384}, {"db_accessadmin", 16385}, {"db_securityadmin", 16386}, {"db_ddladmin", 16387}, {"db_backupoperator", 16389}, {"db_datareader", 16390}, {"db_datawriter", 16391},
	{"db_denydatareader", 16392}, {"db_denydatawriter", 16393}}

// The principals that a database is made with, and their ids (Microsoft: sys.database_principals (Transact-SQL)).
const (
	publicID = 0
	dboID    = 1
	guestID  = 2
)

func newSecurity(created int64) *security {
	s := &security{owners: map[string]*principal{}, nextID: 5}
	add := func(p *principal) {
		p.fixed, p.created = true, created
		if p.role {
			p.members = map[*principal]bool{}
		}
		s.principals = append(s.principals, p)
	}
	add(&principal{id: publicID, name: "public", role: true})
	add(&principal{id: dboID, name: "dbo", sid: "\x01", schema: "dbo"})
	add(&principal{id: guestID, name: "guest", schema: "guest"})
	add(&principal{id: 3, name: "INFORMATION_SCHEMA"})
	add(&principal{id: 4, name: "sys"})
	for _, r := range fixedRoles {
		add(&principal{id: r.id, name: r.name, role: true})
	}
	return s
}

// named finds a principal. The lock is held.
func (s *security) named(name string) *principal {
	for _, p := range s.principals {
		if sqltype.EqualName(p.name, name) {
			return p
		}
	}
	return nil
}

func (s *security) byID(id int32) *principal {
	for _, p := range s.principals {
		if p.id == id {
			return p
		}
	}
	return nil
}

// ofLogin finds the user of a login, nil when it has none.
func (s *security) ofLogin(l *Login) *principal {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, p := range s.principals {
		if p.login == l {
			return p
		}
	}
	return nil
}

// user gives who a login is in the database: dbo for an admin; its user, which an implicit login gets when it is first
// asked for; guest.
func (s *security) user(l *Login, db *Database) *principal {
	if l.admin() {
		s.mu.RLock()
		defer s.mu.RUnlock()
		return s.byID(dboID)
	}
	if p := s.ofLogin(l); p != nil {
		return p
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !l.implicit {
		return s.byID(guestID)
	}
	for _, p := range s.principals { // another session was first
		if p.login == l {
			return p
		}
	}
	name := l.Name()
	if s.named(name) != nil {
		return s.byID(guestID)
	}
	return s.add(&principal{name: name, login: l, sid: l.sid, schema: "dbo", created: db.localNow()})
}

// add gives a new principal its id; a user may connect (Microsoft: CREATE USER (Transact-SQL)). The lock is held.
func (s *security) add(p *principal) *principal {
	p.id = s.nextID
	s.nextID++
	if p.role {
		p.members = map[*principal]bool{}
	} else {
		s.perms = append(s.perms, &permission{class: classDatabase, grantee: p, name: "CONNECT", state: 'G'})
	}
	s.principals = append(s.principals, p)
	return p
}

// remove takes a principal away, with its memberships and permissions. The lock is held.
func (s *security) remove(p *principal) {
	var rest []*principal
	for _, o := range s.principals {
		delete(o.members, p)
		if o != p {
			rest = append(rest, o)
		}
	}
	s.principals = rest
	s.drop(func(g *permission) bool { return g.grantee == p || g.class == classPrincipal && g.major == p.id })
}

// ensureRole gives the role of a name and makes it when there is none, as the gating role of a capture instance.
func (s *security) ensureRole(name string, created int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.named(name) == nil {
		s.add(&principal{name: name, role: true, created: created})
	}
}

// captureUser makes the user of change data capture, who owns the schema cdc and is in db_owner
// (Microsoft: sys.sp_cdc_enable_db; Known issues and errors with CDC). It is false when there is somebody of that name.
func (s *security) captureUser(created int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.named("cdc") != nil {
		return false
	}
	p := s.add(&principal{name: "cdc", schema: "cdc", created: created})
	s.named("db_owner").members[p] = true
	s.owners["cdc"] = p
	return true
}

// dropCaptureUser takes the user of change data capture away, with the permissions on its schema.
func (s *security) dropCaptureUser() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.named("cdc"); p != nil {
		s.remove(p)
	}
	delete(s.owners, "cdc")
	s.drop(func(g *permission) bool { return g.class == classSchema && sqltype.EqualName(g.schema, "cdc") })
}

// all gives the principals whose permissions a user has: itself, public and the roles it is in, directly or through
// other roles. The lock is held.
func (s *security) all(u *principal, db *Database) map[*principal]bool {
	out := map[*principal]bool{u: true, s.byID(publicID): true}
	if u.login != nil {
		u.login.mu.RLock()
		for _, p := range s.principals {
			if p.role && u.login.roles[lower(db.Name+"."+p.name)] {
				out[p] = true
			}
		}
		u.login.mu.RUnlock()
	}
	for more := true; more; {
		more = false
		for _, r := range s.principals {
			if !r.role || out[r] {
				continue
			}
			for m := range r.members {
				if out[m] {
					out[r], more = true, true
					break
				}
			}
		}
	}
	return out
}

// member tells whether a user is in a role, by name; implicit logins may be in roles that nobody made.
func (s *security) member(u *principal, role string, db *Database) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if u == nil {
		return false
	}
	if sqltype.EqualName(role, "public") {
		return true
	}
	if u.login != nil {
		u.login.mu.RLock()
		in := u.login.roles[lower(db.Name+"."+role)]
		u.login.mu.RUnlock()
		if in {
			return true
		}
	}
	r := s.named(role)
	return r != nil && r.role && s.all(u, db)[r] && r != u
}
