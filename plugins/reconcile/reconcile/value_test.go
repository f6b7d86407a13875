package reconcile

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	"github.com/pipectl/pipectl/core/diag"
)

func arrayOf(t *testing.T, typ arrow.DataType, fill func(array.Builder)) arrow.Array {
	t.Helper()
	b := array.NewBuilder(memory.DefaultAllocator, typ)
	defer b.Release()
	fill(b)
	return b.NewArray()
}

func texted(values ...string) func(array.Builder) {
	return func(b array.Builder) {
		for _, v := range values {
			if v == "NULL" {
				b.AppendNull()
			} else if err := b.AppendValueFromString(v); err != nil {
				panic(err)
			}
		}
	}
}

func floats64(values ...float64) func(array.Builder) {
	return func(b array.Builder) {
		for _, v := range values {
			b.(*array.Float64Builder).Append(v)
		}
	}
}

// A value that is the same in both tables has the same form, whatever type
// silver keeps it in; another value has another form.
func TestFormsAreEqualExactlyWhenValuesAre(t *testing.T) {
	t.Parallel()
	us, ms, ns := &arrow.TimestampType{Unit: arrow.Microsecond}, &arrow.TimestampType{Unit: arrow.Millisecond}, &arrow.TimestampType{Unit: arrow.Nanosecond}
	zoned := &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
	decimal := func(p, s int32) arrow.DataType { return &arrow.Decimal128Type{Precision: p, Scale: s} }
	for name, c := range map[string]struct {
		want, have  arrow.DataType
		left, right func(array.Builder)
		equal       bool
	}{
		"integers of other widths":          {arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int64, texted("-5"), texted("-5"), true},
		"an integer that does not fit":      {arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int64, texted("1"), texted("65537"), false},
		"NULL and zero":                     {arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int32, texted("NULL"), texted("0"), false},
		"NULL and NULL":                     {arrow.BinaryTypes.String, arrow.BinaryTypes.String, texted("NULL"), texted("NULL"), true},
		"NULL and the empty text":           {arrow.BinaryTypes.String, arrow.BinaryTypes.String, texted("NULL"), texted(""), false},
		"texts with trailing blanks":        {arrow.BinaryTypes.String, arrow.BinaryTypes.String, texted("a"), texted("a "), false},
		"a large text":                      {arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, texted("a"), texted("a"), true},
		"decimals of another scale":         {decimal(10, 2), decimal(12, 4), texted("1.50"), texted("1.5000"), true},
		"a decimal finer than the source's": {decimal(10, 2), decimal(12, 4), texted("1.50"), texted("1.5001"), false},
		"a decimal too large":               {decimal(3, 2), decimal(38, 2), texted("1.50"), texted("151.50"), false},
		"negative decimals":                 {decimal(38, 10), decimal(38, 10), texted("-0.0000000001"), texted("-0.0000000001"), true},
		"one NaN": {arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Float64, floats64(math.NaN()),
			floats64(math.Float64frombits(0xfff8000000000001)), true},
		"one zero":                     {arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Float64, floats64(0), floats64(math.Copysign(0, -1)), true},
		"NaN and infinity":             {arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Float64, floats64(math.NaN()), floats64(math.Inf(1)), false},
		"no tolerance":                 {arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Float64, floats64(0.1), floats64(math.Nextafter(0.1, 1)), false},
		"a real kept as a double":      {arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, texted("0.1"), floats64(float64(float32(0.1))), true},
		"times in another unit":        {us, ms, texted("2026-03-01 10:00:00.123"), texted("2026-03-01 10:00:00.123"), true},
		"nanoseconds are cut, not up":  {us, ns, texted("1969-12-31 23:59:59.999999"), texted("1969-12-31 23:59:59.999999900"), true},
		"a microsecond apart":          {us, us, texted("2026-03-01 10:00:00.123456"), texted("2026-03-01 10:00:00.123457"), false},
		"an instant kept without zone": {zoned, us, texted("2026-03-01 10:00:00Z"), texted("2026-03-01 10:00:00"), true},
		"booleans":                     {arrow.FixedWidthTypes.Boolean, arrow.FixedWidthTypes.Boolean, texted("true"), texted("false"), false},
		"dates":                        {arrow.PrimitiveTypes.Date32, arrow.PrimitiveTypes.Date32, texted("0001-01-01"), texted("0001-01-01"), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k, err := kindOf(arrow.Field{Name: "c", Type: c.want})
			if err != nil {
				t.Fatal(err)
			}
			var forms [2][]byte
			for i, side := range []struct {
				typ  arrow.DataType
				fill func(array.Builder)
			}{{c.want, c.left}, {c.have, c.right}} {
				a := arrayOf(t, side.typ, side.fill)
				defer a.Release()
				column, err := k.bind(a)
				if err != nil {
					t.Fatal(err)
				}
				forms[i] = column.appendTo(nil, 0)
				if value, rest, err := k.next(append(forms[i], 7)); err != nil || !bytes.Equal(value, forms[i]) || len(rest) != 1 {
					t.Errorf("form %x splits into %x and %x, error %v", forms[i], value, rest, err)
				}
			}
			if got := bytes.Equal(forms[0], forms[1]); got != c.equal {
				t.Errorf("equal %v, want %v: %x, %x", got, c.equal, forms[0], forms[1])
			}
		})
	}
}

