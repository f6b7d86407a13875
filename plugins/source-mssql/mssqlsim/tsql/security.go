package tsql

import (
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// secure carries out statements about logins, users, roles and permissions.
func (x *executor) secure(st ast.Statement) (bool, error) {
	do := func(fn func(b *binder) error) (bool, error) {
		return true, x.scoped(true, func(b *binder) error { return x.sess.Secure(func() error { return fn(b) }) })
	}
	switch s := st.(type) {
	case *ast.CreateLoginStatement:
		return do(func(b *binder) error { return x.sess.CreateLogin(b.loginDef(s)) })
	case *ast.AlterLoginOptionsStatement:
		return do(func(b *binder) error { return x.sess.AlterLogin(required(s.Name), b.loginChange(s.Options)) })
	case *ast.AlterLoginEnableDisableStatement:
		return do(func(*binder) error { return x.sess.AlterLogin(required(s.Name), LoginChange{Enabled: &s.IsEnable}) })
	case *ast.DropLoginStatement:
		return do(func(*binder) error { return x.sess.DropLogin(required(s.Name), s.IsIfExists) })
	case *ast.CreateUserStatement:
		return do(func(*binder) error {
			u := userOptions(s.UserOptions)
			u.Name = required(s.Name)
			if u.Login == "" {
				u.Login = u.Name
			}
			if o := s.UserLoginOption; o != nil {
				switch o.UserLoginOptionType {
				case "Login", "ForLogin", "FromLogin":
					u.Login = ident(o.Identifier)
				case "WithoutLogin":
					u.NoLogin = true
				default:
					unsupported("CREATE USER %s", kindWords(o.UserLoginOptionType))
				}
			}
			return x.sess.CreateUser(u)
		})
	case *ast.AlterUserStatement:
		return do(func(*binder) error { return x.sess.AlterUser(required(s.Name), userOptions(s.UserOptions)) })
	case *ast.DropUserStatement:
		return do(func(*binder) error { return x.sess.DropUser(required(s.Name), s.IsIfExists) })
	case *ast.CreateRoleStatement:
		return do(func(*binder) error { return x.sess.CreateRole(required(s.Name), ident(s.Owner)) })
	case *ast.AlterRoleStatement:
		return do(func(*binder) error { return x.roleAction(required(s.Name), s.Action, x.sess.Member) })
	case *ast.AlterServerRoleStatement:
		return do(func(*binder) error { return x.roleAction(required(s.Name), s.Action, x.sess.ServerMember) })
	case *ast.DropRoleStatement:
		return do(func(*binder) error { return x.sess.DropRole(required(s.Name), s.IsIfExists) })
	case *ast.GrantStatement:
		return do(func(*binder) error {
			return x.sess.Permit(permit("GRANT", s.Permissions, s.Principals, s.SecurityTargetObject, s.WithGrantOption, false, s.AsClause))
		})
	case *ast.DenyStatement:
		return do(func(*binder) error {
			return x.sess.Permit(permit("DENY", s.Permissions, s.Principals, s.SecurityTargetObject, false, s.CascadeOption, s.AsClause))
		})
	case *ast.RevokeStatement:
		return do(func(*binder) error {
			return x.sess.Permit(permit("REVOKE", s.Permissions, s.Principals, s.SecurityTargetObject, s.GrantOptionFor, s.CascadeOption, s.AsClause))
		})
	case *ast.ExecuteAsStatement:
		return true, x.scoped(true, func(b *binder) error {
			if s.Cookie != nil {
				unsupported("EXECUTE AS with a cookie")
			}
			c, caller := b.executeContext(s.ExecuteContext)
			if caller {
				return nil
			}
			c.NoRevert = s.WithNoRevert
			return x.sess.ExecuteAs(c)
		})
	case *ast.RevertStatement:
		return true, x.scoped(true, func(*binder) error {
			if s.Cookie != nil {
				unsupported("REVERT with a cookie")
			}
			return x.sess.Revert()
		})
	}
	return false, nil
}

// executeContext reads who EXECUTE AS asks for; CALLER is who it is anyway.
func (b *binder) executeContext(e *ast.ExecuteContext) (c Context, caller bool) {
	switch e.Kind {
	case "Caller":
		return c, true
	case "Login", "User":
		return Context{Login: e.Kind == "Login", Name: b.valueOf(e.Principal, sqltype.SysName).Str()}, false
	}
	unsupported("EXECUTE AS %s", kindWords(e.Kind))
	return c, false
}

func (x *executor) roleAction(role string, action ast.AlterRoleAction, member func(role, member string, in bool) error) error {
	switch a := action.(type) {
	case *ast.AddMemberAlterRoleAction:
		return member(role, required(a.Member), true)
	case *ast.DropMemberAlterRoleAction:
		return member(role, required(a.Member), false)
	case *ast.RenameAlterRoleAction:
		return x.sess.RenameRole(role, required(a.NewName))
	}
	return sqltype.Unsupported("this form of ALTER ROLE and ALTER SERVER ROLE")
}

func (b *binder) loginDef(s *ast.CreateLoginStatement) LoginDef {
	p, ok := s.Source.(*ast.PasswordCreateLoginSource)
	if !ok || p.Hashed || p.MustChange {
		unsupported("CREATE LOGIN but WITH PASSWORD")
	}
	d := LoginDef{Name: required(s.Name), Password: b.valueOf(p.Password, sqltype.Str(sqltype.NVarChar, 128)).Str(), Policy: true}
	for _, o := range p.Options {
		switch o := o.(type) {
		case *ast.OnOffPrincipalOption:
			switch o.OptionKind {
			case "CheckPolicy":
				d.Policy = strings.EqualFold(o.OptionState, "on")
			case "CheckExpiration":
				neverExpires(o)
			default:
				unsupported("the option %s of CREATE LOGIN", optionWord(o.OptionKind))
			}
		case *ast.IdentifierPrincipalOption:
			switch o.OptionKind {
			case "DefaultDatabase":
				d.DefaultDatabase = ident(o.Identifier)
			case "DefaultLanguage":
				ownLanguage(o.Identifier)
			default:
				unsupported("the option %s of CREATE LOGIN", optionWord(o.OptionKind))
			}
		case *ast.LiteralPrincipalOption:
			if !strings.EqualFold(o.OptionKind, "Sid") {
				unsupported("the option %s of CREATE LOGIN", optionWord(o.OptionKind))
			}
			d.SID = b.valueOf(o.Value, sqltype.Bin(sqltype.VarBinary, 85)).Str()
		default:
			unsupported("the options of CREATE LOGIN")
		}
	}
	return d
}

// neverExpires refuses that a password gets too old.
func neverExpires(o *ast.OnOffPrincipalOption) {
	if strings.EqualFold(o.OptionState, "on") {
		unsupported("CHECK_EXPIRATION = ON")
	}
}

// ownLanguage refuses a language of a login that is not the server's: sessions begin with that one.
func ownLanguage(name *ast.Identifier) {
	if l := ident(name); !strings.EqualFold(l, "us_english") && !strings.EqualFold(l, "English") {
		unsupported("DEFAULT_LANGUAGE = %s of a login, whose sessions would begin with it; SET LANGUAGE changes that of one", l)
	}
}

func (b *binder) loginChange(list []ast.PrincipalOption) (c LoginChange) {
	for _, o := range list {
		switch o := o.(type) {
		case *ast.PasswordAlterPrincipalOption:
			if o.Hashed || o.MustChange {
				unsupported("HASHED and MUST_CHANGE of ALTER LOGIN")
			}
			c.Password = b.valueOf(o.Password, sqltype.Str(sqltype.NVarChar, 128)).Str()
			if o.OldPassword != nil {
				c.Old = &o.OldPassword.Value
			}
		case *ast.IdentifierPrincipalOption:
			switch o.OptionKind {
			case "Name":
				c.Name = ident(o.Identifier)
			case "DefaultDatabase":
				c.DefaultDatabase = ident(o.Identifier)
			case "DefaultLanguage":
				ownLanguage(o.Identifier)
			default:
				unsupported("the option %s of ALTER LOGIN", optionWord(o.OptionKind))
			}
		case *ast.OnOffPrincipalOption:
			switch o.OptionKind {
			case "CheckPolicy":
				on := strings.EqualFold(o.OptionState, "on")
				c.Policy = &on
			case "CheckExpiration":
				neverExpires(o)
			default:
				unsupported("the option %s of ALTER LOGIN", optionWord(o.OptionKind))
			}
		default:
			unsupported("the options of ALTER LOGIN")
		}
	}
	return c
}

func userOptions(list []ast.UserOption) (u UserDef) {
	for _, o := range list {
		i, ok := o.(*ast.IdentifierPrincipalOption)
		if d, isSchema := o.(*ast.DefaultSchemaPrincipalOption); isSchema {
			u.DefaultSchema = ident(d.Identifier)
			continue
		}
		if !ok {
			unsupported("the options of a user")
		}
		switch i.OptionKind {
		case "DefaultSchema":
			u.DefaultSchema = ident(i.Identifier)
		case "Name":
			u.Name = ident(i.Identifier)
		case "Login":
			u.Login = ident(i.Identifier)
		default:
			unsupported("the option %s of a user", optionWord(i.OptionKind))
		}
	}
	return u
}

// classes are the kinds of securables that GRANT knows here.
var classes = map[string]string{"": "", "notspecified": "", "object": "OBJECT", "schema": "SCHEMA", "database": "DATABASE", "user": "USER", "role": "ROLE", "login": "LOGIN"}

func permit(verb string, perms []*ast.Permission, to []*ast.SecurityPrincipal, on *ast.SecurityTargetObject, option, cascade bool, as *ast.Identifier) Permit {
	p := Permit{Verb: verb, GrantOption: option, Cascade: cascade}
	if len(perms) == 0 || len(to) == 0 {
		failf(102, "Incorrect syntax near '%s'.", verb)
	}
	if as != nil {
		unsupported("AS of %s", verb)
	}
	var columns []string
	if on != nil {
		class, ok := classes[lower(on.ObjectKind)]
		if !ok {
			unsupported("%s on %s", verb, kindWords(on.ObjectKind))
		}
		p.Class, p.On = class, true
		ids := on.ObjectName.MultiPartIdentifier.Identifiers
		p.Name.Object = ident(ids[len(ids)-1])
		if len(ids) > 1 {
			p.Name.Schema = ident(ids[len(ids)-2])
		}
		if len(ids) > 2 {
			p.Name.Database = ident(ids[len(ids)-3])
		}
		for _, c := range on.Columns {
			columns = append(columns, ident(c))
		}
	}
	for _, q := range perms {
		var words []string
		for _, i := range q.Identifiers {
			words = append(words, strings.ToUpper(i.Value))
		}
		one := Permission{Name: strings.TrimSuffix(strings.Join(words, " "), " PRIVILEGES"), Columns: columns}
		one.Name = strings.ReplaceAll(one.Name, "MSSQLSIM_LOGIN", "LOGIN")
		if one.Name == "EXEC" {
			one.Name = "EXECUTE"
		}
		for _, c := range q.Columns {
			one.Columns = append(one.Columns, ident(c))
		}
		p.Permissions = append(p.Permissions, one)
	}
	for _, q := range to {
		name := "public"
		if q.PrincipalType != ast.PrincipalTypePublic {
			name = required(q.Identifier)
		}
		p.Principals = append(p.Principals, name)
	}
	return p
}

// quoteLogin hides from the parser (teesql v1.1.0) what it does not expect: the word LOGIN in the permission ALTER ANY
// LOGIN, and the N of a password that is a national text.
func quoteLogin(sql string) string {
	if !hasWord(sql, "login") {
		return sql
	}
	var b strings.Builder
	var before [2]string // the words before
	defines := false     // a login
	for _, t := range tokens(sql) {
		if t.blank {
			b.WriteString(t.text)
			continue
		}
		switch {
		case !strings.EqualFold(t.text, "login"):
		case strings.EqualFold(before[0], "alter") && strings.EqualFold(before[1], "any"):
			t.text = "MSSQLSIM_LOGIN"
		default:
			defines = defines || strings.EqualFold(before[1], "create") || strings.EqualFold(before[1], "alter")
		}
		if defines && strings.EqualFold(before[0], "password") && before[1] == "=" && strings.EqualFold(t.text, "n") {
			continue
		}
		before[0], before[1] = before[1], t.text
		b.WriteString(t.text)
	}
	return b.String()
}

// asPrincipal runs fn as somebody else, for EXECUTE (...) AS.
func (x *executor) asPrincipal(e *ast.ExecuteContext, fn func() error) error {
	if e == nil {
		return fn()
	}
	var c Context
	caller := false
	if err := x.plain(func(b *binder) { c, caller = b.executeContext(e) }); err != nil || caller {
		if err != nil {
			return err
		}
		return fn()
	}
	if err := x.sess.ExecuteAs(c); err != nil {
		return err
	}
	err := fn()
	if back := x.sess.Revert(); err == nil {
		err = back
	}
	return err
}

// guard asks for a permission on a relation; names are columns, of which those that it does not have do not count.
func (b *binder) guard(rel Relation, permission string, names []string) {
	var cols []int
	for i, c := range rel.Columns() {
		for _, n := range names {
			if sqltype.EqualName(c.Name, n) {
				cols = append(cols, i)
			}
		}
	}
	if err := b.sess.Guard(rel, permission, cols); err != nil {
		fail(err)
	}
}

// guardInsert asks for INSERT on the columns that are filled.
func (b *binder) guardInsert(w Writable, into []int) {
	if err := b.sess.Guard(w, "INSERT", into); err != nil {
		fail(err)
	}
}
