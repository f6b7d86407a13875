package deltatable_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
	"github.com/pipectl/pipectl/plugins/sink-delta/deltatable"
	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestEveryTypeComesBack: extremes of every type, with and without column
// mapping, and the Arrow types that have no Delta type of their own.
func TestEveryTypeComesBack(t *testing.T) {
	t.Parallel()
	max38, err := decimal128.FromString("99999999999999999999999999999999999999", 38, 0)
	if err != nil {
		t.Fatal(err)
	}
	utc, ntz := &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}, &arrow.TimestampType{Unit: arrow.Microsecond}
	schema := schemaOf(
		field("b", arrow.FixedWidthTypes.Boolean), field("i8", arrow.PrimitiveTypes.Int8), field("i16", arrow.PrimitiveTypes.Int16),
		field("i32", arrow.PrimitiveTypes.Int32), field("i64", arrow.PrimitiveTypes.Int64),
		field("f32", arrow.PrimitiveTypes.Float32), field("f64", arrow.PrimitiveTypes.Float64),
		field("d9", &arrow.Decimal128Type{Precision: 9, Scale: 2}), field("d18", &arrow.Decimal128Type{Precision: 18, Scale: 18}), field("d38", &arrow.Decimal128Type{Precision: 38}),
		field("date", arrow.FixedWidthTypes.Date32), field("utc", utc), field("ntz", ntz),
		field("s", arrow.BinaryTypes.String), field("bin", arrow.BinaryTypes.Binary),
		field("ls", arrow.BinaryTypes.LargeString), field("lbin", arrow.BinaryTypes.LargeBinary),
	)
	stored := schemaOf(append(slices.Clone(schema.Fields()[:15]), field("ls", arrow.BinaryTypes.String), field("lbin", arrow.BinaryTypes.Binary))...)
	year1, year9999 := arrow.Timestamp(-62135596800000000), arrow.Timestamp(253402300799999999)
	rows := []row{
		{true, int8(-128), int16(-32768), int32(math.MinInt32), int64(math.MinInt64), float32(-math.MaxFloat32), math.Inf(-1),
			decimal128.FromI64(-999999999), decimal128.FromI64(-999999999999999999), max38.Negate(), arrow.Date32(-719162), year1, year1, "", []byte{}, "", []byte{}},
		{false, int8(127), int16(32767), int32(math.MaxInt32), int64(math.MaxInt64), float32(math.NaN()), math.NaN(),
			decimal128.FromI64(999999999), decimal128.FromI64(999999999999999999), max38, arrow.Date32(2932896), year9999, year9999, "日本\x00", []byte{0, 255}, "x", []byte{7}},
		make(row, schema.NumFields()),
		{true, int8(0), int16(0), int32(0), int64(0), float32(math.Copysign(0, -1)), math.Copysign(0, -1),
			decimal128.FromI64(0), decimal128.FromI64(1), decimal128.FromI64(-1), arrow.Date32(0), arrow.Timestamp(-1), arrow.Timestamp(1), strings.Repeat("ü", 1000), []byte{1}, strings.Repeat("z", 70), []byte{}},
	}
	for _, mapping := range []string{"none", "name"} {
		for _, packed := range []bool{false, true} {
			t.Run(fmt.Sprintf("mapping %s, packed %v", mapping, packed), func(t *testing.T) {
				t.Parallel()
				var mem memory.Allocator = memory.DefaultAllocator
				if !packed { // arrow-go's decoder of that encoding leaves its buffers to the collector
					mem = checkedMemory(t)
				}
				opts := options(mem)
				opts.DeltaBinaryPacked = packed
				table := mustCreate(t, memoryStore(), schema, map[string]string{"delta.columnMapping.mode": mapping}, opts)
				mustWrite(t, mem, table, appendSpec(schema), rows[:2], rows[2:])
				wantRows(t, table, stored, rows)
			})
		}
	}
}

