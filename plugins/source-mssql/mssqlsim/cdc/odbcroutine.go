package cdc

import (
	"fmt"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// The catalog procedures about procedures, types and the server (Microsoft: Catalog stored procedures (Transact-SQL)).
var routineProcedures = map[string]procedure{
	"sp_stored_procedures": {[]tsql.Param{may("@sp_name", sqltype.Str(sqltype.NVarChar, 390)), may("@sp_owner", pattern), may("@sp_qualifier", sysname), may("@fUsePattern", bit)}, spStoredProcedures},
	"sp_sproc_columns":     {sprocParams, func(s *Session, db *Database, a args) (*tsql.Rows, error) { return spProcedureColumns(s, db, a, false) }},
	"sp_sproc_columns_90":  {sprocParams, func(s *Session, db *Database, a args) (*tsql.Rows, error) { return spProcedureColumns(s, db, a, false) }},
	"sp_sproc_columns_100": {sprocParams, func(s *Session, db *Database, a args) (*tsql.Rows, error) { return spProcedureColumns(s, db, a, true) }},
	"sp_datatype_info":     {typeInfoParams, func(s *Session, _ *Database, a args) (*tsql.Rows, error) { return spDatatypeInfo(a, false) }},
	"sp_datatype_info_90":  {typeInfoParams, func(s *Session, _ *Database, a args) (*tsql.Rows, error) { return spDatatypeInfo(a, false) }},
	"sp_datatype_info_100": {typeInfoParams, func(s *Session, _ *Database, a args) (*tsql.Rows, error) { return spDatatypeInfo(a, true) }},
	"sp_server_info":       {[]tsql.Param{may("@attribute_id", integer)}, spServerInfo},
}

var (
	sprocParams = []tsql.Param{may("@procedure_name", sqltype.Str(sqltype.NVarChar, 390)), may("@procedure_owner", pattern), may("@procedure_qualifier", sysname), may("@column_name", pattern), may("@ODBCVer", integer),
		may("@fUsePattern", bit)}
	typeInfoParams = []tsql.Param{may("@data_type", integer), may("@ODBCVer", tiny)}
	numbered       = sqltype.Str(sqltype.NVarChar, 134) // a name with the number of a procedure of a group
	remarks        = sqltype.Str(sqltype.VarChar, 254)
)

// spStoredProcedures is Microsoft: sp_stored_procedures (Transact-SQL), of the procedures that users made.
func spStoredProcedures(s *Session, db *Database, a args) (*tsql.Rows, error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	const kind = 2 // as a server always says
	r := &tsql.Rows{Cols: []tsql.Column{ncol("PROCEDURE_QUALIFIER", sysname), ncol("PROCEDURE_OWNER", sysname), col("PROCEDURE_NAME", numbered), ncol("NUM_INPUT_PARAMS", integer), ncol("NUM_OUTPUT_PARAMS", integer),
		ncol("NUM_RESULT_SETS", integer), ncol("REMARKS", remarks), ncol("PROCEDURE_TYPE", small)}}
	for _, p := range s.routinesOf(db) {
		if a.matching("@sp_owner", p.Name.Schema) && a.matching("@sp_name", p.Name.Object) {
			r.Data = append(r.Data, sqltype.Row{text(db.Name), text(p.Name.Schema), text(p.Name.Object + ";1"), num(-1), num(-1), num(-1), null, num(kind)})
		}
	}
	sortRows(r.Data, 1, 2)
	return r, nil
}

// spProcedureColumns is Microsoft: sp_sproc_columns (Transact-SQL): the return value, then the parameters.
func spProcedureColumns(s *Session, db *Database, a args, newTypes bool) (*tsql.Rows, error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	const in, inOut, returned = 1, 2, 5
	r := &tsql.Rows{Cols: []tsql.Column{ncol("PROCEDURE_QUALIFIER", sysname), ncol("PROCEDURE_OWNER", sysname), col("PROCEDURE_NAME", numbered), ncol("COLUMN_NAME", sysname), col("COLUMN_TYPE", small), ncol("DATA_TYPE", small),
		ncol("TYPE_NAME", sysname), ncol("PRECISION", integer), ncol("LENGTH", integer), ncol("SCALE", small), ncol("RADIX", small), col("NULLABLE", small), ncol("REMARKS", remarks),
		ncol("COLUMN_DEF", sqltype.Str(sqltype.NVarChar, 4000)), col("SQL_DATA_TYPE", small), ncol("SQL_DATETIME_SUB", small), ncol("CHAR_OCTET_LENGTH", integer), col("ORDINAL_POSITION", integer), ncol("IS_NULLABLE", remarks)}}
	if newTypes { // Microsoft: SQLProcedureColumns: the columns of types come before those of the driver
		for _, n := range []string{"SS_TYPE_CATALOG_NAME", "SS_TYPE_SCHEMA_NAME", "SS_UDT_CATALOG_NAME", "SS_UDT_SCHEMA_NAME", "SS_UDT_ASSEMBLY_TYPE_NAME", "SS_XML_SCHEMACOLLECTION_CATALOG_NAME",
			"SS_XML_SCHEMACOLLECTION_SCHEMA_NAME", "SS_XML_SCHEMACOLLECTION_NAME"} {
			r.Cols = append(r.Cols, ncol(n, sysname))
		}
	}
	r.Cols = append(r.Cols, col("SS_DATA_TYPE", tiny))
	odbc3 := a["@ODBCVer"].Int() == 3
	add := func(p *tsql.Routine, name string, kind int64, t sqltype.Type, place int) {
		if !a.matching("@column_name", name) {
			return
		}
		d, nullable, is, ss := odbcOf(t, odbc3, newTypes), int64(1), "YES", int64(38)
		if kind == returned {
			nullable, is, ss = 0, "NO", 56
		}
		row := sqltype.Row{text(db.Name), text(p.Name.Schema), text(p.Name.Object + ";1"), text(name), num(kind), num(d.typ), text(t.Kind.String()), num(d.prec), num(d.length), d.scale, d.radix, num(nullable), null, null,
			d.dataType, d.sub, d.octs, num(int64(place)), text(is)}
		for len(row) < len(r.Cols)-1 {
			row = append(row, null)
		}
		r.Data = append(r.Data, append(row, num(ss)))
	}
	for _, p := range s.routinesOf(db) {
		if !a.matching("@procedure_owner", p.Name.Schema) || !a.matching("@procedure_name", p.Name.Object) {
			continue
		}
		add(p, "@RETURN_VALUE", returned, integer, 0)
		for i, x := range p.Parameters() {
			kind := int64(in)
			if x.Output {
				kind = inOut
			}
			add(p, x.Name, kind, x.Type, i+1)
		}
	}
	return r, nil
}

// serverAttributes are the attributes of sp_server_info that are the same for all versions (Microsoft: sp_server_info
// (Transact-SQL)); the collation is that of the server, which is not case-sensitive.
var serverAttributes = []struct {
	id          int64
	name, value string
}{{1, "DBMS_NAME", "Microsoft SQL Server"}, {2, "DBMS_VER", ""}, {10, "OWNER_TERM", "owner"}, {11, "TABLE_TERM", "table"}, {12, "MAX_OWNER_NAME_LENGTH", "128"}, {13, "TABLE_LENGTH", "128"}, {14, "MAX_QUAL_LENGTH", "128"},
	{15, "COLUMN_LENGTH", "128"}, {16, "IDENTIFIER_CASE", "MIXED"}, {17, "TX_ISOLATION", "2"}, {18, "COLLATION_SEQ", "charset=iso_1 sort_order=nocase_iso charset_num=1 sort_order_num=52"}, {19, "SAVEPOINT_SUPPORT", "Y"},
	{20, "MULTI_RESULT_SETS", "Y"}, {22, "ACCESSIBLE_TABLES", "Y"}, {100, "USERID_LENGTH", "128"}, {101, "QUALIFIER_TERM", "database"}, {102, "NAMED_TRANSACTIONS", "Y"}, {103, "SPROC_AS_LANGUAGE", "Y"},
	{104, "ACCESSIBLE_SPROC", "Y"}, {105, "MAX_INDEX_COLS", "16"}, {106, "RENAME_TABLE", "Y"}, {107, "RENAME_COLUMN", "Y"}, {108, "DROP_COLUMN", "Y"}, {109, "INCREASE_COLUMN_LENGTH", "Y"}, {110, "DDL_IN_TRANSACTION", "Y"},
	{111, "DESCENDING_INDEXES", "Y"}, {112, "SP_RENAME", "Y"}, {113, "REMOTE_SPROC", "Y"}, {500, "SYS_SPROC_VERSION", ""}}

// spServerInfo is Microsoft: sp_server_info (Transact-SQL).
func spServerInfo(s *Session, _ *Database, a args) (*tsql.Rows, error) {
	r := &tsql.Rows{Cols: []tsql.Column{col("attribute_id", integer), ncol("attribute_name", sqltype.Str(sqltype.VarChar, 60)), ncol("attribute_value", sqltype.Str(sqltype.VarChar, 255))}}
	version := productVersions[s.srv.Version]
	for _, x := range serverAttributes {
		switch x.id {
		case 2:
			name, _, _ := strings.Cut(productNames[s.srv.Version], " (")
			x.value = name + " - " + version
		case 500:
			var major, minor, build int
			_, _ = fmt.Sscanf(version, "%d.%d.%d", &major, &minor, &build) // a constant of three numbers and more
			x.value = fmt.Sprintf("%02d.%02d.%04d", major, minor, build)
		}
		if id, ok := a["@attribute_id"]; !ok || id.IsNull() || id.Int() == x.id {
			r.Data = append(r.Data, sqltype.Row{num(x.id), text(x.name), text(x.value)})
		}
	}
	return r, nil
}
