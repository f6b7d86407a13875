package cdc

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// The catalog procedures that ODBC and JDBC drivers call (Microsoft: Catalog stored procedures (Transact-SQL)).
var catalogProcedures = map[string]procedure{
	"sp_tables": {[]tsql.Param{may("@table_name", pattern), may("@table_owner", pattern), may("@table_qualifier", sysname), may("@table_type", sqltype.Str(sqltype.VarChar, 100)), may("@fUsePattern", bit)}, spTables},
	"sp_columns_100": {[]tsql.Param{may("@table_name", pattern), may("@table_owner", pattern), may("@table_qualifier", sysname), may("@column_name", pattern), may("@NameScope", integer), may("@ODBCVer", integer), may("@fUsePattern", bit)},
		spColumns100},
	"sp_columns": {[]tsql.Param{may("@table_name", pattern), may("@table_owner", pattern), may("@table_qualifier", sysname), may("@column_name", pattern), may("@ODBCVer", integer)},
		func(s *Session, db *Database, a args) (*tsql.Rows, error) { // without the SS_ columns and the types of SQL Server 2008
			r, err := spColumns(s, db, a, false)
			if err != nil {
				return nil, err
			}
			r.Cols = append(r.Cols[:18:18], r.Cols[28])
			for i, row := range r.Data {
				r.Data[i] = append(row[:18:18], row[28])
			}
			return r, nil
		}},
	"sp_pkeys":          {[]tsql.Param{may("@table_name", sysname), may("@table_owner", sysname), may("@table_qualifier", sysname)}, spKeys},
	"sp_statistics":     {statisticsParams, spStatistics},
	"sp_statistics_100": {statisticsParams, spStatistics},
	"sp_databases":      {nil, spDatabases},
}

var (
	pattern          = sqltype.Str(sqltype.NVarChar, 384)
	statisticsParams = []tsql.Param{may("@table_name", sysname), may("@table_owner", sysname), may("@table_qualifier", sysname), may("@index_name", sysname), may("@is_unique", sqltype.Str(sqltype.Char, 1)), may("@accuracy", sqltype.Str(sqltype.Char, 1))}
)

// matches compares a name with a pattern of LIKE (Microsoft: sp_tables (Transact-SQL), Wildcard characters): % is any
// text and _ any character, unless brackets or a backslash take that meaning from them.
func matches(p sqltype.Value, name string) bool {
	return p.IsNull() || like([]rune(lower(p.Str())), []rune(lower(name)))
}

func like(p, s []rune) bool {
	if len(p) == 0 {
		return len(s) == 0
	}
	switch c := p[0]; {
	case c == '%':
		return like(p[1:], s) || len(s) > 0 && like(p, s[1:])
	case len(s) == 0:
		return false
	case c == '_':
		return like(p[1:], s[1:])
	case c == '\\' && len(p) > 1:
		return p[1] == s[0] && like(p[2:], s[1:])
	case c == '[' && len(p) > 2 && p[2] == ']':
		return p[1] == s[0] && like(p[3:], s[1:])
	case c == s[0]:
		return like(p[1:], s[1:])
	}
	return false
}

// matching is matches, or a comparison when @fUsePattern is off.
func (a args) matching(param, name string) bool {
	if v, ok := a["@fUsePattern"]; ok && !v.IsNull() && !v.Bool() {
		return exactly(a[param], name)
	}
	return matches(a[param], name)
}

// spTables is Microsoft: sp_tables (Transact-SQL), which orders by type, qualifier, owner and name.
func spTables(s *Session, db *Database, a args) (*tsql.Rows, error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	r := &tsql.Rows{Cols: []tsql.Column{ncol("TABLE_QUALIFIER", sysname), ncol("TABLE_OWNER", sysname), ncol("TABLE_NAME", sysname), ncol("TABLE_TYPE", sqltype.Str(sqltype.VarChar, 32)), ncol("REMARKS", sqltype.Str(sqltype.VarChar, 254))}}
	empty := func(name string) bool { v, ok := a[name]; return ok && !v.IsNull() && v.Str() == "" }
	if a.str("@table_qualifier") == "%" && empty("@table_name") && empty("@table_owner") { // the databases
		for _, d := range s.srv.databases() {
			r.Data = append(r.Data, sqltype.Row{text(d.Name), null, null, null, null})
		}
		return r, nil
	}
	if t := a["@table_type"]; !t.IsNull() && !strings.Contains(strings.ToUpper(t.Str()), "'TABLE'") {
		return r, nil
	}
	for _, o := range s.objects(db) {
		if a.matching("@table_owner", o.schema) && a.matching("@table_name", o.name) {
			r.Data = append(r.Data, sqltype.Row{text(db.Name), text(o.schema), text(o.name), text("TABLE"), null})
		}
	}
	slices.SortStableFunc(r.Data, func(a, b sqltype.Row) int {
		return cmp.Or(strings.Compare(lower(a[1].Str()), lower(b[1].Str())), strings.Compare(lower(a[2].Str()), lower(b[2].Str())))
	})
	return r, nil
}

