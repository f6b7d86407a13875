package tds_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tds"
)

// typedValue is a column of "select types", and what go-mssqldb must make of it.
type typedValue struct {
	name string
	t    tds.Type
	v    any
	want any    // as show gives it; nil: as the value
	db   string // DatabaseTypeName
}

func typedValues(t testing.TB) []typedValue {
	long := strings.Repeat("漢😀", 20000)
	bin := bytes.Repeat([]byte{0, 0xFF}, 40000)
	return []typedValue{
		{"tinyint", tds.TinyInt, int64(255), nil, "TINYINT"},
		{"smallint", tds.SmallInt, int64(-32768), nil, "SMALLINT"},
		{"int", tds.Int, int64(-2147483648), nil, "INT"},
		{"bigint", tds.BigInt, int64(-9223372036854775808), nil, "BIGINT"},
		{"bit", tds.Bit, true, nil, "BIT"},
		{"real", tds.Real, float64(float32(1.5e-30)), nil, "REAL"},
		{"float", tds.Float, 1.7976931348623157e308, nil, "FLOAT"},
		{"decimal(9,2)", tds.Decimal(9, 2), dec(t, "-123456789", 2), "-1234567.89", "DECIMAL"},
		{"decimal(19,4)", tds.Decimal(19, 4), dec(t, "1234567890123456789", 4), "123456789012345.6789", "DECIMAL"},
		{"decimal(28,0)", tds.Decimal(28, 0), dec(t, "9999999999999999999999999999", 0), "9999999999999999999999999999", "DECIMAL"},
		{"decimal(38,38)", tds.Decimal(38, 38), dec(t, "-99999999999999999999999999999999999999", 38), "-0.99999999999999999999999999999999999999", "DECIMAL"},
		{"decimal rescaled", tds.Decimal(9, 4), dec(t, "15", 1), "1.5000", "DECIMAL"},
		{"numeric(5,5)", tds.Numeric(5, 5), dec(t, "1", 5), "0.00001", "DECIMAL"},
		{"money", tds.Money, dec(t, "-9223372036854775808", 4), "-922337203685477.5808", "MONEY"},
		{"smallmoney", tds.SmallMoney, dec(t, "2147483647", 4), "214748.3647", "SMALLMONEY"},
		{"date", tds.Date, moment, "2024-02-29T00:00:00Z", "DATE"},
		{"date first", tds.Date, earliest, "0001-01-01T00:00:00Z", "DATE"},
		{"time(7)", tds.Time(7), moment, "0001-01-01T23:59:59.1234567Z", "TIME"},
		{"time(0)", tds.Time(0), moment, "0001-01-01T23:59:59Z", "TIME"},
		{"time(3)", tds.Time(3), moment, "0001-01-01T23:59:59.123Z", "TIME"},
		{"datetime2(7)", tds.DateTime2(7), moment, "2024-02-29T23:59:59.1234567Z", "DATETIME2"},
		{"datetime2(7) last", tds.DateTime2(7), latest, "9999-12-31T23:59:59.9999999Z", "DATETIME2"},
		{"datetime2(3)", tds.DateTime2(3), moment, "2024-02-29T23:59:59.123Z", "DATETIME2"},
		{"datetimeoffset(7)", tds.DTOffset(7), offset, "2024-02-29T23:59:59.1234567+05:30", "DATETIMEOFFSET"},
		{"datetime", tds.DateTime, moment, "2024-02-29T23:59:59.123Z", "DATETIME"},
		{"smalldatetime", tds.SmallDateTime, moment, "2024-02-29T23:59:00Z", "SMALLDATETIME"},
		{"uniqueidentifier", tds.UniqueID, guid, "67452301ab89efcd0123456789abcdef", "UNIQUEIDENTIFIER"},
		{"binary(10)", tds.Binary(10), []byte{0, 0, 0, 0x27, 0, 0, 0, 0x48, 0, 3}, "00000027000000480003", "BINARY"},
		{"binary padded", tds.Binary(4), []byte{1}, "01000000", "BINARY"},
		{"varbinary(50)", tds.VarBinary(50), []byte{1, 2, 3}, "010203", "VARBINARY"},
		{"varbinary empty", tds.VarBinary(50), []byte{}, "", "VARBINARY"},
		{"varbinary(max)", tds.VarBinary(-1), bin, hex.EncodeToString(bin), "VARBINARY"},
		{"varbinary(max) empty", tds.VarBinary(-1), []byte{}, "", "VARBINARY"},
		{"char(5)", tds.Char(5), "ab", "ab   ", "CHAR"},
		{"varchar(20)", tds.VarChar(20), "plain", nil, "VARCHAR"},
		{"varchar cp1252", tds.VarChar(20), "€uro éß", nil, "VARCHAR"},
		{"varchar of a lacking character", tds.VarChar(20), "a漢b", "a?b", "VARCHAR"},
		{"varchar cyrillic", tds.Type{ID: tds.IDVarChar, Size: 20, Collation: tds.Collation{0x19, 0x04, 0xD0, 0x00, 0x00}}, "Привет", nil, "VARCHAR"},
		{"varchar(max)", tds.VarChar(-1), strings.Repeat("v", 70000), nil, "VARCHAR"},
		{"nchar(4)", tds.NChar(4), "é漢", "é漢  ", "NCHAR"},
		{"nvarchar(100)", tds.NVarChar(100), "héllo 漢字 😀", nil, "NVARCHAR"},
		{"nvarchar(max)", tds.NVarChar(-1), long, nil, "NVARCHAR"},
		{"nvarchar(max) empty", tds.NVarChar(-1), "", nil, "NVARCHAR"},
		{"xml", tds.XML, "<a b=\"1\">漢</a>", nil, "XML"},
		{"text", tds.Text, "old text é", nil, "TEXT"},
		{"ntext", tds.NText, "old 漢", nil, "NTEXT"},
		{"image", tds.Image, []byte{9, 8}, "0908", "IMAGE"},
		{"sql_variant bigint", tds.Variant, int64(7), nil, "SQL_VARIANT"},
		{"sql_variant int", tds.Variant, tds.Typed{Type: tds.Int, Value: int64(7)}, int64(7), "SQL_VARIANT"},
		{"sql_variant text", tds.Variant, "var", nil, "SQL_VARIANT"},
		{"sql_variant decimal", tds.Variant, dec(t, "12345", 2), "123.45", "SQL_VARIANT"},
		{"sql_variant time", tds.Variant, moment, "2024-02-29T23:59:59.1234567Z", "SQL_VARIANT"},
		{"sql_variant char", tds.Variant, tds.Typed{Type: tds.Char(3), Value: "é"}, "é  ", "SQL_VARIANT"},
		{"sql_variant binary", tds.Variant, []byte{1, 2}, "0102", "SQL_VARIANT"},
		{"sql_variant guid", tds.Variant, guid, "67452301ab89efcd0123456789abcdef", "SQL_VARIANT"},
		{"hierarchyid", tds.UDT("hierarchyid"), []byte{0x5A, 0xC0}, "5ac0", "HIERARCHYID"},
	}
}