func TestTypesThatCannotBeCompared(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]arrow.DataType{
		{arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String},
		{arrow.BinaryTypes.String, arrow.BinaryTypes.Binary},
		{arrow.PrimitiveTypes.Date32, arrow.PrimitiveTypes.Int32},
		{arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Date32},
		{arrow.PrimitiveTypes.Float64, &arrow.Decimal128Type{Precision: 10}},
		{&arrow.Decimal128Type{Precision: 10}, arrow.PrimitiveTypes.Float64},
		{&arrow.TimestampType{Unit: arrow.Microsecond}, arrow.PrimitiveTypes.Date32},
		{arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8},
	} {
		k, err := kindOf(arrow.Field{Name: "c", Type: c[0]})
		if err != nil {
			t.Fatal(err)
		}
		a := arrayOf(t, c[1], texted("NULL"))
		if _, err := k.bind(a); diag.KindOf(err) != diag.KindSchemaChanged {
			t.Errorf("%s with %s: %v", c[0], c[1], err)
		}
		a.Release()
	}
	if _, err := kindOf(arrow.Field{Name: "c", Type: arrow.ListOf(arrow.PrimitiveTypes.Int8)}); diag.KindOf(err) != diag.KindUnsupported {
		t.Errorf("a list: %v", err)
	}
}

func TestKeysAreWrittenAsJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		typ         arrow.DataType
		value, want string
	}{
		{arrow.PrimitiveTypes.Int64, "-9223372036854775808", `-9223372036854775808`},
		{arrow.PrimitiveTypes.Int64, "NULL", `null`},
		{arrow.BinaryTypes.String, "a \"quote\"", `"a \"quote\""`},
		{arrow.PrimitiveTypes.Date32, "1969-12-31", `"1969-12-31"`},
		{&arrow.TimestampType{Unit: arrow.Microsecond}, "2026-03-01 10:00:00.5", `"2026-03-01T10:00:00.500000"`},
		{&arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}, "2026-03-01 10:00:00Z", `"2026-03-01T10:00:00.000000Z"`},
		{&arrow.Decimal128Type{Precision: 10, Scale: 2}, "-0.05", `"-0.05"`},
		{arrow.FixedWidthTypes.Boolean, "true", `true`},
		{arrow.PrimitiveTypes.Float32, "0.1", `0.1`},
		{arrow.PrimitiveTypes.Float64, "NaN", `"NaN"`},
		{arrow.BinaryTypes.Binary, "AH8=", `"0x007f"`},
	} {
		k, err := kindOf(arrow.Field{Name: "k", Type: c.typ})
		if err != nil {
			t.Fatal(err)
		}
		a := arrayOf(t, c.typ, texted(c.value))
		column, err := k.bind(a)
		if err != nil {
			t.Fatal(err)
		}
		got, err := keyJSON([]kind{k, k}, column.appendTo(column.appendTo(nil, 0), 0))
		if want := `{"k":` + c.want + `,"k":` + c.want + `}`; err != nil || got != want {
			t.Errorf("%s: %s, want %s, error %v", c.value, got, want, err)
		}
		a.Release()
	}
}

func TestFloorDivRoundsDown(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64().Draw(t, "a"), rapid.Int64Range(1, math.MaxInt64).Draw(t, "b")
		q := floorDiv(a, b)
		// a - q*b stays within 0..b-1, also where q*b itself wraps around.
		if rest := uint64(a) - uint64(q)*uint64(b); rest >= uint64(b) {
			t.Fatalf("%d / %d = %d", a, b, q)
		}
	})
}

func FuzzNext(f *testing.F) {
	f.Add([]byte{1, 3, 'a', 'b', 'c'}, byte(formBytes))
	f.Fuzz(func(t *testing.T, row []byte, form byte) {
		k := kind{name: "c", form: formOf(form)}
		value, rest, err := k.next(row)
		if err == nil && !bytes.Equal(append(bytes.Clone(value), rest...), row) {
			t.Errorf("%x became %x and %x", row, value, rest)
		}
	})
}

func formOf(b byte) form { return form(b % byte(formBytes+1)) }

func FuzzUnpackFinding(f *testing.F) {
	f.Add(finding{kind: recordDiff, piece: 3, span: span{"1", "2"}, lsn: "0x1", columns: []int{0, 300}}.pack())
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := unpackFinding(data)
		if err != nil {
			return
		}
		if again, err := unpackFinding(got.pack()); err != nil || again.lo != got.lo || !strings.HasPrefix(again.lsn, got.lsn) {
			t.Errorf("%+v became %+v, error %v", got, again, err)
		}
	})
}
