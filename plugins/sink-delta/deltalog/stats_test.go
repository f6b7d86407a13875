package deltalog

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestStringBoundsAreCut(t *testing.T) {
	t.Parallel()
	x32 := strings.Repeat("x", 32)
	max := string(rune(0x10FFFF))
	cases := []struct {
		name, in, min, max string
		noMin, noMax       bool
	}{
		{name: "short", in: "abc", min: "abc", max: "abc"},
		{name: "empty", in: "", min: "", max: ""},
		{name: "exactly the limit", in: x32, min: x32, max: x32},
		{name: "an ASCII character follows", in: x32 + "y", min: x32, max: x32 + "\u007f"},
		{name: "DEL follows", in: x32 + "\u007f", min: x32, max: x32 + max},
		{name: "a wide character follows", in: x32 + "é", min: x32, max: x32 + max},
		{name: "the greatest character follows", in: x32 + max + "a", min: x32, max: x32 + max + "\u007f"},
		{name: "nothing but the greatest character follows", in: x32 + max, min: x32, max: x32 + max},
		{name: "too many of the greatest character", in: strings.Repeat(max, 100), min: strings.Repeat(max, 32), noMax: true},
		{name: "characters, not bytes", in: strings.Repeat("é", 33), min: strings.Repeat("é", 32), max: strings.Repeat("é", 32) + max},
		{name: "not UTF-8", in: "ab\xff", noMin: true, noMax: true},
		{name: "not UTF-8 behind the cut", in: x32 + "\xff", min: x32, noMax: true},
		{name: "the replacement character itself", in: "\ufffd", min: "\ufffd", max: "\ufffd"},
	}
	for _, c := range cases {
		if got, ok := cutString(c.in, false); got != c.min || ok == c.noMin {
			t.Errorf("%s: min %q, %v", c.name, got, ok)
		}
		if got, ok := cutString(c.in, true); got != c.max || ok == c.noMax {
			t.Errorf("%s: max %q, %v", c.name, got, ok)
		}
	}
}

func TestCutStringStaysABound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		s := rapid.StringOfN(rapid.SampledFrom([]rune{'a', 0x7e, 0x7f, 0x80, 'é', 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10fffe, 0x10ffff}), 0, 100, -1).Draw(r, "s")
		if min, ok := cutString(s, false); !ok || min > s {
			r.Fatalf("min %q of %q", min, s)
		}
		if max, ok := cutString(s, true); ok && max < s {
			r.Fatalf("max %q of %q", max, s)
		}
	})
}

func TestStatsAsSparkWritesThem(t *testing.T) {
	t.Parallel()
	dec := func(s string) Value { v, err := parseDecimal(s); must(err); return v }
	ts, err := parseTimestamp("2024-03-31T02:30:00.123456")
	must(err)
	neg, err := parseTimestamp("1969-12-31 23:59:59.999999")
	must(err)
	s := &Stats{NumRecords: 3, TightBounds: false, Columns: []ColumnStats{
		{Path: []string{"id"}, Type: Long, Min: IntValue(math.MinInt64), Max: IntValue(math.MaxInt64), NullCount: 0},
		{Path: []string{"f"}, Type: Float, Min: FloatValue(-math.MaxFloat32), Max: FloatValue(math.NaN()), NullCount: 0},
		{Path: []string{"d"}, Type: Double, Min: FloatValue(math.Inf(-1)), Max: FloatValue(math.Copysign(0, -1)), NullCount: 1},
		{Path: []string{"c"}, Type: Decimal{18, 2}, Min: dec("-0.01"), Max: dec("110").withScale(2), NullCount: 0},
		{Path: []string{"s", "a"}, Type: String, Min: StringValue("<&>"), Max: StringValue("z\"\n"), NullCount: 1},
		{Path: []string{"s", "n"}, Type: TimestampNTZ, Min: TimestampValue(neg), Max: TimestampValue(ts), NullCount: 1},
		{Path: []string{"t"}, Type: Timestamp, Min: TimestampValue(ts), Max: TimestampValue(ts), NullCount: 0},
		{Path: []string{"far"}, Type: Timestamp, Min: TimestampValue(ts), Max: TimestampValue(math.MaxInt64), NullCount: -1},
		{Path: []string{"day"}, Type: Date, Min: DateValue(0), Max: DateValue(-1), NullCount: 0},
		{Path: []string{"bin"}, Type: Binary, Min: BinaryValue([]byte("a")), Max: BinaryValue([]byte("b")), NullCount: 2},
		{Path: []string{"flag"}, Type: Boolean, Min: BoolValue(false), Max: BoolValue(true), NullCount: 0},
		{Path: []string{"list"}, Type: &Array{Element: Long}, NullCount: 3},
	}}
	want := `{"numRecords":3,` +
		`"minValues":{"id":-9223372036854775808,"f":-3.4028235e+38,"d":"-Infinity","c":-0.01,"s":{"a":"<&>","n":"1969-12-31T23:59:59.999"},"t":"2024-03-31T02:30:00.123Z","far":"2024-03-31T02:30:00.123Z","day":"1970-01-01"},` +
		`"maxValues":{"id":9223372036854775807,"f":"NaN","d":-0.0,"c":110.00,"s":{"a":"z\"\n","n":"2024-03-31T02:30:00.123"},"t":"2024-03-31T02:30:00.123Z","day":"1969-12-31"},` +
		`"nullCount":{"id":0,"f":0,"d":1,"c":0,"s":{"a":1,"n":1},"t":0,"day":0,"bin":2,"flag":0,"list":3},"tightBounds":false}`
	got, err := s.Encode()
	if err != nil || got != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}

