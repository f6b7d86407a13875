package mssql

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"pgregory.net/rapid"
)

func TestTypesOfTheOutput(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		sql  sqlType
		want string
		dt   arrow.Type
	}{
		{sqlType{name: "bit"}, "boolean", arrow.BOOL},
		{sqlType{name: "tinyint"}, "smallint", arrow.INT16},
		{sqlType{name: "smallint"}, "smallint", arrow.INT16},
		{sqlType{name: "int"}, "int", arrow.INT32},
		{sqlType{name: "bigint"}, "bigint", arrow.INT64},
		{sqlType{name: "real"}, "float", arrow.FLOAT32},
		{sqlType{name: "float"}, "double", arrow.FLOAT64},
		{sqlType{name: "decimal", precision: 38, scale: 10}, "decimal(38,10)", arrow.DECIMAL128},
		{sqlType{name: "numeric", precision: 9, scale: 2}, "decimal(9,2)", arrow.DECIMAL128},
		{sqlType{name: "money"}, "decimal(19,4)", arrow.DECIMAL128},
		{sqlType{name: "smallmoney"}, "decimal(10,4)", arrow.DECIMAL128},
		{sqlType{name: "date"}, "date", arrow.DATE32},
		{sqlType{name: "datetime"}, "timestamp_ntz", arrow.TIMESTAMP},
		{sqlType{name: "smalldatetime"}, "timestamp_ntz", arrow.TIMESTAMP},
		{sqlType{name: "datetime2", fraction: 7}, "timestamp_ntz", arrow.TIMESTAMP},
		{sqlType{name: "datetimeoffset", fraction: 7}, "timestamp", arrow.TIMESTAMP},
		{sqlType{name: "time", fraction: 7}, "string", arrow.STRING},
		{sqlType{name: "char", length: 3}, "string", arrow.STRING},
		{sqlType{name: "nvarchar", length: -1}, "string", arrow.STRING},
		{sqlType{name: "ntext"}, "string", arrow.STRING},
		{sqlType{name: "xml"}, "string", arrow.STRING},
		{sqlType{name: "uniqueidentifier"}, "string", arrow.STRING},
		{sqlType{name: "sysname"}, "string", arrow.STRING},
		{sqlType{name: "binary", length: 10}, "binary", arrow.BINARY},
		{sqlType{name: "varbinary", length: -1}, "binary", arrow.BINARY},
		{sqlType{name: "image"}, "binary", arrow.BINARY},
		{sqlType{name: "timestamp"}, "binary", arrow.BINARY},
		{sqlType{name: "rowversion"}, "binary", arrow.BINARY},
	} {
		out, ok := tc.sql.output()
		if !ok || out.String() != tc.want || out.arrow().ID() != tc.dt {
			t.Errorf("%s is %s (%v), want %s", tc.sql, out, out.arrow(), tc.want)
		}
		back, err := parseOutType(strings.ToUpper(out.String()))
		if err != nil || back != out {
			t.Errorf("%s reads back as %s, %v", out, back, err)
		}
	}
	for _, none := range []string{"sql_variant", "hierarchyid", "geometry", "geography", "json", "vector", "dbo.mytype", ""} {
		if out, ok := (sqlType{name: none}).output(); ok {
			t.Errorf("%s is %s", none, out)
		}
	}
	for _, bad := range []string{"", "text", "decimal", "decimal(39,0)", "decimal(5,6)", "decimal(0,0)", "array<int>"} {
		if _, err := parseOutType(bad); err == nil {
			t.Errorf("%q is a type", bad)
		}
	}
}

func TestATypeFitsAnotherWhenItHoldsEveryValue(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"short", "int", true}, {"short", "long", true}, {"int", "long", true}, {"long", "int", false}, {"int", "short", false},
		{"float", "double", true}, {"double", "float", false}, {"date", "timestamp_ntz", true}, {"date", "timestamp", false},
		{"short", "double", true}, {"int", "double", true}, {"long", "double", false}, {"int", "float", false},
		{"short", "decimal(5,0)", true}, {"short", "decimal(4,0)", false}, {"int", "decimal(10,0)", true}, {"int", "decimal(10,1)", false},
		{"long", "decimal(20,0)", true}, {"long", "decimal(19,0)", false}, {"decimal(9,2)", "decimal(18,4)", true},
		{"decimal(9,2)", "decimal(9,4)", false}, {"decimal(18,4)", "decimal(9,2)", false}, {"decimal(9,2)", "decimal(9,2)", true},
		{"string", "int", false}, {"int", "string", false}, {"timestamp_ntz", "timestamp", false}, {"binary", "string", false}, {"string", "string", true},
	} {
		a, _ := parseOutType(tc.a)
		b, _ := parseOutType(tc.b)
		if got := a.fits(b); got != tc.want {
			t.Errorf("%s fits %s: %v", a, b, got)
		}
	}
}

