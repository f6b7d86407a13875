package tsql

import (
	"math/big"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// builtin binds a function that depends on its arguments only; others are asked of the session.
func (b *binder) builtin(name string, args []expr) expr {
	if fn, ok := textFunctions[name]; ok {
		if len(args) < fn.args || fn.args == 0 && len(args) == 0 {
			failf(174, "The %s function requires %d argument(s).", strings.ToLower(name), fn.args)
		}
		return b.textFunction(name, fn, args)
	}
	switch name {
	case "ISNULL":
		if len(args) != 2 {
			failf(174, "The isnull function requires 2 argument(s).")
		}
		t := args[0].typ
		if t.Kind == sqltype.Null {
			t = args[1].typ
		}
		x, y := b.cast(args[0], t, 0), b.cast(args[1], t, 0)
		return expr{typ: t, null: y.null, konst: x.konst && y.konst, eval: func(f *frame) sqltype.Value {
			if v := x.eval(f); !v.IsNull() {
				return v
			}
			return y.eval(f)
		}}
	case "SQL_VARIANT_PROPERTY":
		return b.variantProperty(args)
	case "DATALENGTH":
		return b.dataLength(args[0])
	case "ABS", "SIGN", "FLOOR", "CEILING":
		return b.numeric(name, args[0])
	case "TODATETIMEOFFSET", "SWITCHOFFSET":
		return b.offsetFunction(name, args)
	case "CONCAT":
		return b.concat(args)
	case "YEAR", "MONTH", "DAY":
		return b.dateFunction("DATEPART", strings.ToLower(name), args)
	case "ERROR_NUMBER", "ERROR_SEVERITY", "ERROR_STATE", "ERROR_MESSAGE", "ERROR_LINE", "ERROR_PROCEDURE":
		return b.caughtError(name, args)
	case "HAS_PERMS_BY_NAME", "SERVERPROPERTY", "OBJECT_ID", "OBJECT_NAME", "OBJECT_SCHEMA_NAME", "DB_ID", "DB_NAME", "SCHEMA_ID", "SCHEMA_NAME", "COL_LENGTH", "TYPE_NAME", "COL_NAME",
		"IS_MEMBER", "IS_ROLEMEMBER", "IS_SRVROLEMEMBER", "USER_NAME", "USER_ID", "SUSER_NAME", "SUSER_SNAME", "SUSER_ID", "SUSER_SID", "DATABASE_PRINCIPAL_ID", "HAS_DBACCESS", "DATABASEPROPERTYEX", "IDENT_CURRENT", "IDENT_SEED", "IDENT_INCR":
		return b.nameFunction(name, args)
	}
	return b.system(name, args)
}

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
		failf(195, "'%s' is not a recognized built-in function name.", name)
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
	fixed := map[sqltype.Kind]int64{sqltype.Bit: 1, sqltype.TinyInt: 1, sqltype.SmallInt: 2, sqltype.Int: 4, sqltype.BigInt: 8, sqltype.Real: 4, sqltype.Float: 8,
		sqltype.DateTime: 8, sqltype.SmallDateTime: 4, sqltype.Date: 3, sqltype.Money: 8, sqltype.SmallMoney: 4, sqltype.UniqueIdentifier: 16}
	n, ok := fixed[e.typ.Kind]
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

func (b *binder) numeric(name string, e expr) expr {
	t := e.typ
	if t.Class() == sqltype.ClassString {
		e = b.cast(e, sqltype.Of(sqltype.Float), 0)
		t = e.typ
	}
	whole := t
	if name != "ABS" && t.Class() == sqltype.ClassDecimal {
		whole = sqltype.Dec(t.AsDecimal().Prec, 0)
		if name == "SIGN" {
			whole = t
		}
	}
	return expr{typ: whole, null: e.null, konst: e.konst, eval: func(f *frame) sqltype.Value {
		v := e.eval(f)
		if v.IsNull() {
			return v
		}
		switch t.Class() {
		case sqltype.ClassInt:
			n := v.Int()
			switch name {
			case "ABS":
				if n < 0 {
					w, err := sqltype.Arith(sqltype.Sub, sqltype.FromInt(0), v, t)
					if err != nil {
						b.fail(err)
					}
					return w
				}
			case "SIGN":
				return sqltype.FromInt(int64(big.NewInt(n).Sign()))
			}
			return v
		case sqltype.ClassDecimal:
			n := v.Big()
			if name == "ABS" {
				return sqltype.FromBig(n.Abs(n), v.Scale())
			}
		}
		b.fail(sqltype.Unsupported("%s of %s", name, t))
		return v
	}}
}

func (b *binder) concat(args []expr) expr {
	if len(args) < 2 {
		failf(189, "The concat function requires 2 to 254 arguments.")
	}
	kind, length := sqltype.VarChar, 0
	for _, a := range args {
		if a.typ.Unicode() {
			kind = sqltype.NVarChar
		}
	}
	for i := range args {
		n := 30
		if args[i].typ.Class() == sqltype.ClassString {
			n = args[i].typ.Len
		}
		if n == sqltype.Max || length == sqltype.Max {
			length = sqltype.Max
		} else {
			length = min(length+n, map[sqltype.Kind]int{sqltype.VarChar: 8000, sqltype.NVarChar: 4000}[kind])
		}
		args[i] = b.cast(args[i], sqltype.Str(kind, sqltype.Max), 0)
	}
	return expr{typ: sqltype.Str(kind, length), eval: func(f *frame) sqltype.Value {
		var s strings.Builder
		for _, a := range args {
			v := a.eval(f).Str()
			if s.Len()+len(v) > sqltype.LongestValue {
				b.fail(sqltype.TooLong())
				return sqltype.Value{}
			}
			s.WriteString(v)
		}
		return sqltype.FromString(s.String())
	}}
}
