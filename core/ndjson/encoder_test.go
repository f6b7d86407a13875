package ndjson

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"
)

// column builds an array with fill and returns the lines its rows print as.
func column(t *testing.T, typ arrow.DataType, fill func(array.Builder)) []string {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	schema := arrow.NewSchema([]arrow.Field{{Name: "c", Type: typ, Nullable: true}}, nil)
	b := array.NewRecordBuilder(mem, schema)
	defer b.Release()
	fill(b.Field(0))
	rec := b.NewRecordBatch()
	defer rec.Release()
	var out bytes.Buffer
	enc, err := NewEncoder(&out, schema)
	if err != nil {
		t.Fatal(err)
	}
	if err := enc.Encode(rec); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	for i, l := range lines {
		if !json.Valid([]byte(l)) {
			t.Errorf("not JSON: %s", l)
		}
		lines[i] = strings.TrimSuffix(strings.TrimPrefix(l, `{"c":`), "}")
	}
	return lines
}

func TestForms(t *testing.T) {
	t.Parallel()
	utc := &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
	ntz := &arrow.TimestampType{Unit: arrow.Microsecond}
	tests := []struct {
		rule string
		typ  arrow.DataType
		fill func(array.Builder)
		want []string
	}{
		{"integers beyond 2^53 are exact", arrow.PrimitiveTypes.Int64, func(b array.Builder) {
			b.(*array.Int64Builder).AppendValues([]int64{math.MinInt64, math.MaxInt64, 0}, []bool{true, true, false})
		}, []string{"-9223372036854775808", "9223372036854775807", "null"}},
		{"small integers", arrow.PrimitiveTypes.Int8, func(b array.Builder) {
			b.(*array.Int8Builder).AppendValues([]int8{-128, 127}, nil)
		}, []string{"-128", "127"}},
		{"booleans", arrow.FixedWidthTypes.Boolean, func(b array.Builder) {
			b.(*array.BooleanBuilder).AppendValues([]bool{true, false}, nil)
		}, []string{"true", "false"}},
		{"float32 in its own shortest form", arrow.PrimitiveTypes.Float32, func(b array.Builder) {
			b.(*array.Float32Builder).AppendValues([]float32{0.1, -math.MaxFloat32, 1, float32(math.Copysign(0, -1))}, nil)
		}, []string{"0.1", "-3.4028235e+38", "1.0", "-0.0"}},
		{"floats and the values JSON lacks", arrow.PrimitiveTypes.Float64, func(b array.Builder) {
			b.(*array.Float64Builder).AppendValues([]float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 1e16, 1e15, 1e-5, 0.0001, -math.MaxFloat64, 5e-324}, nil)
		}, []string{`"NaN"`, `"Infinity"`, `"-Infinity"`, "-0.0", "1e+16", "1000000000000000.0", "1e-05", "0.0001", "-1.7976931348623157e+308", "5e-324"}},
		{"decimals keep the scale", &arrow.Decimal128Type{Precision: 9, Scale: 2}, func(b array.Builder) {
			b.(*array.Decimal128Builder).AppendValues([]decimal128.Num{decimal128.FromI64(-999999999), decimal128.FromI64(5), decimal128.FromI64(-5), {}}, nil)
		}, []string{`"-9999999.99"`, `"0.05"`, `"-0.05"`, `"0.00"`}},
		{"decimals of scale 0", &arrow.Decimal128Type{Precision: 38}, func(b array.Builder) {
			v, _ := decimal128.FromString("99999999999999999999999999999999999999", 38, 0)
			b.(*array.Decimal128Builder).Append(v)
		}, []string{`"99999999999999999999999999999999999999"`}},
		{"binary is lower-case hex", arrow.BinaryTypes.Binary, func(b array.Builder) {
			b.(*array.BinaryBuilder).AppendValues([][]byte{{0xFF, 0}, {}, nil}, []bool{true, true, false})
		}, []string{`"ff00"`, `""`, "null"}},
		{"dates", arrow.FixedWidthTypes.Date32, func(b array.Builder) {
			b.(*array.Date32Builder).AppendValues([]arrow.Date32{-719162, 2932896, 0, -1, 11016, -719528}, nil)
		}, []string{`"0001-01-01"`, `"9999-12-31"`, `"1970-01-01"`, `"1969-12-31"`, `"2000-02-29"`, `"0000-01-01"`}},
		{"timestamps end in Z", utc, func(b array.Builder) {
			b.(*array.TimestampBuilder).AppendValues([]arrow.Timestamp{-62135596800000000, -1, 253402300799999999}, nil)
		}, []string{`"0001-01-01T00:00:00.000000Z"`, `"1969-12-31T23:59:59.999999Z"`, `"9999-12-31T23:59:59.999999Z"`}},
		{"timestamps without zone have no Z", ntz, func(b array.Builder) {
			b.(*array.TimestampBuilder).AppendValues([]arrow.Timestamp{1, 0}, []bool{true, false})
		}, []string{`"1970-01-01T00:00:00.000001"`, "null"}},
		{"strings escape only what JSON requires", arrow.BinaryTypes.String, func(b array.Builder) {
			b.(*array.StringBuilder).AppendValues([]string{"日本 </é>\x7f", "a\"b\\c\nd\te\x00\x1f", ""}, nil)
		}, []string{"\"日本 </é>\x7f\"", `"a\"b\\c\nd\te\u0000\u001f"`, `""`}},
		{"structs are objects, a null field written", arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int32, Nullable: true}), func(b array.Builder) {
			s := b.(*array.StructBuilder)
			s.Append(true)
			s.FieldBuilder(0).AppendNull()
			s.AppendNull()
		}, []string{`{"x":null}`, "null"}},
		{"lists are arrays", arrow.ListOf(arrow.PrimitiveTypes.Int32), func(b array.Builder) {
			l := b.(*array.ListBuilder)
			l.Append(true)
			l.ValueBuilder().(*array.Int32Builder).Append(1)
			l.ValueBuilder().AppendNull()
			l.Append(true)
			l.AppendNull()
		}, []string{"[1,null]", "[]", "null"}},
		{"maps are pairs in order of the key", arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32), func(b array.Builder) {
			m := b.(*array.MapBuilder)
			m.Append(true)
			for i, k := range []string{"b", "a"} {
				m.KeyBuilder().(*array.StringBuilder).Append(k)
				m.ItemBuilder().(*array.Int32Builder).Append(int32(i))
			}
			m.AppendNull()
		}, []string{`[["a",1],["b",0]]`, "null"}},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			got := column(t, tt.typ, tt.fill)
			if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for name, typ := range map[string]arrow.DataType{
		"nanoseconds":        &arrow.TimestampType{Unit: arrow.Nanosecond},
		"nanoseconds inside": arrow.ListOf(arrow.StructOf(arrow.Field{Name: "n", Type: &arrow.TimestampType{Unit: arrow.Nanosecond}})),
		"durations":          arrow.FixedWidthTypes.Duration_us,
	} {
		if _, err := NewEncoder(nil, arrow.NewSchema([]arrow.Field{{Name: "bad", Type: typ}}, nil)); err == nil || !strings.Contains(err.Error(), `"bad"`) {
			t.Errorf("%s: got error %v, want one that names the column", name, err)
		}
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.BinaryTypes.String}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	b.Field(0).(*array.StringBuilder).Append("\xff")
	enc, err := NewEncoder(&bytes.Buffer{}, schema)
	if err != nil {
		t.Fatal(err)
	}
	if err := enc.Encode(b.NewRecordBatch()); err == nil || !strings.Contains(err.Error(), `column "s", row 0`) {
		t.Errorf("invalid UTF-8: got error %v, want one that names column and row", err)
	}
}

// TestTimesAgreeWithTime compares the calendar arithmetic with the standard library's.
func TestTimesAgreeWithTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		us := rapid.Int64Range(-62135596800000000, 253402300799999999).Draw(t, "us")
		want := time.UnixMicro(us).UTC().Format("2006-01-02T15:04:05.000000")
		if got := string(appendMicros(nil, us)); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	})
}

// FuzzStrings: every valid string comes back from the JSON that is written for
// it, every other one is refused.
func FuzzStrings(f *testing.F) {
	for _, s := range []string{"", "a\"\\\n\x00\x1f\x7f", "日本\u2028", "\xff", "\ufffd"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text, err := appendString(nil, s)
		if err != nil {
			if utf8.ValidString(s) {
				t.Fatalf("%q was refused: %v", s, err)
			}
			return
		}
		var back string
		if err := json.Unmarshal(text, &back); err != nil || back != s {
			t.Fatalf("%q was written as %s, which reads as %q, %v", s, text, back, err)
		}
	})
}
