package sqltype

import (
	"errors"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func mustType(t *testing.T, s string) Type {
	t.Helper()
	typ, err := ParseType(s)
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

// Microsoft: Precision, scale, and length (Transact-SQL); Data type precedence (Transact-SQL).
func TestTypesOfArithmetic(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		op         Op
		a, b, want string
	}{
		{Add, "int", "int", "int"}, {Add, "tinyint", "bigint", "bigint"}, {Div, "int", "int", "int"}, {Add, "int", "float", "float"},
		{Add, "decimal(9,2)", "decimal(5,4)", "decimal(12,4)"}, {Mul, "decimal(9,2)", "decimal(5,4)", "decimal(15,6)"}, {Div, "decimal(9,2)", "int", "decimal(20,13)"},
		{Mul, "decimal(38,10)", "decimal(38,10)", "decimal(38,6)"}, {Div, "decimal(38,10)", "decimal(38,10)", "decimal(38,6)"}, {Add, "decimal(38,10)", "decimal(38,2)", "decimal(38,2)"},
		{Add, "varchar(10)", "nvarchar(5)", "nvarchar(15)"}, {Add, "char(10)", "varchar(5)", "varchar(15)"}, {Add, "datetime", "int", "datetime"}, {Add, "money", "int", "money"},
	} {
		got, err := ArithType(tc.op, mustType(t, tc.a), mustType(t, tc.b))
		if err != nil || got.String() != tc.want {
			t.Errorf("%s op %d %s: %s %v, want %s", tc.a, tc.op, tc.b, got, err, tc.want)
		}
	}
	for _, tc := range []struct{ a, b, want string }{
		{"int", "bigint", "bigint"}, {"decimal(9,2)", "int", "decimal(12,2)"}, {"varchar(10)", "nvarchar(5)", "nvarchar(10)"}, {"char(3)", "char(5)", "char(5)"}, {"char(3)", "varchar(5)", "varchar(5)"},
		{"binary(10)", "varbinary(8000)", "varbinary(8000)"}, {"date", "datetime2(3)", "datetime2(3)"}, {"varchar(10)", "int", "int"}, {"nvarchar(max)", "varchar(5)", "nvarchar(max)"}, {"real", "decimal(9,2)", "real"},
	} {
		for _, got := range []Type{Common(mustType(t, tc.a), mustType(t, tc.b)), Common(mustType(t, tc.b), mustType(t, tc.a))} {
			if got.String() != tc.want {
				t.Errorf("common of %s and %s: %s, want %s", tc.a, tc.b, got, tc.want)
			}
		}
	}
}

// Microsoft: CAST and CONVERT (Transact-SQL).
func TestConversions(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		from, val, to string
		style         int
		want          string
		number        int32
	}{
		{"varchar(20)", "0x00FF", "binary(4)", 1, "0x00FF0000", 0},
		{"varchar(20)", "00FF", "varbinary(4)", 2, "0x00FF", 0},
		{"varchar(20)", "00FF", "varbinary(4)", 1, "", 8114},
		{"varchar(20)", " 12 ", "int", 0, "12", 0},
		{"varchar(20)", "12x", "int", 0, "", 245},
		{"varchar(20)", "99999999999", "int", 0, "", 248},
		{"varchar(20)", "300", "tinyint", 0, "", 244},
		{"bigint", "300", "tinyint", 0, "", 220},
		{"bigint", "3000000000", "int", 0, "", 8115},
		{"varchar(20)", "1.005", "decimal(9,2)", 0, "1.01", 0},
		{"varchar(20)", "-1.005", "decimal(9,2)", 0, "-1.01", 0},
		{"varchar(20)", "12345.6", "decimal(5,1)", 0, "", 8115},
		{"varchar(20)", "abc", "decimal(5,1)", 0, "", 8114},
		{"int", "1234567", "varchar(3)", 0, "*", 0},
		{"int", "1234567", "nvarchar(3)", 0, "", 8115},
		{"varchar(20)", "True", "bit", 0, "1", 0},
		{"varchar(20)", "maybe", "bit", 0, "", 245},
		{"nvarchar(20)", "smile 🙂", "nvarchar(7)", 0, "smile ", 0},
		{"varchar(40)", "2026-01-02T03:04:05.9999999", "datetime2(3)", 0, "2026-01-02 03:04:06.000", 0},
		{"varchar(40)", "9999-12-31T23:59:59.9999999", "datetime2(0)", 0, "9999-12-31 23:59:59", 0},
		{"varchar(40)", "20260102", "date", 0, "2026-01-02", 0},
		{"varchar(40)", "2026-02-30", "date", 0, "", 241},
		{"varchar(40)", "0001-01-01", "datetime", 0, "", 242},
		{"varchar(40)", "2026-01-02 03:04:05.001", "datetime", 121, "2026-01-02 03:04:05.000", 0},
		{"varchar(40)", "2026-01-02 03:04:05.005", "datetime", 121, "2026-01-02 03:04:05.007", 0},
		{"varchar(40)", "2026-01-02 23:59:59.999", "datetime", 121, "2026-01-03 00:00:00.000", 0},
		{"varchar(40)", "6f9619ff-8b86-d011-b42d-00c04fc964ff", "uniqueidentifier", 0, "6F9619FF-8B86-D011-B42D-00C04FC964FF", 0},
		{"varchar(40)", "6f9619ff", "uniqueidentifier", 0, "", 8169},
		{"date", "2026-01-02", "int", 0, "", 529},
	} {
		from, to := mustType(t, tc.from), mustType(t, tc.to)
		v, err := Convert(FromString(tc.val), Str(VarChar, 40), from, 0)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Convert(v, from, to, tc.style)
		var e *Error
		if errors.As(err, &e) {
			if e.Number != tc.number {
				t.Errorf("%s %q to %s: error %d %s, want %d", tc.from, tc.val, tc.to, e.Number, e.Message, tc.number)
			}
			continue
		}
		show := tc.style
		if to.Class() == ClassBinary {
			show = 1
		}
		text, err := Convert(got, to, Str(NVarChar, 60), show)
		if err != nil || text.Str() != tc.want || tc.number != 0 {
			t.Errorf("%s %q to %s: %q %v, want %q (error %d)", tc.from, tc.val, tc.to, text.Str(), err, tc.want, tc.number)
		}
	}
}