// newDatabaseKB is the size of a database without rows: files of 8 MB for data and for the log
// (Microsoft: CREATE DATABASE (Transact-SQL), the size of the primary file of model).
const newDatabaseKB = 2 * 8192

// spDatabases is Microsoft: sp_databases (Transact-SQL): the databases that the login may enter, and none to a login without
// one of the permissions that show their files. The size of tables is that of sp_spaceused.
func spDatabases(s *Session, _ *Database, _ args) (*tsql.Rows, error) {
	r := &tsql.Rows{Cols: []tsql.Column{ncol("DATABASE_NAME", sysname), ncol("DATABASE_SIZE", integer), ncol("REMARKS", sqltype.Str(sqltype.VarChar, 254))}}
	if !s.serverCan("CREATE ANY DATABASE") && !s.serverCan("ALTER ANY DATABASE") && !s.serverCan("VIEW ANY DEFINITION") {
		return r, nil
	}
	for _, d := range s.srv.databases() {
		if !s.reaches(d) {
			continue
		}
		size := int64(newDatabaseKB)
		d.mu.RLock()
		for _, t := range d.tables {
			size += usedKB(t.rows.n)
			for _, in := range t.inst {
				size += usedKB(len(in.rows))
			}
		}
		d.mu.RUnlock()
		r.Data = append(r.Data, sqltype.Row{text(d.Name), num(min(size, 1<<31-1)), null})
	}
	slices.SortFunc(r.Data, func(a, b sqltype.Row) int { return strings.Compare(lower(a[0].Str()), lower(b[0].Str())) })
	return r, nil
}

// odbcType gives DATA_TYPE, PRECISION, LENGTH, SCALE and RADIX of sp_columns.
func odbcType(t sqltype.Type) (typ int64, prec, length int64, scale, radix sqltype.Value) {
	n, p, sc := size(t)
	ten, two := num(10), num(2)
	switch t.Kind {
	case sqltype.Bit:
		return -7, 1, 1, null, null
	case sqltype.TinyInt:
		return -6, 3, 1, num(0), ten
	case sqltype.SmallInt:
		return 5, 5, 2, num(0), ten
	case sqltype.Int:
		return 4, 10, 4, num(0), ten
	case sqltype.BigInt:
		return -5, 19, 8, num(0), ten
	case sqltype.Decimal:
		return 3, p, p + 2, num(sc), ten
	case sqltype.Numeric:
		return 2, p, p + 2, num(sc), ten
	case sqltype.Money, sqltype.SmallMoney:
		return 3, p, p + 2, num(4), ten
	case sqltype.Real:
		return 7, 24, 4, null, two
	case sqltype.Float:
		return 6, 53, 8, null, two
	case sqltype.Char:
		return 1, n, n, null, null
	case sqltype.VarChar:
		return 12, max(n, 0), max(n, 0), null, null
	case sqltype.NChar:
		return -8, n / 2, n, null, null
	case sqltype.NVarChar:
		return -9, max(n, 0) / 2, max(n, 0), null, null
	case sqltype.Text:
		return -1, 1<<31 - 1, 1<<31 - 1, null, null
	case sqltype.NText, sqltype.XML:
		return -10, 1<<30 - 1, 1<<31 - 2, null, null
	case sqltype.Binary, sqltype.RowVersion:
		return -2, n, n, null, null
	case sqltype.VarBinary:
		return -3, max(n, 0), max(n, 0), null, null
	case sqltype.Image:
		return -4, 1<<31 - 1, 1<<31 - 1, null, null
	case sqltype.UniqueIdentifier:
		return -11, 36, 16, null, null
	case sqltype.DateTime, sqltype.SmallDateTime, sqltype.Date, sqltype.Time, sqltype.DateTime2, sqltype.DateTimeOffset: // as text; see odbcTime
		return -9, p, 2 * p, num(sc), null
	}
	return -150, 8000, 8000, num(0), null
}