// TestProjection reads only the Parquet columns that are wanted, in the order
// wanted.
func TestProjection(t *testing.T) {
	t.Parallel()
	mem := checkedMemory(t)
	table := mustCreate(t, memoryStore(), plain, nil, options(mem))
	mustWrite(t, mem, table, appendSpec(plain), []row{{int64(1), "a"}, {int64(2), nil}})
	s, err := table.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		columns []string
		want    string
	}{
		{[]string{"V", "id"}, `{"v":"a","id":1}` + "\n" + `{"v":null,"id":2}` + "\n"},
		{[]string{"id"}, `{"id":1}` + "\n" + `{"id":2}` + "\n"},
		{[]string{}, "{}\n{}\n"},
	} {
		got, err := dump(t.Context(), s, deltatable.ScanSpec{Columns: c.columns})
		if err != nil || strings.Join(got, "") != c.want {
			t.Errorf("%q: got %q, %v", c.columns, got, err)
		}
	}
	if _, err := s.Scan(t.Context(), deltatable.ScanSpec{Columns: []string{"w"}}); !errors.Is(err, deltatable.ErrSchema) {
		t.Errorf("unknown column: %v", err)
	}
	if _, err := s.Scan(t.Context(), deltatable.ScanSpec{Filter: deltalog.Where(deltalog.Comparison{Column: "w", Op: deltalog.OpIsNull})}); !errors.Is(err, deltatable.ErrSchema) {
		t.Errorf("unknown column in a filter: %v", err)
	}
	if _, err := s.Scan(t.Context(), deltatable.ScanSpec{Filter: deltalog.Where(deltalog.Comparison{Column: "id", Op: deltalog.OpEq})}); err == nil {
		t.Error("a comparison without a literal was taken")
	}
}

// literal is a value of a domain as a predicate has it.
func literal(v any, typ arrow.DataType) deltalog.Value {
	switch v := v.(type) {
	case int64:
		return deltalog.IntValue(v)
	case int32:
		return deltalog.IntValue(int64(v))
	case int16:
		return deltalog.IntValue(int64(v))
	case bool:
		return deltalog.BoolValue(v)
	case string:
		return deltalog.StringValue(v)
	case []byte:
		return deltalog.BinaryValue(v)
	case float64:
		return deltalog.FloatValue(v)
	case decimal128.Num:
		return deltalog.DecimalValue(v.BigInt(), typ.(*arrow.Decimal128Type).Scale)
	case arrow.Date32:
		return deltalog.DateValue(int32(v))
	case arrow.Timestamp:
		return deltalog.TimestampValue(int64(v))
	}
	return deltalog.NullValue()
}

// selects is the meaning of a predicate, said plainly.
func selects(p deltalog.Predicate, r row, schema *arrow.Schema) bool {
	for _, clause := range p {
		all := true
		for _, c := range clause {
			i := schema.FieldIndices(c.Column)[0]
			v := literal(r[i], schema.Field(i).Type)
			one := func(op deltalog.Op, l deltalog.Value) bool {
				order, ok := deltalog.Compare(v, l)
				if !ok {
					return false
				}
				return map[deltalog.Op]bool{deltalog.OpEq: order == 0, deltalog.OpNe: order != 0, deltalog.OpLt: order < 0,
					deltalog.OpLe: order <= 0, deltalog.OpGt: order > 0, deltalog.OpGe: order >= 0}[op]
			}
			switch c.Op {
			case deltalog.OpIsNull:
				all = all && v.IsNull()
			case deltalog.OpIsNotNull:
				all = all && !v.IsNull()
			case deltalog.OpIn:
				any := false
				for _, l := range c.Values {
					any = any || one(deltalog.OpEq, l)
				}
				all = all && any
			default:
				all = all && one(c.Op, c.Values[0])
			}
		}
		if all {
			return true
		}
	}
	return len(p) == 0
}