func (v Value) withScale(scale int32) Value {
	n, have := v.Decimal()
	return DecimalValue(n.Mul(n, pow10(scale-have)), scale)
}

func TestStatsOfOtherWritersAreRead(t *testing.T) {
	t.Parallel()
	schema := &Struct{Fields: []Field{
		{Name: "f", Type: Double}, {Name: "dec", Type: Decimal{38, 10}}, {Name: "n", Type: TimestampNTZ},
		{Name: "st", Type: &Struct{Fields: []Field{{Name: "x", Type: Integer}}}}, {Name: "d", Type: Double},
	}}
	// As delta-rs writes them: nulls, doubles for decimals, a space in timestamps.
	s, err := ParseStats(`{"numRecords":5,"minValues":{"f":-0.0,"dec":-9.999999999999997e+27,"n":"0001-01-01 00:00:00","st":{"x":1},"d":null},`+
		`"maxValues":{"f":null,"dec":-1E-10,"n":"9999-12-31 23:59:59.999","st":{"x":3}},"nullCount":{"st":{"x":2},"f":1},"unknown":[1,{"a":2}]}`, schema)
	if err != nil {
		t.Fatal(err)
	}
	if s.NumRecords != 5 || !s.TightBounds || len(s.Columns) != 4 {
		t.Fatalf("%+v", s)
	}
	want := []string{"[f] -0.0 NULL 1", "[dec] -9999999999999997000000000000 -0.0000000001 -1",
		"[n] 0001-01-01T00:00:00.000000 9999-12-31T23:59:59.999000 -1", "[st x] 1 3 2"}
	for i, c := range s.Columns {
		if got := fmt.Sprint(c.Path, " ", c.Min, " ", c.Max, " ", c.NullCount); got != want[i] {
			t.Errorf("%s, want %s", got, want[i])
		}
	}
}

// TestPruningNeverLosesRows makes files of random rows with statistics and asks
// for rows: a file with a row that matches must be kept.
func TestPruningNeverLosesRows(t *testing.T) {
	t.Parallel()
	types := []Type{Long, Double, Float, String, Decimal{38, 4}, Decimal{9, 2}, Date, Timestamp, TimestampNTZ}
	rapid.Check(t, func(r *rapid.T) {
		typ := rapid.SampledFrom(types).Draw(r, "type")
		schema := &Struct{Fields: []Field{{Name: "c", Type: typ, Nullable: true}}}
		rows := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) Value { return randomValue(r, typ) }), 0, 6).Draw(r, "rows")
		literals := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) Value { return randomValue(r, typ) }), 1, 3).Draw(r, "literals")
		col := ColumnStats{Path: []string{"c"}, Type: typ}
		for _, v := range rows {
			if v.IsNull() {
				col.NullCount++
				continue
			}
			if o, ok := Compare(v, col.Min); !ok || o < 0 {
				col.Min = v
			}
			if o, ok := Compare(v, col.Max); !ok || o > 0 {
				col.Max = v
			}
		}
		text, err := (&Stats{NumRecords: int64(len(rows)), TightBounds: true, Columns: []ColumnStats{col}}).Encode()
		if err != nil {
			r.Fatal(err)
		}
		op := Op(rapid.IntRange(int(OpEq), int(OpIsNotNull)).Draw(r, "op"))
		cmp := Comparison{Column: "c", Op: op, Values: literals}
		switch op {
		case OpIsNull, OpIsNotNull:
			cmp.Values = nil
		case OpIn:
		default:
			cmp.Values = literals[:1]
		}
		kept := newPruner(Where(cmp), schema, nil).mayMatch(nil, text)
		for _, v := range rows {
			if rowMatches(v, cmp) && !kept {
				r.Fatalf("%v %v is pruned, but %v matches; statistics %s", typ, cmp, v, text)
			}
		}
	})
}