// Decimal arithmetic agrees with exact fractions, cut or rounded at the result's scale.
func TestDecimalsAgainstFractions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) (Value, Type) {
			p := rapid.IntRange(1, 38).Draw(t, name+" precision")
			s := rapid.IntRange(0, p).Draw(t, name+" scale")
			n := new(big.Int).SetUint64(rapid.Uint64().Draw(t, name))
			n.Mul(n, new(big.Int).SetUint64(rapid.Uint64().Draw(t, name+" high")))
			n.Mod(n, pow10(uint8(p)))
			if rapid.Bool().Draw(t, name+" negative") {
				n.Neg(n)
			}
			return FromBig(n, uint8(s)), Dec(uint8(p), uint8(s))
		}
		a, at := draw("a")
		b, bt := draw("b")
		rat := func(v Value) *big.Rat { return new(big.Rat).SetFrac(v.Big(), pow10(v.Scale())) }
		op := Op(rapid.IntRange(int(Add), int(Div)).Draw(t, "op"))
		typ, err := ArithType(op, at, bt)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Arith(op, a, b, typ)
		want := new(big.Rat)
		switch op {
		case Add:
			want.Add(rat(a), rat(b))
		case Sub:
			want.Sub(rat(a), rat(b))
		case Mul:
			want.Mul(rat(a), rat(b))
		case Div:
			if rat(b).Sign() == 0 {
				if e := (*Error)(nil); !errors.As(err, &e) || e.Number != 8134 {
					t.Fatalf("division by zero: %v", err)
				}
				return
			}
			want.Quo(rat(a), rat(b))
		}
		if err != nil {
			limit := new(big.Rat).SetInt(pow10(typ.Prec - typ.Scale))
			if new(big.Rat).Abs(want).Cmp(new(big.Rat).Sub(limit, big.NewRat(1, 1))) < 0 {
				t.Fatalf("%s: %v", want.FloatString(10), err)
			}
			return
		}
		diff := new(big.Rat).Sub(rat(got), want)
		unit := new(big.Rat).SetFrac(big.NewInt(1), pow10(typ.Scale))
		if diff.Abs(diff).Cmp(unit) >= 0 || got.Scale() != typ.Scale {
			t.Fatalf("%s op %d %s = %s (scale %d), want %s", FormatDecimal(a), op, FormatDecimal(b), FormatDecimal(got), got.Scale(), want.FloatString(12))
		}
	})
}

// Equal values have equal keys, and unequal ones do not.
func TestKeysFollowEquality(t *testing.T) {
	t.Parallel()
	text := Str(NVarChar, 40)
	for _, tc := range []struct {
		a, b  Value
		typ   Type
		equal bool
	}{
		{FromString("abc  "), FromString("ABC"), text, true}, {FromString("é"), FromString("e"), text, false},
		{FromString("abc"), FromString("ABC"), Type{Kind: NVarChar, Len: 40, Collation: "Latin1_General_BIN2"}, false},
		{FromBytes("\x01\x00"), FromBytes("\x01"), Bin(VarBinary, 4), true}, {FromScaled(150, 2), FromScaled(15, 1), Dec(9, 2), true},
		{FromInt(1), FromInt(256), Of(Int), false}, {Value{}, Value{}, Of(Int), true}, {Value{}, FromInt(0), Of(Int), false},
	} {
		if got := Compare(tc.a, tc.b, tc.typ) == 0; got != tc.equal {
			t.Errorf("%v and %v compare %v", tc.a, tc.b, got)
		}
		if got := string(tc.a.AppendKey(nil, tc.typ)) == string(tc.b.AppendKey(nil, tc.typ)); got != tc.equal {
			t.Errorf("keys of %v and %v: %v", tc.a, tc.b, got)
		}
	}
}

// Ticks go to Go times and back, also at the ends of what SQL Server has.
func TestTicks(t *testing.T) {
	t.Parallel()
	for _, x := range []time.Time{time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999999900, time.UTC), time.Date(1969, 12, 31, 23, 59, 59, 100, time.UTC)} {
		if got := TimeOf(TicksOf(x)); !got.Equal(x) {
			t.Errorf("%v came back as %v", x, got)
		}
	}
}

// Microsoft: Comparing GUID and uniqueidentifier values: the last six bytes count most.
func TestGUIDOrder(t *testing.T) {
	t.Parallel()
	a, b := [16]byte{0: 0xFF}, [16]byte{10: 1}
	if Compare(FromGUID(a), FromGUID(b), Of(UniqueIdentifier)) >= 0 {
		t.Error("the first bytes count more than the last")
	}
}
