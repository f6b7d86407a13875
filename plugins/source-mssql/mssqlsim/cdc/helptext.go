package cdc

import (
	"fmt"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// moreHelp are procedures with which a person looks at texts, files, databases and members of roles.
var moreHelp = map[string]procedure{
	"sp_helptext":       {[]tsql.Param{need("@objname", sqltype.Str(sqltype.NVarChar, 776)), may("@columnname", sysname)}, spHelpText},
	"sp_helpconstraint": {[]tsql.Param{need("@objname", sqltype.Str(sqltype.NVarChar, 776)), may("@nomsg", sqltype.Str(sqltype.VarChar, 5))}, spHelpConstraint},
	"sp_helpfile":       {[]tsql.Param{may("@filename", sysname)}, spHelpFile},
	"sp_helpdb":         {[]tsql.Param{may("@dbname", sysname)}, spHelpDatabase},
	"sp_helprole":       {[]tsql.Param{may("@rolename", sysname)}, spHelpRole},
	"sp_helprolemember": {[]tsql.Param{may("@rolename", sysname)}, spHelpRoleMember},
	"sp_helpuser":       {[]tsql.Param{may("@name_in_db", sysname)}, spHelpUser},
}

// textLine is the width of a row of sp_helptext.
const textLine = 255

// spHelpText is Microsoft: sp_helptext (Transact-SQL): the definition of an object or of a computed column, a line a row.
func spHelpText(s *Session, db *Database, a args) (*tsql.Rows, error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	name := a.str("@objname")
	if err := inDatabase(db, name); err != nil {
		return nil, err
	}
	parts := nameParts(name)
	schema := s.defaultSchema(db)
	if len(parts) > 1 {
		schema = parts[len(parts)-2]
	}
	def, found := null, false
	for _, p := range s.parts(db) {
		if !sqltype.EqualName(p.name, parts[len(parts)-1]) || !sqltype.EqualName(p.schema, schema) {
			continue
		}
		found = true
		if column := a["@columnname"]; column.IsNull() {
			def = s.objectDefinition(db, int64(p.id))
		} else if p.table != nil {
			c := p.table.column(column.Str())
			switch {
			case c == nil:
				return nil, sqltype.Errorf(15645, "Column '%s' does not exist.", column.Str())
			case c.Computation == nil:
				return nil, sqltype.Errorf(15646, "Column '%s' is not a computed column.", column.Str())
			}
			def = text(c.Computation.Text)
		}
		break
	}
	switch {
	case !found && s.systemObject(name):
		return nil, sqltype.Unsupported("the text of the system object %s", name)
	case !found:
		return nil, sqltype.Errorf(15009, "The object '%s' does not exist in database '%s' or is invalid for this operation.", name, db.Name)
	case def.IsNull():
		return nil, sqltype.Errorf(15197, "There is no text for object '%s'.", name)
	}
	r := &tsql.Rows{Cols: []tsql.Column{ncol("Text", sqltype.Str(sqltype.NVarChar, textLine))}}
	for _, line := range strings.SplitAfter(def.Str(), "\n") {
		for rest := []rune(line); len(rest) > 0; {
			n := min(len(rest), textLine)
			r.Data = append(r.Data, sqltype.Row{text(string(rest[:n]))})
			rest = rest[n:]
		}
	}
	return r, nil
}

// spHelpConstraint is Microsoft: sp_helpconstraint (Transact-SQL): the name of the table, its constraints, and the foreign keys
// that reference it.
func spHelpConstraint(s *Session, db *Database, a args) (*tsql.Rows, error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	o, err := s.about(db, a.str("@objname"))
	if err != nil {
		return nil, err
	}
	r := helpConstraints(o)
	if !strings.EqualFold(a.str("@nomsg"), "nomsg") {
		r = &tsql.Rows{Cols: []tsql.Column{ncol("Object Name", sqltype.Str(sqltype.NVarChar, 776))}, Data: []sqltype.Row{{a["@objname"]}}, More: []*tsql.Rows{r}}
	}
	if o.in != nil {
		return r, nil
	}
	refs := &tsql.Rows{Cols: []tsql.Column{ncol("Table is referenced by foreign key", sqltype.Str(sqltype.NVarChar, 516))}}
	o.table.referencing(func(from *Table, k *foreignKey) bool {
		refs.Data = append(refs.Data, sqltype.Row{text(db.Name + "." + from.FullName() + ": " + k.name)})
		return true
	})
	if len(refs.Data) > 0 {
		r.More = append(r.More, refs)
	}
	return r, nil
}

// helpFiles lists files as sp_helpfile and sp_helpdb do, with sizes of so many characters.
func helpFiles(db *Database, name, path sqltype.Type, width int, only sqltype.Value) *tsql.Rows {
	size := sqltype.Str(sqltype.NVarChar, width)
	r := &tsql.Rows{Cols: []tsql.Column{col("name", name), col("fileid", small), col("filename", path), ncol("filegroup", sysname), ncol("size", size), ncol("maxsize", size), ncol("growth", size),
		ncol("usage", sqltype.Str(sqltype.VarChar, 9))}}
	for _, f := range db.files() {
		if !exactly(only, f.name) {
			continue
		}
		group, most, usage := text("PRIMARY"), "Unlimited", "data only"
		if f.log {
			group, usage = null, "log only"
		}
		if f.max >= 0 {
			most = fmt.Sprintf("%d KB", f.max*8)
		}
		r.Data = append(r.Data, sqltype.Row{text(f.name), num(f.id), text(f.path), group, text(fmt.Sprintf("%d KB", f.pages*8)), text(most), text(fmt.Sprintf("%d KB", growth*8)), text(usage)})
	}
	return r
}

// spHelpFile is Microsoft: sp_helpfile (Transact-SQL).
func spHelpFile(_ *Session, db *Database, a args) (*tsql.Rows, error) {
	r := helpFiles(db, sysname, sqltype.Str(sqltype.NVarChar, 260), 15, a["@filename"])
	if len(r.Data) == 0 {
		return nil, sqltype.Errorf(15325, "The current database does not contain a file named '%s'.", a.str("@filename"))
	}
	return r, nil
}

// spHelpDatabase is Microsoft: sp_helpdb (Transact-SQL), of one database with its files.
func spHelpDatabase(s *Session, _ *Database, a args) (*tsql.Rows, error) {
	r := &tsql.Rows{Cols: []tsql.Column{ncol("name", sysname), ncol("db_size", sqltype.Str(sqltype.NVarChar, 13)), ncol("owner", sysname), ncol("dbid", small), ncol("created", sqltype.Str(sqltype.NVarChar, 11)),
		ncol("status", sqltype.Str(sqltype.NVarChar, 600)), ncol("compatibility_level", tiny)}}
	name := a["@dbname"]
	for _, d := range s.srv.inOrder() {
		if !exactly(name, d.Name) || !s.reaches(d) {
			continue
		}
		pages := int64(0)
		for _, f := range d.files() {
			pages += f.pages
		}
		status := []string{}
		for _, p := range []string{"Status", "Updateability", "UserAccess", "Recovery", "Version", "Collation", "SQLSortOrder"} {
			status = append(status, p+"="+s.databaseProperty(text(d.Name), text(p)).Str())
		}
		status = append(status, "IsAutoCreateStatistics", "IsAutoUpdateStatistics")
		r.Data = append(r.Data, sqltype.Row{text(d.Name), text(fmt.Sprintf("%10.2f MB", float64(pages)*8/1024)), text("sa"), num(int64(d.ID)), text(sqltype.FromTicks(d.created).Time().Format("Jan _2 2006")),
			text(strings.Join(status, ", ")), num(s.srv.level())})
		if !name.IsNull() {
			r.More = []*tsql.Rows{helpFiles(d, sqltype.Str(sqltype.NChar, 128), sqltype.Str(sqltype.NChar, 260), 18, null)}
		}
	}
	if !name.IsNull() && len(r.Data) == 0 {
		return nil, sqltype.Errorf(15010, "The database '%s' does not exist. Supply a valid database name. To see available databases, use sys.databases.", name.Str())
	}
	return r, nil
}

// spHelpRole is Microsoft: sp_helprole (Transact-SQL).
func spHelpRole(s *Session, db *Database, a args) (*tsql.Rows, error) {
	r := &tsql.Rows{Cols: []tsql.Column{col("RoleName", sysname), col("RoleId", small), col("IsAppRole", integer)}}
	s.principalsSeen(db, func(p *principal) {
		if p.role && exactly(a["@rolename"], p.name) {
			r.Data = append(r.Data, sqltype.Row{text(p.name), num(int64(p.id)), num(0)})
		}
	})
	if len(r.Data) == 0 {
		return nil, sqltype.Errorf(15409, "'%s' is not a role.", a.str("@rolename"))
	}
	return r, nil
}

// spHelpRoleMember is Microsoft: sp_helprolemember (Transact-SQL).
func spHelpRoleMember(s *Session, db *Database, a args) (*tsql.Rows, error) {
	r := &tsql.Rows{Cols: []tsql.Column{col("DbRole", sysname), col("MemberName", sysname), ncol("MemberSID", sidType)}}
	if _, err := spHelpRole(s, db, a); err != nil {
		return nil, err
	}
	rows := s.membersSeen(db)
	for _, m := range rows {
		if exactly(a["@rolename"], m.role.name) {
			r.Data = append(r.Data, sqltype.Row{text(m.role.name), text(m.member.name), m.member.sidValue()})
		}
	}
	return r, nil
}

func (p *principal) sidValue() sqltype.Value {
	if p.sid == "" {
		return null
	}
	return sqltype.FromBytes(p.sid)
}

// membership is that of a user or role in a role.
type membership struct{ role, member *principal }

// membersSeen lists the memberships that the session sees: dbo is in db_owner.
func (s *Session) membersSeen(db *Database) (out []membership) {
	s.principalsSeen(db, func(p *principal) {
		for _, m := range db.sec.principals {
			if p.members[m] || p.name == "db_owner" && p.fixed && m.id == dboID {
				out = append(out, membership{p, m})
			}
		}
	})
	return out
}

// spHelpUser is Microsoft: sp_helpuser (Transact-SQL): users with the roles that they are in, or the members of a role.
func spHelpUser(s *Session, db *Database, a args) (*tsql.Rows, error) {
	name := a["@name_in_db"]
	members := s.membersSeen(db)
	users := &tsql.Rows{Cols: []tsql.Column{col("UserName", sysname), col("RoleName", sysname), ncol("LoginName", sysname), ncol("DefDBName", sysname), ncol("DefSchemaName", sysname), col("UserID", small), ncol("SID", sidType)}}
	roles := &tsql.Rows{Cols: []tsql.Column{col("Role_name", sysname), col("Role_id", small), col("Users_in_role", sysname), col("Userid", small)}}
	s.principalsSeen(db, func(p *principal) {
		if !exactly(name, p.name) {
			return
		}
		if p.role {
			for _, m := range members {
				if m.role == p && !name.IsNull() {
					roles.Data = append(roles.Data, sqltype.Row{text(p.name), num(int64(p.id)), text(m.member.name), num(int64(m.member.id))})
				}
			}
			return
		}
		login, database := null, null
		if p.login != nil {
			p.login.mu.RLock()
			login, database = text(p.login.name), text(p.login.database)
			p.login.mu.RUnlock()
		}
		in := []string{}
		for _, m := range members {
			if m.member == p {
				in = append(in, m.role.name)
			}
		}
		if len(in) == 0 {
			in = []string{"public"}
		}
		for _, role := range in {
			users.Data = append(users.Data, sqltype.Row{text(p.name), text(role), login, database, orNull(p.schema), num(int64(p.id)), p.sidValue()})
		}
	})
	switch {
	case len(roles.Data) > 0:
		return roles, nil
	case len(users.Data) == 0:
		return nil, sqltype.Errorf(15198, "The name supplied (%s) is not a user, role, or aliased login.", name.Str())
	}
	sortRows(users.Data, 0, 1)
	return users, nil
}