// show gives what a driver returned a form to compare: bytes as hex, decimals as text, times in RFC 3339.
func show(v any, text bool) any {
	switch x := v.(type) {
	case []byte:
		if text {
			return string(x)
		}
		return hex.EncodeToString(x)
	case time.Time:
		return x.Format(time.RFC3339Nano)
	}
	return v
}

func (v typedValue) expected() any {
	if v.want != nil {
		return v.want
	}
	return v.v
}

// isText: go-mssqldb gives the bytes of these as text.
func (v typedValue) isText() bool {
	return strings.Contains(v.name, "decimal") || strings.Contains(v.name, "numeric") || strings.Contains(v.name, "money")
}

func TestEveryTypeAndItsNulls(t *testing.T) {
	t.Parallel()
	h, _, addr := newCanned(t)
	db := open(t, addr, "encrypt=disable")
	for _, q := range []string{"select types", "select nulls"} {
		rows, err := db.Query(q)
		if err != nil {
			t.Fatal(err)
		}
		types, err := rows.ColumnTypes()
		if err != nil {
			t.Fatal(err)
		}
		if len(types) != len(h.values) || !rows.Next() {
			t.Fatalf("%s: %d columns, %v", q, len(types), rows.Err())
		}
		got := make([]any, len(types))
		at := make([]any, len(types))
		for i := range got {
			at[i] = &got[i]
		}
		if err := rows.Scan(at...); err != nil {
			t.Fatal(err)
		}
		for i, v := range h.values {
			if n := types[i].DatabaseTypeName(); n != v.db {
				t.Errorf("%s: %s is named %s, want %s", q, v.name, n, v.db)
			}
			if strings.HasSuffix(q, "nulls") {
				if got[i] != nil {
					t.Errorf("%s: %s is %v, want NULL", q, v.name, got[i])
				}
				continue
			}
			if g := show(got[i], v.isText()); g != v.expected() {
				t.Errorf("%s: %s is %.80v (%T), want %.80v", q, v.name, g, got[i], v.expected())
			}
		}
		if rows.Next() || rows.Err() != nil {
			t.Errorf("%s: a second row, or %v", q, rows.Err())
		}
		rows.Close()
	}
}

