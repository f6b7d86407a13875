package cdc

import (
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// typeInfo is what sp_datatype_info says of a type besides its numbers in ODBC. The kind is that of ODBC's constants:
// searchable is 0 for not at all, 1 with LIKE alone, 2 with all but LIKE, 3 with everything.
type typeInfo struct {
	kind             sqltype.Kind
	suffix           string // of the name
	create           string // CREATE_PARAMS
	prefix           string
	searchable       int64
	increment        string // AUTO_INCREMENT, "" is NULL
	least, most      int64  // scales, -1 is NULL
	userType         int64
	unsigned, notNil bool
}

// typeInfos are in the order of their numbers in ODBC 3, those that fit a number better first (Microsoft: sp_datatype_info
// (Transact-SQL), SQLGetTypeInfo, Data type support for ODBC date and time improvements, sys.systypes (Transact-SQL)).
var typeInfos = []typeInfo{
	{kind: sqltype.DateTimeOffset, create: "scale", prefix: "'", searchable: 3, least: 0, most: 7},
	{kind: sqltype.Time, create: "scale", prefix: "'", searchable: 3, least: 0, most: 7},
	{kind: sqltype.XML, prefix: "N'", searchable: 0, least: -1, most: -1},
	{kind: sqltype.Variant, searchable: 2, least: 0, most: 0},
	{kind: sqltype.UniqueIdentifier, prefix: "'", searchable: 2, least: -1, most: -1},
	{kind: sqltype.NText, prefix: "N'", searchable: 1, least: -1, most: -1},
	{kind: sqltype.NVarChar, create: "max length", prefix: "N'", searchable: 3, least: -1, most: -1},
	{kind: sqltype.NVarChar, suffix: "sysname", prefix: "N'", searchable: 3, least: -1, most: -1, userType: 18, notNil: true},
	{kind: sqltype.NChar, create: "length", prefix: "N'", searchable: 3, least: -1, most: -1},
	{kind: sqltype.Bit, searchable: 2, least: 0, most: 0, userType: 16},
	{kind: sqltype.TinyInt, searchable: 2, increment: "0", unsigned: true, userType: 5},
	{kind: sqltype.TinyInt, suffix: " identity", searchable: 2, increment: "1", unsigned: true, userType: 5, notNil: true},
	{kind: sqltype.BigInt, searchable: 2, increment: "0"},
	{kind: sqltype.BigInt, suffix: " identity", searchable: 2, increment: "1", notNil: true},
	{kind: sqltype.Image, prefix: "0x", searchable: 0, least: -1, most: -1, userType: 20},
	{kind: sqltype.VarBinary, create: "max length", prefix: "0x", searchable: 2, least: -1, most: -1, userType: 4},
	{kind: sqltype.Binary, create: "length", prefix: "0x", searchable: 2, least: -1, most: -1, userType: 3},
	{kind: sqltype.RowVersion, prefix: "0x", searchable: 2, least: -1, most: -1, userType: 80, notNil: true},
	{kind: sqltype.Text, prefix: "'", searchable: 1, least: -1, most: -1, userType: 19},
	{kind: sqltype.Char, create: "length", prefix: "'", searchable: 3, least: -1, most: -1, userType: 1},
	{kind: sqltype.Numeric, create: "precision,scale", searchable: 2, increment: "0", most: 38, userType: 10},
	{kind: sqltype.Numeric, suffix: "() identity", create: "precision", searchable: 2, increment: "1", userType: 10, notNil: true},
	{kind: sqltype.Decimal, create: "precision,scale", searchable: 2, increment: "0", most: 38, userType: 24},
	{kind: sqltype.Money, prefix: "$", searchable: 2, increment: "0", least: 4, most: 4, userType: 11},
	{kind: sqltype.SmallMoney, prefix: "$", searchable: 2, increment: "0", least: 4, most: 4, userType: 21},
	{kind: sqltype.Decimal, suffix: "() identity", create: "precision", searchable: 2, increment: "1", userType: 24, notNil: true},
	{kind: sqltype.Int, searchable: 2, increment: "0", userType: 7},
	{kind: sqltype.Int, suffix: " identity", searchable: 2, increment: "1", userType: 7, notNil: true},
	{kind: sqltype.SmallInt, searchable: 2, increment: "0", userType: 6},
	{kind: sqltype.SmallInt, suffix: " identity", searchable: 2, increment: "1", userType: 6, notNil: true},
	{kind: sqltype.Float, searchable: 2, increment: "0", least: -1, most: -1, userType: 8},
	{kind: sqltype.Real, searchable: 2, increment: "0", least: -1, most: -1, userType: 23},
	{kind: sqltype.VarChar, create: "max length", prefix: "'", searchable: 3, least: -1, most: -1, userType: 2},
	{kind: sqltype.Date, prefix: "'", searchable: 3, least: -1, most: -1},
	{kind: sqltype.DateTime2, create: "scale", prefix: "'", searchable: 3, least: 0, most: 7},
	{kind: sqltype.DateTime, prefix: "'", searchable: 3, least: 3, most: 3, userType: 12},
	{kind: sqltype.SmallDateTime, prefix: "'", searchable: 3, least: 0, most: 0, userType: 22},
}

// spDatatypeInfo is Microsoft: sp_datatype_info (Transact-SQL).
func spDatatypeInfo(a args, newTypes bool) (*tsql.Rows, error) {
	literal := sqltype.Str(sqltype.VarChar, 32)
	r := &tsql.Rows{Cols: []tsql.Column{col("TYPE_NAME", sysname), col("DATA_TYPE", small), ncol("PRECISION", integer), ncol("LITERAL_PREFIX", literal), ncol("LITERAL_SUFFIX", literal), ncol("CREATE_PARAMS", literal),
		col("NULLABLE", small), col("CASE_SENSITIVE", small), col("SEARCHABLE", small), ncol("UNSIGNED_ATTRIBUTE", small), col("MONEY", small), ncol("AUTO_INCREMENT", small), ncol("LOCAL_TYPE_NAME", sysname),
		ncol("MINIMUM_SCALE", small), ncol("MAXIMUM_SCALE", small), col("SQL_DATA_TYPE", small), ncol("SQL_DATETIME_SUB", small), ncol("NUM_PREC_RADIX", integer), ncol("INTERVAL_PRECISION", small), ncol("USERTYPE", small)}}
	scale := func(n int64) sqltype.Value {
		if n < 0 {
			return null
		}
		return num(n)
	}
	for _, x := range typeInfos {
		t := largest(x.kind)
		d := odbcOf(t, a["@ODBCVer"].Int() == 3, newTypes)
		if x.kind == sqltype.XML && newTypes {
			d.typ, d.prec, d.dataType = -152, 0, num(-152)
		}
		if want := a["@data_type"]; !want.IsNull() && want.Int() != 0 && want.Int() != d.typ {
			continue
		}
		name := x.kind.String() + x.suffix
		if x.suffix == "sysname" {
			name, d.prec = "sysname", 128
		}
		end := null
		if strings.HasSuffix(x.prefix, "'") {
			end = text("'")
		}
		unsigned, increment, radix := null, null, null
		switch t.Class() {
		case sqltype.ClassInt, sqltype.ClassDecimal, sqltype.ClassFloat:
			if x.kind != sqltype.Bit {
				unsigned, radix = flag(x.unsigned), d.radix
			}
		}
		if x.increment != "" {
			increment = num(int64(x.increment[0] - '0'))
		}
		r.Data = append(r.Data, sqltype.Row{text(name), num(d.typ), num(d.prec), orNull(x.prefix), end, orNull(x.create), flag(!x.notNil), flag(false), num(x.searchable), unsigned,
			flag(x.kind == sqltype.Money || x.kind == sqltype.SmallMoney), increment, text(name), scale(x.least), scale(x.most), d.dataType, d.sub, radix, null, num(x.userType)})
	}
	if a["@ODBCVer"].Int() != 3 || !newTypes {
		sortRows(r.Data, 1)
	}
	return r, nil
}