// odbcTime gives the columns of sp_columns_100 that are of their own for dates and times (Microsoft: Catalog Metadata, of
// the ODBC date and time improvements). Clients of ODBC 2 have other numbers for what they know of them.
func odbcTime(t sqltype.Type, odbc3 bool) (typ, length int64, dataType, sub sqltype.Value) {
	date, timestamp := int64(9), int64(11)
	if odbc3 {
		date, timestamp = 91, 93
	}
	const family = 9 // SQL_DATETIME
	switch t.Kind {
	case sqltype.Date:
		return date, 6, num(family), num(1)
	case sqltype.Time:
		return -154, 10, num(-154), null
	case sqltype.DateTimeOffset:
		return -155, 20, num(-155), null
	}
	return timestamp, 16, num(family), num(3)
}

func spColumns100(s *Session, db *Database, a args) (*tsql.Rows, error) {
	return spColumns(s, db, a, true)
}

// spColumns knows the types of SQL Server 2008 for sp_columns_100 alone.
func spColumns(s *Session, db *Database, a args, newTypes bool) (*tsql.Rows, error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	remark := sqltype.Str(sqltype.VarChar, 254)
	r := &tsql.Rows{Cols: []tsql.Column{ncol("TABLE_QUALIFIER", sysname), ncol("TABLE_OWNER", sysname), ncol("TABLE_NAME", sysname), ncol("COLUMN_NAME", sysname), col("DATA_TYPE", small), ncol("TYPE_NAME", sysname),
		ncol("PRECISION", integer), ncol("LENGTH", integer), ncol("SCALE", small), ncol("RADIX", small), col("NULLABLE", small), ncol("REMARKS", remark), ncol("COLUMN_DEF", sqltype.Str(sqltype.NVarChar, 4000)),
		col("SQL_DATA_TYPE", small), ncol("SQL_DATETIME_SUB", small), ncol("CHAR_OCTET_LENGTH", integer), col("ORDINAL_POSITION", integer), ncol("IS_NULLABLE", remark), ncol("SS_IS_SPARSE", small),
		ncol("SS_IS_COLUMN_SET", small), ncol("SS_IS_COMPUTED", small), ncol("SS_IS_IDENTITY", small), ncol("SS_UDT_CATALOG_NAME", sysname), ncol("SS_UDT_SCHEMA_NAME", sysname),
		ncol("SS_UDT_ASSEMBLY_TYPE_NAME", sysname), ncol("SS_XML_SCHEMACOLLECTION_CATALOG_NAME", sysname), ncol("SS_XML_SCHEMACOLLECTION_SCHEMA_NAME", sysname),
		ncol("SS_XML_SCHEMACOLLECTION_NAME", sysname), ncol("SS_DATA_TYPE", tiny)}}
	ver, asked := a["@ODBCVer"]
	odbc3 := asked && !ver.IsNull() && ver.Int() == 3
	for _, o := range s.objects(db) {
		if !a.matching("@table_owner", o.schema) || !a.matching("@table_name", o.name) {
			continue
		}
		for i, c := range s.shownColumns(db, &o) {
			if !a.matching("@column_name", c.Name) {
				continue
			}
			x, name, nullable := odbcOf(c.Type, odbc3, newTypes), c.Type.Kind.String(), "NO"
			if c.Nullable {
				nullable = "YES"
			}
			if c.Identity {
				name += " identity"
			}
			r.Data = append(r.Data, sqltype.Row{text(db.Name), text(o.schema), text(o.name), text(c.Name), num(x.typ), text(name), num(x.prec), num(x.length), x.scale, x.radix, flag01(c.Nullable), null, orNull(c.def),
				x.dataType, x.sub, x.octs, num(int64(i + 1)), text(nullable), flag01(c.sparse), num(0), flag01(c.Computed), flag01(c.Identity), null, null, null, null, null, null, num(38)})
		}
	}
	return r, nil
}