// TestFilterNeverLosesRows: whatever the filter, every row for which it is true
// comes, and every row that comes is in the table.
func TestFilterNeverLosesRows(t *testing.T) {
	t.Parallel()
	domains := []domain{keyDomains["int64"], keyDomains["string"], keyDomains["decimal"], keyDomains["timestamp"], keyDomains["binary"], keyDomains["bool"],
		{arrow.PrimitiveTypes.Float64, []any{-1.5, 0.0, math.NaN(), math.Inf(1), 1e300}}}
	var fields []arrow.Field
	for i, d := range domains {
		fields = append(fields, field(fmt.Sprintf("c%d", i), d.typ))
	}
	schema := schemaOf(fields...)
	rapid.Check(t, func(t *rapid.T) {
		mem := memory.DefaultAllocator
		opts := options(mem)
		opts.RowGroupBytes = rapid.SampledFrom([]int64{0, 1, 100}).Draw(t, "row group bytes")
		table := mustCreate(t, memoryStore(), schema, nil, opts)
		var all []row
		for range rapid.IntRange(1, 3).Draw(t, "files") {
			var rows []row
			for range rapid.IntRange(1, 8).Draw(t, "rows") {
				r := make(row, len(domains))
				for i, d := range domains {
					r[i] = d.draw(t, fields[i].Name)
				}
				rows = append(rows, r)
			}
			all = append(all, rows...)
			mustWrite(t, mem, table, appendSpec(schema), rows)
		}
		s, err := table.Snapshot(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		p := drawPredicate(t, 0, domains, fields, func(d domain) any { return d.draw(t, "literal") })
		got, err := dump(context.Background(), s, deltatable.ScanSpec{Filter: p})
		if err != nil {
			t.Fatal(err)
		}
		var must []row
		for _, r := range all {
			if selects(p, r, schema) {
				must = append(must, r)
			}
		}
		if missing := without(linesOf(t, schema, must), got); len(missing) > 0 {
			t.Fatalf("filter %v lost\n%s", p, strings.Join(missing, ""))
		}
		if invented := without(got, linesOf(t, schema, all)); len(invented) > 0 {
			t.Fatalf("filter %v invented\n%s", p, strings.Join(invented, ""))
		}
	})
}

// drawPredicate draws up to two clauses, at least so many, over columns of these
// domains.
func drawPredicate(t *rapid.T, least int, domains []domain, fields []arrow.Field, value func(domain) any) (p deltalog.Predicate) {
	for range rapid.IntRange(least, 2).Draw(t, "clauses") {
		var clause deltalog.Clause
		for range rapid.IntRange(least, 2).Draw(t, "comparisons") {
			i := rapid.IntRange(0, len(domains)-1).Draw(t, "column")
			c := deltalog.Comparison{Column: fields[i].Name, Op: deltalog.Op(rapid.IntRange(int(deltalog.OpEq), int(deltalog.OpIsNotNull)).Draw(t, "op"))}
			n := 1
			switch c.Op {
			case deltalog.OpIn:
				n = rapid.IntRange(0, 3).Draw(t, "literals")
			case deltalog.OpIsNull, deltalog.OpIsNotNull:
				n = 0
			}
			for range n {
				c.Values = append(c.Values, literal(value(domains[i]), domains[i].typ))
			}
			clause = append(clause, c)
		}
		p = append(p, clause)
	}
	return p
}

// without is the multiset a less b; both are sorted.
func without(a, b []string) (out []string) {
	for _, x := range a {
		if i, ok := slices.BinarySearch(b, x); ok {
			b = slices.Delete(slices.Clone(b), i, i+1)
		} else {
			out = append(out, x)
		}
	}
	return out
}

// TestFilterSkips: files and row groups whose statistics rule them out are not
// read.
func TestFilterSkips(t *testing.T) {
	t.Parallel()
	mem := checkedMemory(t)
	disk := memoryStore()
	faulty := store.NewFaulty(disk)
	opts := options(mem)
	opts.RowGroupBytes = 1
	table := mustCreate(t, faulty, plain, nil, opts)
	for f := range int64(5) {
		var rows []row
		for i := range int64(8) { // row groups of two
			rows = append(rows, row{f*8 + i, fmt.Sprintf("%03d", f*8+i)})
		}
		mustWrite(t, mem, table, appendSpec(plain), rows)
	}
	s, err := table.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]deltalog.Comparison{
		"whole numbers": {Column: "id", Op: deltalog.OpEq, Values: []deltalog.Value{deltalog.IntValue(13)}},
		"text":          {Column: "v", Op: deltalog.OpEq, Values: []deltalog.Value{deltalog.StringValue("013")}},
	} {
		before := len(faulty.Calls())
		// The filter's column is not among the columns read.
		other := map[string]string{"id": "v", "v": "id"}[c.Column]
		got, err := dump(t.Context(), s, deltatable.ScanSpec{Columns: []string{other}, Filter: deltalog.Where(c)})
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 2 {
			t.Errorf("%s: %d rows came, want the two of the row group", name, len(got))
		}
		opened := map[string]bool{}
		for _, call := range faulty.Calls()[before:] {
			opened[call.Path] = true
		}
		if len(opened) != 1 {
			t.Errorf("%s: read %d files, want 1", name, len(opened))
		}
	}
}

