package mssqlsim

import (
	"fmt"
	"math/big"
	"time"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// ValueOf gives a Go value as a value of a type. nil is NULL; integers, bool, floats, string, []byte, time.Time and
// sqltype.Value are taken where the type can hold them, text also for everything SQL Server converts it to (decimals,
// dates in ISO form, GUIDs). A value that does not fit is an error, never cut.
func ValueOf(v any, t sqltype.Type) (sqltype.Value, error) {
	var from sqltype.Type
	var x sqltype.Value
	switch n := v.(type) {
	case nil:
		return sqltype.Value{}, nil
	case sqltype.Value:
		return n, nil
	case int:
		from, x = sqltype.Of(sqltype.BigInt), sqltype.FromInt(int64(n))
	case int8:
		from, x = sqltype.Of(sqltype.BigInt), sqltype.FromInt(int64(n))
	case int16:
		from, x = sqltype.Of(sqltype.BigInt), sqltype.FromInt(int64(n))
	case int32:
		from, x = sqltype.Of(sqltype.BigInt), sqltype.FromInt(int64(n))
	case int64:
		from, x = sqltype.Of(sqltype.BigInt), sqltype.FromInt(n)
	case uint8:
		from, x = sqltype.Of(sqltype.BigInt), sqltype.FromInt(int64(n))
	case bool:
		from, x = sqltype.Of(sqltype.Bit), sqltype.FromBool(n)
	case float32:
		from, x = sqltype.Of(sqltype.Float), sqltype.FromFloat(float64(n))
	case float64:
		from, x = sqltype.Of(sqltype.Float), sqltype.FromFloat(n)
	case string:
		from, x = sqltype.Str(sqltype.NVarChar, sqltype.Max), sqltype.FromString(n)
	case []byte:
		from, x = sqltype.Bin(sqltype.VarBinary, sqltype.Max), sqltype.FromBytes(string(n))
	case time.Time:
		from, x = sqltype.Scaled(sqltype.DateTimeOffset, 7), sqltype.FromTimeOffset(n)
	default:
		return sqltype.Value{}, fmt.Errorf("a %T is no value of %s", v, t)
	}
	if t.Class() == from.Class() && t.Len > 0 && sqltype.Length(x, t) > t.Len {
		return sqltype.Value{}, fmt.Errorf("%d characters do not fit %s", sqltype.Length(x, t), t)
	}
	return sqltype.Convert(x, from, t, 0)
}

// GoValue gives a value as Go has it: int64, bool, float64, string, []byte,
// time.Time (UTC, or with its offset), GUIDs as upper-case text, nil for NULL. Exact numbers are text with all digits
// of their scale.
func GoValue(v sqltype.Value, t sqltype.Type) any {
	if v.IsNull() {
		return nil
	}
	switch t.Class() {
	case sqltype.ClassInt:
		return v.Int()
	case sqltype.ClassBit:
		return v.Bool()
	case sqltype.ClassFloat:
		return v.Float()
	case sqltype.ClassDecimal:
		return sqltype.FormatDecimal(v)
	case sqltype.ClassTime:
		return v.Time()
	case sqltype.ClassBinary, sqltype.ClassOther:
		return []byte(v.Str())
	case sqltype.ClassGUID:
		s, _ := sqltype.Format(v, t, 0) // a GUID always has a text
		return s
	}
	return v.Str()
}

// split gives a big integer as 128 bits in two's complement.
func split(n *big.Int) (high int64, low uint64) {
	if n.Sign() >= 0 {
		low = new(big.Int).And(n, mask64).Uint64()
		return new(big.Int).Rsh(n, 64).Int64(), low
	}
	m := new(big.Int).Add(n, two128)
	low = new(big.Int).And(m, mask64).Uint64()
	return int64(new(big.Int).Rsh(m, 64).Uint64()), low
}

var (
	mask64 = new(big.Int).SetUint64(1<<64 - 1)
	two128 = new(big.Int).Lsh(big.NewInt(1), 128)
)
