package cdc

import (
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// definition is the text of a procedure, NULL for those without VIEW DEFINITION (Microsoft: Metadata visibility
// configuration).
func (s *Session) definition(db *Database, r *tsql.Routine) sqltype.Value {
	if s.dbo(db) || s.can(db, "VIEW DEFINITION", securableRoutine(r)) {
		return text(r.Text)
	}
	return null
}

// sqlModules is Microsoft: sys.sql_modules (Transact-SQL), of the procedures that users made. The functions of change data
// capture have no text here and are left out.
func sqlModules(s *Session, db *Database) *tsql.Rows {
	r := &tsql.Rows{Cols: []tsql.Column{col("object_id", integer), ncol("definition", longText), ncol("uses_ansi_nulls", bit), ncol("uses_quoted_identifier", bit), ncol("is_recompiled", bit)}}
	for _, p := range s.routinesOf(db) {
		r.Data = append(r.Data, sqltype.Row{num(int64(p.ID)), s.definition(db, p), flag(p.AnsiNulls), flag(p.QuotedIdentifier), flag(p.Recompile)})
	}
	return r
}

// changeParameters are the parameters of the functions that give changes.
var changeParameters = []tsql.Parameter{{Name: "@from_lsn", Type: binLSN}, {Name: "@to_lsn", Type: binLSN}, {Name: "@row_filter_option", Type: sqltype.Str(sqltype.NVarChar, 30)}}

// sysParameters is Microsoft: sys.parameters (Transact-SQL).
func sysParameters(s *Session, db *Database) *tsql.Rows {
	r := &tsql.Rows{Cols: []tsql.Column{col("object_id", integer), ncol("name", sysname), col("parameter_id", integer), col("system_type_id", tiny), col("user_type_id", integer), col("max_length", small),
		col("precision", tiny), col("scale", tiny), col("is_output", bit)}}
	add := func(id int32, params []tsql.Parameter) {
		for i, p := range params {
			n, prec, scale := size(p.Type)
			r.Data = append(r.Data, sqltype.Row{num(int64(id)), text(p.Name), num(int64(i + 1)), num(typeIDs[p.Type.Kind]), num(userTypeID(p.Type.Kind)), num(n), num(prec), num(scale), flag(p.Output)})
		}
	}
	for _, p := range s.routinesOf(db) {
		add(p.ID, p.Parameters())
	}
	for _, p := range s.captureParts(db) {
		if p.typ == "IF" {
			add(p.id, changeParameters)
		}
	}
	return r
}

// infoRoutines is Microsoft: ROUTINES (Transact-SQL), of the procedures that users made.
func infoRoutines(s *Session, db *Database) *tsql.Rows {
	r := &tsql.Rows{Cols: append(specificColumns(), ncol("ROUTINE_CATALOG", sysname), ncol("ROUTINE_SCHEMA", sysname), col("ROUTINE_NAME", sysname), ncol("ROUTINE_TYPE", sqltype.Str(sqltype.NVarChar, 20)),
		ncol("ROUTINE_DEFINITION", sqltype.Str(sqltype.NVarChar, 4000)), col("CREATED", stamp), col("LAST_ALTERED", stamp))}
	for _, p := range s.routinesOf(db) {
		def := s.definition(db, p)
		if short := []rune(def.Str()); len(short) > 4000 {
			def = text(string(short[:4000]))
		}
		name := sqltype.Row{text(db.Name), text(p.Name.Schema), text(p.Name.Object)}
		r.Data = append(r.Data, append(append(name[:3:3], name...), text("PROCEDURE"), def, sqltype.FromTicks(p.Created), sqltype.FromTicks(p.Changed)))
	}
	return r
}

func specificColumns() []tsql.Column {
	return []tsql.Column{ncol("SPECIFIC_CATALOG", sysname), ncol("SPECIFIC_SCHEMA", sysname), col("SPECIFIC_NAME", sysname)}
}

// infoParameters is Microsoft: PARAMETERS (Transact-SQL).
func infoParameters(s *Session, db *Database) *tsql.Rows {
	r := &tsql.Rows{Cols: append(specificColumns(), col("ORDINAL_POSITION", integer), ncol("PARAMETER_MODE", sqltype.Str(sqltype.NVarChar, 10)), ncol("PARAMETER_NAME", sysname), ncol("DATA_TYPE", sysname),
		ncol("CHARACTER_MAXIMUM_LENGTH", integer), ncol("CHARACTER_OCTET_LENGTH", integer), ncol("COLLATION_NAME", sysname), ncol("CHARACTER_SET_NAME", sysname), ncol("NUMERIC_PRECISION", tiny),
		ncol("NUMERIC_PRECISION_RADIX", small), ncol("NUMERIC_SCALE", integer), ncol("DATETIME_PRECISION", small))}
	for _, p := range s.routinesOf(db) {
		for i, x := range p.Parameters() {
			d, mode := describe(x.Type), "IN"
			if x.Output {
				mode = "INOUT"
			}
			collation, charset := textOf(x.Type)
			r.Data = append(r.Data, sqltype.Row{text(db.Name), text(p.Name.Schema), text(p.Name.Object), num(int64(i + 1)), text(mode), text(x.Name), text(x.Type.Kind.String()), d.chars, d.octets, collation, charset,
				d.precision, d.radix, d.scale, d.digits})
		}
	}
	return r
}

// textOf gives the collation and the character set of a text type, NULL of others.
func textOf(t sqltype.Type) (collation, charset sqltype.Value) {
	if t.Class() != sqltype.ClassString || t.Kind == sqltype.XML {
		return null, null
	}
	if t.Unicode() {
		return text(collationOf(t)), text("UNICODE")
	}
	return text(collationOf(t)), text("iso_1")
}