func TestTypesOfBounds(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		sql       sqlType
		collation string
		last      bool
		want      string // "" = cannot be bound
	}{
		{sqlType{name: "int"}, "", false, "int"},
		{sqlType{name: "decimal", precision: 20, scale: 10}, "", true, "decimal(20,10)"},
		{sqlType{name: "varchar", length: 8}, "Greek_CI_AS", false, "varchar(8) COLLATE Greek_CI_AS"},
		{sqlType{name: "varchar", length: -1}, "Greek_CI_AS", false, "varchar(max) COLLATE Greek_CI_AS"},
		{sqlType{name: "char", length: 8}, "", true, ""},
		{sqlType{name: "nvarchar", length: 8}, "", true, "nvarchar(8)"},
		{sqlType{name: "binary", length: 16}, "", true, "binary(16)"},
		{sqlType{name: "datetime2", fraction: 7}, "", false, ""},
		{sqlType{name: "datetime2", fraction: 7}, "", true, "datetime2(7)"},
		{sqlType{name: "datetime2", fraction: 6}, "", false, "datetime2(6)"},
		{sqlType{name: "datetimeoffset", fraction: 7}, "", false, ""},
		{sqlType{name: "time", fraction: 3}, "", true, ""},
		{sqlType{name: "geography"}, "", true, ""},
		{sqlType{name: "rowversion"}, "", true, "binary(8)"},
		{sqlType{name: "uniqueidentifier"}, "", true, "uniqueidentifier"},
	} {
		got, ok := tc.sql.bound(tc.collation, tc.last)
		if ok != (tc.want != "") || ok && got != tc.want {
			t.Errorf("%s, last %v: %q, %v, want %q", tc.sql, tc.last, got, ok, tc.want)
		}
	}
	for _, none := range []string{"bit", "text", "ntext", "image", "xml"} {
		if (sqlType{name: none}).sortable() {
			t.Errorf("%s is sorted", none)
		}
	}
}

func TestDecimalsAreExact(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text             string
		precision, scale int32
		want             string // unscaled, "" = refused
	}{
		{"0.1", 19, 4, "1000"}, {"-0.0001", 19, 4, "-1"}, {"922337203685477.5807", 19, 4, "9223372036854775807"},
		{"-922337203685477.5808", 19, 4, "-9223372036854775808"}, {"0.0000000000", 20, 10, "0"}, {"12", 9, 2, "1200"},
		{"99999999999999999999999999999999999999", 38, 0, "99999999999999999999999999999999999999"},
		{"-0.00000000000000000000000000000000000001", 38, 38, "-1"}, {"9999999999999999999.9999999999999999999", 38, 19, "99999999999999999999999999999999999999"},
		{"1.50", 9, 1, "15"}, {"1.55", 9, 1, ""}, {"100", 2, 0, ""}, {"10", 3, 2, ""}, {"", 9, 2, ""}, {"-", 9, 2, ""}, {".", 9, 2, ""},
		{"1e5", 9, 2, ""}, {"1.2.3", 9, 2, ""}, {"+5", 9, 0, "5"}, {"0000000000000000000000000000000000000000000001", 9, 0, "1"},
		{"100000000000000000000000000000000000000", 38, 0, ""}, {"99999999999999999999", 38, 20, ""},
	} {
		got, err := parseDecimal(tc.text, tc.precision, tc.scale)
		switch {
		case tc.want == "" && err == nil:
			t.Errorf("%q as decimal(%d,%d) is %s", tc.text, tc.precision, tc.scale, got.BigInt())
		case tc.want != "" && (err != nil || got.BigInt().String() != tc.want):
			t.Errorf("%q as decimal(%d,%d) is %s, %v, want %s", tc.text, tc.precision, tc.scale, got.BigInt(), err, tc.want)
		}
		if err != nil && len(tc.text) > 3 && strings.Contains(err.Error(), tc.text) {
			t.Errorf("a value stands in the message: %v", err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		scale := rapid.Int32Range(0, 38).Draw(t, "scale")
		digits := rapid.StringMatching(`[0-9]{1,38}`).Draw(t, "digits")
		n, _ := new(big.Int).SetString(digits, 10)
		text := digits
		for int32(len(text)) <= scale {
			text = "0" + text
		}
		text = text[:int32(len(text))-scale] + "." + text[int32(len(text))-scale:]
		got, err := parseDecimal(text, 38, scale)
		if err != nil || got.BigInt().Cmp(n) != 0 {
			t.Fatalf("%s as decimal(38,%d) is %s, %v", text, scale, got.BigInt(), err)
		}
	})
}

func FuzzParseDecimal(f *testing.F) {
	f.Add("-12.340", int32(9), int32(2))
	f.Fuzz(func(t *testing.T, text string, precision, scale int32) {
		if precision < 1 || precision > 38 || scale < 0 || scale > precision {
			return
		}
		n, err := parseDecimal(text, precision, scale)
		if err != nil {
			return
		}
		r, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("%q is read and is no number", text)
		}
		unscaled := new(big.Rat).SetFrac(n.BigInt(), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil))
		if r.Cmp(unscaled) != 0 {
			t.Fatalf("%q is read as %s", text, unscaled)
		}
	})
}

func TestTextsOfTimesAndIdentifiers(t *testing.T) {
	t.Parallel()
	if got := string(appendTimeOfDay(nil, time.Date(1, 1, 1, 13, 50, 1, 123456700, time.UTC))); got != "13:50:01.123456700" {
		t.Errorf("time is %s", got)
	}
	wire := []byte{0xFF, 0x19, 0x96, 0x6F, 0x86, 0x8B, 0x11, 0xD0, 0xB4, 0x2D, 0x00, 0xC0, 0x4F, 0xC9, 0x64, 0xFF}
	if got := string(appendGUID(nil, wire)); got != "6F9619FF-8B86-D011-B42D-00C04FC964FF" {
		t.Errorf("uniqueidentifier is %s", got)
	}
	for _, tc := range []struct {
		at   time.Time
		want int64
	}{{time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC), 0}, {time.Date(1969, 12, 31, 23, 0, 0, 0, time.UTC), -1}, {time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), -719162}, {time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC), 2932896}} {
		if got := days(tc.at); got != tc.want {
			t.Errorf("%v is day %d, want %d", tc.at, got, tc.want)
		}
	}
}