func TestColumnSizesAndScalesArrive(t *testing.T) {
	t.Parallel()
	_, _, addr := newCanned(t)
	rows, err := open(t, addr, "encrypt=disable").Query("select types")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, c := range types {
		n, sized := c.Length()
		p, s, exact := c.DecimalSize()
		null, _ := c.Nullable()
		got[c.Name()] = fmt.Sprintf("%d/%v %d,%d/%v %v", n, sized, p, s, exact, null)
	}
	for name, want := range map[string]string{
		"decimal(9,2)":   "0/false 9,2/true true",
		"decimal(38,38)": "0/false 38,38/true true",
		"binary(10)":     "10/true 0,0/false true",
		"varchar(20)":    "20/true 0,0/false true",
		"nvarchar(100)":  "100/true 0,0/false true",
	} {
		if got[name] != want {
			t.Errorf("%s: %s, want %s", name, got[name], want)
		}
	}
}

func TestParametersOfEveryKind(t *testing.T) {
	t.Parallel()
	h, _, addr := newCanned(t)
	db := open(t, addr, "encrypt=disable")
	long := strings.Repeat("x", 9000)
	bin := bytes.Repeat([]byte{7}, 9000)
	cases := []struct {
		in   any
		typ  string // as the server decoded it; a type go-mssqldb chooses
		want any    // what comes back
	}{
		{int64(-5), "bigint", int64(-5)},
		{int32(4), "int", int64(4)},
		{3.25, "float", 3.25},
		{"héllo 😀", "nvarchar(8)", "héllo 😀"},
		{"", "nvarchar(max)", ""},
		{[]byte{0, 1, 2}, "varbinary(3)", "000102"},
		{[]byte{}, "varbinary(max)", ""},
		{true, "bit", true},
		{moment, "datetimeoffset(7)", "2024-02-29T23:59:59.1234567Z"},
		{nil, "null", nil},
		{mssql.VarChar("vc"), "varchar(2)", "vc"},
		{mssql.NVarCharMax("max"), "nvarchar(max)", "max"},
		{mssql.DateTime1(moment), "datetime", "2024-02-29T23:59:59.123Z"},
		{mssql.DateTimeOffset(offset), "datetimeoffset(7)", "2024-02-29T23:59:59.1234567+05:30"},
		{mssql.UniqueIdentifier(guid), "uniqueidentifier", "67452301ab89efcd0123456789abcdef"},
		{long, "nvarchar(max)", long},
		{bin, "varbinary(max)", hex.EncodeToString(bin)},
	}
	var args []any
	for _, c := range cases {
		args = append(args, c.in)
	}
	rows, err := db.Query("select echo @p1", args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if !rows.Next() {
		t.Fatal(rows.Err())
	}
	got := make([]any, len(cases))
	at := make([]any, len(cases))
	for i := range got {
		at[i] = &got[i]
	}
	if err := rows.Scan(at...); err != nil {
		t.Fatal(err)
	}
	params := h.last().Params
	for i, c := range cases {
		if g := show(got[i], false); g != c.want {
			t.Errorf("%T came back as %.60v, want %.60v", c.in, g, c.want)
		}
		if p := params[i]; p.Type.String() != c.typ || p.Name != fmt.Sprintf("@p%d", i+1) || p.Ordinal != i+2 {
			t.Errorf("%T: the server saw %s %s at %d, want @p%d %s at %d", c.in, p.Name, p.Type, p.Ordinal, i+1, c.typ, i+2)
		}
	}
}
