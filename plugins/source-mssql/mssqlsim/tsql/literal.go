package tsql

import (
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// literal binds a constant that is written down ("Microsoft: Constants (Transact-SQL)").
func (b *binder) literal(x ast.ScalarExpression) expr {
	switch e := x.(type) {
	case *ast.IntegerLiteral:
		n, err := strconv.ParseInt(e.Value, 10, 64)
		if err == nil && n <= 1<<31-1 {
			lit := constant(sqltype.Of(sqltype.Int), sqltype.FromInt(n))
			lit.digits = uint8(len(strconv.FormatInt(n, 10)))
			return lit
		}
		digits := strings.TrimLeft(e.Value, "0")
		d, ok := sqltype.ParseDecimal(e.Value)
		if !ok || len(digits) > 38 {
			failf(1007, "The number '%s' is out of the range for numeric representation (maximum precision 38).", e.Value)
		}
		return constant(sqltype.Type{Kind: sqltype.Numeric, Prec: uint8(len(digits))}, d)
	case *ast.NumericLiteral:
		d, ok := sqltype.ParseDecimal(e.Value)
		if !ok {
			failf(102, "Incorrect syntax near '%s'.", e.Value)
		}
		digits := max(len(strings.TrimLeft(strings.Replace(e.Value, ".", "", 1), "0")), int(d.Scale()), 1)
		if digits > 38 {
			failf(1007, "The number '%s' is out of the range for numeric representation (maximum precision 38).", e.Value)
		}
		return constant(sqltype.Type{Kind: sqltype.Numeric, Prec: uint8(digits), Scale: d.Scale()}, d)
	case *ast.MoneyLiteral:
		t := sqltype.Of(sqltype.Money)
		v, err := sqltype.Convert(sqltype.FromString(strings.Join(strings.Fields(e.Value), "")), sqltype.Str(sqltype.VarChar, 40), t, 0)
		if err != nil {
			fail(err)
		}
		return constant(t, v)
	case *ast.RealLiteral:
		digits := strings.TrimRight(e.Value, "eE+-") // the exponent may be left out: 2e (SqlScriptDOM, tests of the IF statement)
		if len(digits) < len(e.Value) {
			digits += "e0"
		}
		f, err := strconv.ParseFloat(digits, 64)
		if err != nil {
			failf(168, "The floating point value '%s' is out of the range of computer representation (8 bytes).", e.Value)
		}
		return constant(sqltype.Of(sqltype.Float), sqltype.FromFloat(f))
	case *ast.StringLiteral:
		return b.stringLiteral(e.Value, e.IsNational)
	case *ast.BinaryLiteral:
		s := e.Value[2:]
		if len(s)%2 == 1 {
			s = "0" + s
		}
		d, err := hex.DecodeString(s)
		if err != nil {
			failf(102, "Incorrect syntax near '%s'.", e.Value)
		}
		t := sqltype.Bin(sqltype.VarBinary, max(1, len(d)))
		if len(d) > 8000 {
			t.Len = sqltype.Max
		}
		return constant(t, sqltype.FromBytes(string(d)))
	}
	return constant(sqltype.Of(sqltype.Null), sqltype.Value{})
}

func (b *binder) stringLiteral(s string, national bool) expr {
	if national {
		n := len(utf16.Encode([]rune(s)))
		t := sqltype.Str(sqltype.NVarChar, max(1, n))
		if n > 4000 {
			t.Len = sqltype.Max
		}
		return constant(t, sqltype.FromString(s))
	}
	s = sqltype.Of(sqltype.VarChar).Keep(s) // without N it is in the database's code page (Microsoft: nchar and nvarchar (Transact-SQL))
	n := len([]rune(s))
	t := sqltype.Str(sqltype.VarChar, max(1, n))
	if n > 8000 {
		t.Len = sqltype.Max
	}
	return constant(t, sqltype.FromString(s))
}
