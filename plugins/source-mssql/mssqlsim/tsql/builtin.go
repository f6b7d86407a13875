package tsql

import (
	"math"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// functionNamed finds a function that depends on its arguments only; others are asked of the session.
func functionNamed(name string) (fn builtin, ok bool) {
	switch name {
	case "ISNULL":
		fn = builtin{min: 2, max: 2, bind: func(b *binder, _ string, a []expr) expr { return b.isNull(a) }}
	case "CHOOSE":
		fn = builtin{min: 2, max: 255, bind: func(b *binder, _ string, a []expr) expr { return b.choose(a) }}
	case "GREATEST", "LEAST":
		fn = builtin{min: 1, max: 254, since: 2022, bind: (*binder).extreme}
	case "SQL_VARIANT_PROPERTY":
		fn = builtin{min: 2, max: 2, bind: func(b *binder, _ string, a []expr) expr { return b.variantProperty(a) }}
	case "DATALENGTH":
		fn = builtin{min: 1, max: 1, bind: func(b *binder, _ string, a []expr) expr { return b.dataLength(a[0]) }}
	case "ABS", "SIGN", "FLOOR", "CEILING":
		fn = builtin{min: 1, max: 1, bind: (*binder).sameNumber}
	case "ROUND":
		fn = builtin{min: 2, max: 3, bind: (*binder).round}
	case "POWER":
		fn = builtin{min: 2, max: 2, bind: (*binder).power}
	case "SQRT":
		fn = builtin{min: 1, max: 1, bind: floats(one(math.Sqrt))}
	case "SQUARE":
		fn = builtin{min: 1, max: 1, bind: floats(one(func(x float64) float64 { return x * x }))}
	case "EXP":
		fn = builtin{min: 1, max: 1, bind: floats(one(math.Exp))}
	case "LOG10":
		fn = builtin{min: 1, max: 1, bind: floats(one(log10))}
	case "SIN":
		fn = builtin{min: 1, max: 1, bind: floats(one(math.Sin))}
	case "COS":
		fn = builtin{min: 1, max: 1, bind: floats(one(math.Cos))}
	case "TAN":
		fn = builtin{min: 1, max: 1, bind: floats(one(math.Tan))}
	case "COT":
		fn = builtin{min: 1, max: 1, bind: floats(one(func(x float64) float64 { return 1 / math.Tan(x) }))}
	case "ASIN":
		fn = builtin{min: 1, max: 1, bind: floats(one(math.Asin))}
	case "ACOS":
		fn = builtin{min: 1, max: 1, bind: floats(one(math.Acos))}
	case "ATAN":
		fn = builtin{min: 1, max: 1, bind: floats(one(math.Atan))}
	case "ATN2":
		fn = builtin{min: 2, max: 2, bind: floats(func(v []float64) float64 { return math.Atan2(v[0], v[1]) })}
	case "PI":
		fn = builtin{bind: func(*binder, string, []expr) expr {
			return constant(sqltype.Of(sqltype.Float), sqltype.FromFloat(math.Pi))
		}}
	case "DEGREES", "RADIANS":
		fn = builtin{min: 1, max: 1, bind: (*binder).degrees}
	case "RAND":
		fn = builtin{max: 1, bind: (*binder).random}
	case "ISNUMERIC":
		fn = builtin{min: 1, max: 1, bind: (*binder).isNumeric}
	case "TODATETIMEOFFSET", "SWITCHOFFSET":
		fn = builtin{min: 2, max: 2, bind: (*binder).offsetFunction}
	case "YEAR", "MONTH", "DAY":
		fn = builtin{min: 1, max: 1, bind: (*binder).partFunction}
	case "EOMONTH":
		fn = builtin{min: 1, max: 2, bind: (*binder).endOfMonth}
	case "ISDATE":
		fn = builtin{min: 1, max: 1, bind: (*binder).isDate}
	case "DATEFROMPARTS":
		fn = builtin{min: 3, max: 3, bind: (*binder).fromParts}
	case "DATETIMEFROMPARTS":
		fn = builtin{min: 7, max: 7, bind: (*binder).fromParts}
	case "SMALLDATETIMEFROMPARTS", "TIMEFROMPARTS":
		fn = builtin{min: 5, max: 5, bind: (*binder).fromParts}
	case "DATETIME2FROMPARTS":
		fn = builtin{min: 8, max: 8, bind: (*binder).fromParts}
	case "DATETIMEOFFSETFROMPARTS":
		fn = builtin{min: 10, max: 10, bind: (*binder).fromParts}
	case "CONCAT":
		fn = builtin{min: 2, max: 254, bind: (*binder).concat}
	case "CONCAT_WS":
		fn = builtin{min: 3, max: 254, since: 2017, bind: (*binder).concat}
	case "SPACE":
		fn = builtin{min: 1, max: 1, bind: (*binder).space}
	case "CHAR", "NCHAR":
		fn = builtin{min: 1, max: 1, bind: (*binder).character}
	case "STR":
		fn = builtin{min: 1, max: 3, bind: (*binder).str}
	case "COLLATIONPROPERTY":
		fn = builtin{min: 2, max: 2, bind: (*binder).collationProperty}
	case "HASHBYTES":
		fn = builtin{min: 2, max: 2, bind: (*binder).hashBytes}
	case "ERROR_NUMBER", "ERROR_SEVERITY", "ERROR_STATE", "ERROR_MESSAGE", "ERROR_LINE", "ERROR_PROCEDURE":
		fn = builtin{bind: (*binder).caughtError}
	case "LOG":
		fn = builtin{min: 1, max: 2, bind: func(b *binder, name string, args []expr) expr {
			if len(args) == 1 {
				return floats(one(math.Log))(b, name, args)
			}
			return floats(func(v []float64) float64 { return math.Log(v[0]) / math.Log(v[1]) })(b, name, args)
		}}
	case "UPPER", "LOWER", "LEN", "REVERSE", "ASCII", "UNICODE":
		fn = builtin{min: 1, max: 1, bind: (*binder).textFunction}
	case "LEFT", "RIGHT", "PATINDEX", "REPLICATE", "PARSENAME", "STRING_ESCAPE":
		fn = builtin{min: 2, max: 2, bind: (*binder).textFunction}
	case "SUBSTRING", "REPLACE":
		fn = builtin{min: 3, max: 3, bind: (*binder).textFunction}
	case "QUOTENAME":
		fn = builtin{min: 1, max: 2, bind: (*binder).textFunction}
	case "CHARINDEX":
		fn = builtin{min: 2, max: 3, bind: (*binder).textFunction}
	case "STUFF":
		fn = builtin{min: 4, max: 4, bind: (*binder).textFunction}
	case "TRIM":
		fn = builtin{min: 1, max: 1, since: 2017, bind: (*binder).textFunction}
	case "TRANSLATE":
		fn = builtin{min: 3, max: 3, since: 2017, bind: (*binder).textFunction}
	case "LTRIM", "RTRIM": // the characters to take off came with SQL Server 2022
		fn = builtin{min: 1, max: 2, bind: func(b *binder, name string, args []expr) expr {
			if len(args) > 1 && b.sess.Release() < 2022 {
				failf(174, "The %s function requires 1 argument(s).", lower(name))
			}
			return b.textFunction(name, args)
		}}
	}
	return fn, fn.bind != nil
}

// builtin binds a function by its name.
func (b *binder) builtin(name string, args []expr) expr {
	if e, ok := b.lookup(name, args); ok {
		return e
	}
	if n, ok := metadataArity[name]; ok {
		if len(args) != n {
			b.arity(name, builtin{min: n, max: n})
		}
		return b.nameFunction(name, args)
	}
	switch name {
	case "HAS_PERMS_BY_NAME", "SERVERPROPERTY", "OBJECT_ID", "OBJECT_NAME", "OBJECT_SCHEMA_NAME", "DB_ID", "DB_NAME", "SCHEMA_ID", "SCHEMA_NAME",
		"IS_MEMBER", "IS_ROLEMEMBER", "IS_SRVROLEMEMBER", "USER_NAME", "USER_ID", "SUSER_NAME", "SUSER_SNAME", "SUSER_ID", "SUSER_SID", "DATABASE_PRINCIPAL_ID", "HAS_DBACCESS", "DATABASEPROPERTYEX", "IDENT_CURRENT", "IDENT_SEED", "IDENT_INCR":
		return b.nameFunction(name, args)
	case "ROWCOUNT_BIG":
		return constant(sqltype.Of(sqltype.BigInt), sqltype.FromInt(b.batch.rowCount))
	}
	return b.system(name, args)
}

// metadataArity are functions of the catalog and of the session that take so many arguments.
var metadataArity = map[string]int{"TYPE_NAME": 1, "TYPE_ID": 1, "COL_LENGTH": 2, "COL_NAME": 2, "COLUMNPROPERTY": 3, "INDEXPROPERTY": 3, "INDEX_COL": 3, "INDEXKEY_PROPERTY": 4, "OBJECTPROPERTY": 2,
	"OBJECTPROPERTYEX": 2, "OBJECT_DEFINITION": 1, "FILE_NAME": 1, "FILE_ID": 1, "FILE_IDEX": 1, "FILEGROUP_NAME": 1, "FILEGROUP_ID": 1, "ORIGINAL_DB_NAME": 0, "SESSIONPROPERTY": 1, "CONNECTIONPROPERTY": 1,
	"SESSION_CONTEXT": 1, "HOST_ID": 0, "CURRENT_REQUEST_ID": 0, "CURRENT_TRANSACTION_ID": 0}

// nameFunction binds a function of the catalog, whose arguments may come from rows.
func (b *binder) nameFunction(name string, args []expr) expr {
	konst := true
	text := sqltype.Str(sqltype.NVarChar, sqltype.Max)
	for i := range args {
		konst = konst && args[i].konst
		if args[i].typ.Class() == sqltype.ClassBinary { // a security identifier
			continue
		}
		args[i] = b.cast(args[i], text, 0)
	}
	_, t, ok, err := b.sess.System(name, make([]sqltype.Value, len(args)))
	if err != nil {
		fail(err)
	}
	if !ok {
		unsupported("the function %s", name)
	}
	return folded(expr{typ: t, null: true, konst: konst, eval: func(f *frame) sqltype.Value {
		vals := make([]sqltype.Value, len(args))
		for i, a := range args {
			vals[i] = a.eval(f)
		}
		v, _, _, err := b.sess.System(name, vals)
		if err != nil {
			b.fail(err)
		}
		return v
	}})
}

func (b *binder) dataLength(e expr) expr {
	t := sqltype.Of(sqltype.Int)
	if e.typ.Kind == sqltype.Null {
		return constant(t, sqltype.Value{})
	}
	if e.typ.LOB() {
		t = sqltype.Of(sqltype.BigInt)
	}
	fixed := map[sqltype.Kind]int64{sqltype.Bit: 1, sqltype.TinyInt: 1, sqltype.SmallInt: 2, sqltype.Int: 4, sqltype.BigInt: 8, sqltype.Real: 4, sqltype.Float: 8,
		sqltype.DateTime: 8, sqltype.SmallDateTime: 4, sqltype.Date: 3, sqltype.Money: 8, sqltype.SmallMoney: 4, sqltype.UniqueIdentifier: 16}
	n, ok := fixed[e.typ.Kind]
	switch e.typ.Kind { // storage sizes of the types' own pages
	case sqltype.Decimal, sqltype.Numeric:
		switch p := e.typ.Prec; {
		case p <= 9:
			n = 5
		case p <= 19:
			n = 9
		case p <= 28:
			n = 13
		default:
			n = 17
		}
		ok = true
	case sqltype.Time, sqltype.DateTime2, sqltype.DateTimeOffset:
		n = [8]int64{3, 3, 3, 4, 4, 5, 5, 5}[e.typ.Scale] + map[sqltype.Kind]int64{sqltype.DateTime2: 3, sqltype.DateTimeOffset: 5}[e.typ.Kind]
		ok = true
	}
	unit := int64(1)
	if !ok {
		switch e.typ.Class() {
		case sqltype.ClassString:
			if e.typ.Unicode() {
				unit = 2
			}
		case sqltype.ClassBinary:
		default:
			unsupported("DATALENGTH of %s", e.typ)
		}
	}
	return expr{typ: t, null: e.null, konst: e.konst, eval: func(f *frame) sqltype.Value {
		v := e.eval(f)
		if v.IsNull() {
			return v
		}
		if ok {
			return sqltype.FromInt(n)
		}
		return sqltype.FromInt(int64(sqltype.Length(v, e.typ)) * unit)
	}}
}