func randomValue(r *rapid.T, t Type) Value {
	if rapid.IntRange(0, 5).Draw(r, "null") == 0 {
		return Value{}
	}
	n := rapid.Int64Range(-3, 3).Draw(r, "n")
	switch t := t.(type) {
	case Decimal:
		big10 := big.NewInt(n)
		if t.Precision == 38 && rapid.Bool().Draw(r, "large") {
			big10.Mul(big10, pow10(36))
			big10.Add(big10, big.NewInt(n))
		}
		return DecimalValue(big10, int32(t.Scale))
	case Primitive:
		switch t {
		case Long:
			return IntValue(n)
		case Double:
			return FloatValue(rapid.SampledFrom([]float64{-1.5, 0, math.Copysign(0, -1), 0.1, 1e300, math.Inf(1), math.Inf(-1), math.NaN()}).Draw(r, "f"))
		case Float:
			return FloatValue(float64(rapid.SampledFrom([]float32{-1.5, 0, 0.1, 0.3, 1e30, float32(math.NaN())}).Draw(r, "f")))
		case String:
			return StringValue(strings.Repeat("x", int(n+3)*10) + rapid.SampledFrom([]string{"", "a", "\u007f", "\U0010ffff", "é"}).Draw(r, "s"))
		case Date:
			return DateValue(int32(n))
		}
	}
	return TimestampValue(n * 333)
}

func rowMatches(v Value, c Comparison) bool {
	switch c.Op {
	case OpIsNull:
		return v.IsNull()
	case OpIsNotNull:
		return !v.IsNull()
	}
	for _, l := range c.Values {
		o, ok := Compare(v, l)
		if ok && map[Op]bool{OpEq: o == 0, OpIn: o == 0, OpNe: o != 0, OpLt: o < 0, OpLe: o <= 0, OpGt: o > 0, OpGe: o >= 0}[c.Op] {
			return true
		}
	}
	return false
}

func TestPruningDropsWhatCannotMatch(t *testing.T) {
	t.Parallel()
	schema := &Struct{Fields: []Field{{Name: "id", Type: Long}, {Name: "v", Type: String}, {Name: "p", Type: Date}, {Name: "ts", Type: Timestamp}, {Name: "d", Type: Double}}}
	const stats = `{"numRecords":3,"minValues":{"id":10,"v":"b","ts":"2024-01-01T00:00:00.000Z","d":1.5},"maxValues":{"id":20,"v":"d","ts":"2024-01-01T00:00:00.000Z","d":2.5},"nullCount":{"id":0,"v":3,"ts":1}}`
	day := "2024-02-29"
	one := func(column string, op Op, v ...Value) Predicate {
		return Where(Comparison{Column: column, Op: op, Values: v})
	}
	ts := int64(1704067200000000)
	leap, err := parseDate(day)
	must(err)
	cases := []struct {
		p    Predicate
		keep bool
	}{
		{nil, true},
		{Predicate{{}}, true},
		{one("id", OpEq, IntValue(9)), false},
		{one("id", OpEq, IntValue(10)), true},
		{one("ID", OpEq, IntValue(9)), false},
		{one("id", OpLt, IntValue(10)), false},
		{one("id", OpLe, IntValue(10)), true},
		{one("id", OpGt, IntValue(20)), false},
		{one("id", OpGe, IntValue(20)), true},
		{one("id", OpNe, IntValue(10)), true},
		{one("id", OpIn, IntValue(1), IntValue(30)), false},
		{one("id", OpIn, IntValue(1), IntValue(15)), true},
		{one("id", OpIn), false},
		{one("id", OpIsNull), false},
		{one("id", OpEq, NullValue()), false},
		{one("id", OpEq, FloatValue(9.5)), false},
		{one("id", OpEq, StringValue("9")), true}, // kinds that do not go together
		{one("v", OpIsNotNull), false},            // all null
		{one("v", OpEq, StringValue("c")), false},
		{one("nowhere", OpEq, IntValue(1)), true},
		{one("p", OpEq, DateValue(int32(leap))), true},
		{one("p", OpNe, DateValue(int32(leap))), false},
		{one("p", OpIsNull), false},
		{one("ts", OpEq, TimestampValue(ts+999)), true}, // cut away by the text
		{one("ts", OpEq, TimestampValue(ts+1001)), false},
		{one("ts", OpGt, TimestampValue(ts)), true},
		{one("d", OpGt, FloatValue(3)), true}, // there may be a NaN
		{one("d", OpLt, FloatValue(1)), false},
		{Where(Comparison{"id", OpGe, []Value{IntValue(10)}}, Comparison{"id", OpLt, []Value{IntValue(5)}}), false},
		{append(one("id", OpEq, IntValue(1)), one("id", OpEq, IntValue(11))...), true},
	}
	for _, c := range cases {
		if got := newPruner(c.p, schema, []string{"p"}).mayMatch(map[string]*string{"p": &day}, stats); got != c.keep {
			t.Errorf("%v: %v", c.p, got)
		}
	}
	// Without statistics everything is kept.
	if !newPruner(one("id", OpEq, IntValue(9)), schema, nil).mayMatch(nil, "") {
		t.Error("a file without statistics is dropped")
	}
	// A decimal bound that went through a double may be off.
	wide := &Struct{Fields: []Field{{Name: "m", Type: Decimal{38, 0}}}}
	v, err := parseDecimal("9999999999999999999999999999")
	must(err)
	if !newPruner(one("m", OpEq, v), wide, nil).mayMatch(nil, `{"numRecords":1,"minValues":{"m":1},"maxValues":{"m":9.999999999999998e+27},"nullCount":{"m":0}}`) {
		t.Error("a lossy decimal bound prunes")
	}
}