// TestScanStops: a scan that is closed early, or whose context ends, leaves
// neither goroutines nor memory.
func TestScanStops(t *testing.T) {
	t.Parallel()
	mem := checkedMemory(t)
	table := mustCreate(t, memoryStore(), plain, nil, options(mem))
	for range 8 {
		mustWrite(t, mem, table, appendSpec(plain), []row{{int64(1), "a"}})
	}
	s, err := table.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	rows, err := s.Scan(ctx, deltatable.ScanSpec{})
	if err != nil {
		t.Fatal(err)
	}
	rec, err := rows.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	rec.Release()
	rows.Close()
	rows.Close()
	rows, err = s.Scan(ctx, deltatable.ScanSpec{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	for err == nil {
		if rec, err = rows.Next(t.Context()); err == nil {
			rec.Release()
		}
	}
	if errors.Is(err, io.EOF) || !errors.Is(err, context.Canceled) {
		t.Errorf("a scan whose context ended said %v", err)
	}
	rows.Close()
}

// TestNestedColumns are carried through append, deletion and rewriting, with
// nulls at every level.
func TestNestedColumns(t *testing.T) {
	t.Parallel()
	nested := arrow.StructOf(field("a", arrow.PrimitiveTypes.Int32), field("l", arrow.ListOf(arrow.BinaryTypes.String)))
	schema := schemaOf(field("id", arrow.PrimitiveTypes.Int64), field("s", nested), field("m", arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32)))
	for _, properties := range []map[string]string{{}, {"delta.enableDeletionVectors": "true", "delta.columnMapping.mode": "name"}} {
		mem := checkedMemory(t)
		table := mustCreate(t, memoryStore(), schema, properties, options(mem))
		b := array.NewRecordBuilder(mem, schema)
		defer b.Release()
		text := `{"id":1,"s":{"a":1,"l":["x",null]},"m":[{"key":"k","value":null}]}
{"id":2,"s":null,"m":null}
{"id":3,"s":{"a":null,"l":null},"m":[]}
{"id":4,"s":{"a":4,"l":[]},"m":[{"key":"q","value":4}]}`
		for line := range strings.Lines(text) {
			if err := b.UnmarshalJSON([]byte(line)); err != nil {
				t.Fatal(err)
			}
		}
		rec := b.NewRecordBatch()
		defer rec.Release()
		w, err := table.Begin(t.Context(), appendSpec(schema))
		if err != nil {
			t.Fatal(err)
		}
		p, err := w.Part(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Write(rec); err != nil {
			t.Fatal(err)
		}
		done, err := p.Close()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Commit(t.Context(), []string{done.Token}, ""); err != nil {
			t.Fatal(err)
		}
		keyed := schemaOf(schema.Field(0), field("_action", arrow.BinaryTypes.String))
		merge := deltatable.WriteSpec{Mode: deltatable.Merge, Schema: keyed, Merge: &deltatable.MergeSpec{Keys: []string{"id"}, Action: "_action"}}
		mustWrite(t, mem, table, merge, []row{{int64(2), "D"}, {int64(4), "U"}, {int64(5), "U"}})
		want := []string{
			`{"id":1,"s":{"a":1,"l":["x",null]},"m":[["k",null]]}` + "\n",
			`{"id":3,"s":{"a":null,"l":null},"m":[]}` + "\n",
			`{"id":4,"s":{"a":4,"l":[]},"m":[["q",4]]}` + "\n",
			`{"id":5,"s":null,"m":null}` + "\n",
		}
		if got := rowsIn(t, table); !slices.Equal(got, want) {
			t.Errorf("%v: got\n%s", properties, strings.Join(got, ""))
		}
	}
}
