package tsql

// SecuritySession is what a session does about principals and their permissions.
type SecuritySession interface {
	CreateLogin(l LoginDef) error
	AlterLogin(name string, c LoginChange) error
	DropLogin(name string, ifExists bool) error
	CreateUser(u UserDef) error
	AlterUser(name string, c UserDef) error
	DropUser(name string, ifExists bool) error
	CreateRole(name, owner string) error
	RenameRole(name, to string) error
	DropRole(name string, ifExists bool) error
	// Member makes a principal a member of a database role, or takes it out.
	Member(role, member string, in bool) error
	// ServerMember does so for a login and a fixed server role.
	ServerMember(role, login string, in bool) error
	// Permit is GRANT, DENY or REVOKE.
	Permit(p Permit) error
	// Secure runs a statement of those above, so that a transaction can undo it.
	Secure(change func() error) error
	// ExecuteAs changes who the session acts as; Revert brings it back.
	ExecuteAs(c Context) error
	Revert() error
	// Guard tells whether the session may do something to a relation that it found; columns are those of the relation
	// that are read or written, nil when it is about the relation only.
	Guard(rel Relation, permission string, columns []int) error
}

// LoginDef is a CREATE LOGIN with a password.
type LoginDef struct {
	Name, Password  string
	DefaultDatabase string
	Policy          bool // CHECK_POLICY, on unless written otherwise
	SID             string
}

// LoginChange is an ALTER LOGIN; what is "" or nil stays.
type LoginChange struct {
	Name, Password, DefaultDatabase string
	Old                             *string // password, which a login without other rights must give
	Policy, Enabled                 *bool
}

// UserDef is a CREATE USER, or in ALTER USER what changes.
type UserDef struct {
	Name, Login   string
	NoLogin       bool
	DefaultSchema string
}

// Permit is a GRANT, DENY or REVOKE. A class of "" is an object, or when there is no name the database, or the server
// for permissions of the server.
type Permit struct {
	Verb        string // GRANT, DENY or REVOKE
	Permissions []Permission
	Class       string // OBJECT, SCHEMA, DATABASE, USER, ROLE, LOGIN or ""
	Name        Name
	On          bool     // an object is named
	Principals  []string // "public" is the role
	GrantOption bool     // WITH GRANT OPTION, GRANT OPTION FOR
	Cascade     bool
}

// Permission is one permission with the columns it is for.
type Permission struct {
	Name    string // upper case, words with a space between
	Columns []string
}

// Context is who EXECUTE AS asks for.
type Context struct {
	Login    bool // a login, else a user of the current database
	Name     string
	NoRevert bool
}
