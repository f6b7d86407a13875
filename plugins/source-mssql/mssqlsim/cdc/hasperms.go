package cdc

import (
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// hasPerms is HAS_PERMS_BY_NAME (Microsoft: HAS_PERMS_BY_NAME (Transact-SQL)): NULL for what is no securable or
// permission. The database's lock is held.
func (s *Session) hasPerms(db *Database, arg func(int) sqltype.Value) sqltype.Value {
	name, class, want := arg(0), strings.ToUpper(arg(1).Str()), strings.ToUpper(arg(2).Str())
	any := want == "ANY"
	switch class {
	case "", "SERVER":
		if serverPermissions[want] == "" && !any {
			return null
		}
		return flag01(any || s.serverCan(want))
	case "DATABASE":
		if !name.IsNull() && !sqltype.EqualName(nameParts(name.Str())[0], db.Name) {
			return null
		}
		if databasePermissions[want] == "" && objectPermissions[want] == "" && !any {
			return null
		}
		return flag01(any || s.can(db, want, wholeDatabase))
	case "SCHEMA":
		schema := nameParts(name.Str())[0]
		if _, ok := db.schemaID(schema); !ok || objectPermissions[want] == "" && !any {
			return null
		}
		if any {
			return flag01(s.anyOf(db, ofSchema(schema)))
		}
		return flag01(s.can(db, want, ofSchema(schema)))
	case "OBJECT":
		return s.hasObjectPerms(db, name.Str(), want, arg(3), strings.ToUpper(arg(4).Str()))
	}
	return null
}

func (s *Session) hasObjectPerms(db *Database, full, want string, column sqltype.Value, class string) sqltype.Value {
	if objectPermissions[want] == "" && want != "ANY" {
		return null
	}
	parts := nameParts(full)
	schema := s.defaultSchema(db)
	if len(parts) > 1 {
		schema = parts[len(parts)-2]
	}
	for _, o := range s.everyObject(db) {
		if !sqltype.EqualName(o.name, parts[len(parts)-1]) || !sqltype.EqualName(o.schema, schema) {
			continue
		}
		sec := o.securable()
		if want == "ANY" {
			return flag01(s.anyOf(db, sec))
		}
		a := s.access(db, want, sec)
		if column.IsNull() {
			return flag01(a.all())
		}
		if class != "COLUMN" {
			return null
		}
		for _, c := range sec.cols {
			if sqltype.EqualName(c.name, nameParts(column.Str())[0]) {
				return flag01(a.column(c))
			}
		}
		return null
	}
	if r := db.routines[routineKey(schema, parts[len(parts)-1])]; r != nil && column.IsNull() {
		if sec := securableRoutine(r); want == "ANY" {
			return flag01(s.anyOf(db, sec))
		} else {
			return flag01(s.can(db, want, sec))
		}
	}
	if column.IsNull() {
		return s.hasSystemPerms(db, lower(schema), lower(parts[len(parts)-1]), want)
	}
	return null
}

// hasSystemPerms is HAS_PERMS_BY_NAME of a view of the server, which everybody may read, or of a table of change data capture, whose
// permissions are those of its schema (Microsoft: Metadata visibility configuration: of a view one sees the rows that one may).
func (s *Session) hasSystemPerms(db *Database, schema, name, want string) sqltype.Value {
	switch {
	case schema == "cdc" && db.enabled.Load() && (cdcViews[name] != nil || name == "lsn_time_mapping"):
		if want == "ANY" {
			return flag01(s.anyOf(db, ofSchema("cdc")))
		}
		return flag01(s.can(db, want, ofSchema("cdc")))
	case (schema == "sys" || schema == "information_schema") && (want == "SELECT" || want == "ANY") && systemViewNamed(schema, name) != nil:
		return flag01(true)
	}
	return null
}

// anyOf tells whether the session has a permission of any kind on a securable.
func (s *Session) anyOf(db *Database, o securable) bool {
	for want := range objectPermissions {
		if a := s.access(db, want, o); a.any() {
			return true
		}
	}
	return false
}

// visible gives the columns of an object that the catalog shows, and whether it shows the object: metadata is seen of
// what one has a permission on (Microsoft: Metadata visibility configuration).
func (s *Session) visible(db *Database, o *object) (columns func(securedColumn) bool, ok bool) {
	if s.dbo(db) || s.owns(o.table) {
		return func(securedColumn) bool { return true }, true
	}
	sec := o.securable()
	var all []access
	for want := range objectPermissions {
		if a := s.access(db, want, sec); a.any() {
			all = append(all, a)
		}
	}
	return func(c securedColumn) bool {
		for i := range all {
			if all[i].column(c) {
				return true
			}
		}
		return false
	}, len(all) > 0
}
