package deltatable_test

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
	"github.com/pipectl/pipectl/plugins/sink-delta/deltatable"
)

func number(t *testing.T, text string) decimal128.Num {
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		t.Fatalf("%q is no number", text)
	}
	return decimal128.FromBigInt(n)
}

// TestWidening: rows of a wider type widen the column, in their own commit and
// with the change on record; rows from before are read as the wider type, narrow
// rows are still taken, a filter on the wider type finds rows of old files.
func TestWidening(t *testing.T) {
	t.Parallel()
	p, fixed := arrow.PrimitiveTypes, arrow.FixedWidthTypes
	dec := func(p, s int32) arrow.DataType { return &arrow.Decimal128Type{Precision: p, Scale: s} }
	ntz := &arrow.TimestampType{Unit: arrow.Microsecond}
	for _, c := range []struct {
		from, to    arrow.DataType
		old, became any
		wide        any
		change      string
		filter      deltalog.Value // what the old value became
	}{
		{p.Int8, p.Int16, int8(-128), int16(-128), int16(300), "byte short", deltalog.IntValue(-128)},
		{p.Int8, p.Int64, int8(1), int64(1), int64(1) << 40, "byte long", deltalog.IntValue(1)},
		{p.Int32, p.Int64, int32(-7), int64(-7), int64(1) << 40, "integer long", deltalog.IntValue(-7)},
		{p.Float32, p.Float64, float32(0.1), float64(float32(0.1)), 1e300, "float double", deltalog.FloatValue(float64(float32(0.1)))},
		{p.Int32, p.Float64, int32(1<<31 - 1), float64(1<<31 - 1), 0.5, "integer double", deltalog.FloatValue(1<<31 - 1)},
		{p.Int16, dec(12, 2), int16(5), number(t, "500"), number(t, "123456789012"), "short decimal(12,2)", deltalog.DecimalValue(big.NewInt(500), 2)},
		{p.Int64, dec(20, 0), int64(-5), number(t, "-5"), number(t, "12345678901234567890"), "long decimal(20,0)", deltalog.DecimalValue(big.NewInt(-5), 0)},
		{dec(5, 2), dec(10, 4), number(t, "12345"), number(t, "1234500"), number(t, "1234567890"), "decimal(5,2) decimal(10,4)", deltalog.DecimalValue(big.NewInt(1234500), 4)},
		{fixed.Date32, ntz, arrow.Date32(3), arrow.Timestamp(3 * 86_400_000_000), arrow.Timestamp(1), "date timestamp_ntz", deltalog.TimestampValue(3 * 86_400_000_000)},
	} {
		for _, mapping := range []string{"none", "name"} {
			t.Run(fmt.Sprintf("%s to %s, mapping %s", c.from, c.to, mapping), func(t *testing.T) {
				t.Parallel()
				mem := checkedMemory(t)
				narrow := schemaOf(field("id", p.Int64), field("c", c.from))
				wide := schemaOf(field("id", p.Int64), field("C", c.to))
				table := mustCreate(t, memoryStore(), narrow, map[string]string{"delta.enableTypeWidening": "True", "delta.columnMapping.mode": mapping}, options(mem))
				mustWrite(t, mem, table, appendSpec(narrow), []row{{int64(1), c.old}})
				spec := appendSpec(wide)
				spec.MergeSchema = true
				if got := mustWrite(t, mem, table, spec, []row{{int64(2), c.wide}, {int64(3), nil}}); got.Version != 2 {
					t.Errorf("the change took a commit of its own: version %d", got.Version)
				}
				mustWrite(t, mem, table, appendSpec(narrow), []row{{int64(4), c.old}})
				mustWrite(t, mem, table, spec, []row{{int64(5), c.wide}})
				wantRows(t, table, schemaOf(wide.Field(0), field("c", c.to)),
					[]row{{int64(1), c.became}, {int64(2), c.wide}, {int64(3), nil}, {int64(4), c.became}, {int64(5), c.wide}})
				s, err := table.Snapshot(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				f, _ := s.Log().Schema().Field("c")
				changes, err := f.TypeChanges()
				if from, to, _ := strings.Cut(c.change, " "); err != nil || !slices.Equal(changes, []deltalog.TypeChange{{FromType: from, ToType: to}}) {
					t.Errorf("recorded %v, %v", changes, err)
				}
				lines, err := dump(t.Context(), s, deltatable.ScanSpec{Filter: deltalog.Predicate{{{Column: "c", Op: deltalog.OpEq, Values: []deltalog.Value{c.filter}}}}})
				for _, id := range []string{`"id":1,`, `"id":4,`} {
					if err != nil || !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, id) }) {
						t.Errorf("looking for %v: %q, %v", c.filter, lines, err)
					}
				}
			})
		}
	}
}

// TestNestedWidening: a field inside a struct, a list or a map becomes wider;
// narrow rows are still taken.
func TestNestedWidening(t *testing.T) {
	t.Parallel()
	mem := checkedMemory(t)
	form := func(f, e, v arrow.DataType) *arrow.Schema {
		return schemaOf(field("s", arrow.StructOf(field("x", f), field("y", arrow.BinaryTypes.String))),
			field("l", arrow.ListOfField(field("element", e))),
			field("m", arrow.MapOfFields(arrow.Field{Name: "key", Type: arrow.BinaryTypes.String}, field("value", v))))
	}
	p := arrow.PrimitiveTypes
	narrow, wide := form(p.Int32, p.Float32, arrow.FixedWidthTypes.Date32), form(p.Int64, p.Float64, &arrow.TimestampType{Unit: arrow.Microsecond})
	table := mustCreate(t, memoryStore(), narrow, map[string]string{"delta.enableTypeWidening": "true"}, options(mem))
	put := func(schema *arrow.Schema, merge bool, json string) error {
		t.Helper()
		rec, _, err := array.RecordFromJSON(mem, schema, strings.NewReader(json))
		if err != nil {
			t.Fatal(err)
		}
		defer rec.Release()
		spec := appendSpec(schema)
		spec.MergeSchema = merge
		_, err = writeRecord(t.Context(), table, spec, rec)
		return err
	}
	const small = `[{"s": {"x": 1, "y": "a"}, "l": [0.5, null], "m": [{"key": "k", "value": "2020-01-02"}]}, {"s": null, "l": [], "m": null}, {"s": {"x": null, "y": null}, "l": null, "m": []}]`
	const large = `[{"s": {"x": 1099511627776, "y": "b"}, "l": [1e300], "m": [{"key": "k", "value": "2020-01-02T03:04:05"}, {"key": "l", "value": null}]}]`
	if err := put(narrow, false, small); err != nil {
		t.Fatal(err)
	}
	if err := put(wide, false, large); err == nil {
		t.Error("wider rows were taken without leave")
	}
	for _, c := range []struct {
		schema *arrow.Schema
		json   string
	}{{wide, large}, {narrow, small}} {
		if err := put(c.schema, true, c.json); err != nil {
			t.Fatal(err)
		}
	}
	smallLines := []string{
		`{"s":{"x":1,"y":"a"},"l":[0.5,null],"m":[["k","2020-01-02T00:00:00.000000"]]}` + "\n",
		`{"s":null,"l":[],"m":null}` + "\n",
		`{"s":{"x":null,"y":null},"l":null,"m":[]}` + "\n",
	}
	want := append(slices.Concat(smallLines, smallLines), `{"s":{"x":1099511627776,"y":"b"},"l":[1e+300],"m":[["k","2020-01-02T03:04:05.000000"],["l",null]]}`+"\n")
	slices.Sort(want)
	if got := rowsIn(t, table); !slices.Equal(got, want) {
		t.Errorf("got\n%swant\n%s", strings.Join(got, ""), strings.Join(want, ""))
	}
}

// TestWideningMeetsAnother: of two writers that widen one column, the one that
// comes second takes what is there, and never makes it narrower.
func TestWideningMeetsAnother(t *testing.T) {
	t.Parallel()
	p := arrow.PrimitiveTypes
	form := func(t arrow.DataType) *arrow.Schema { return schemaOf(field("c", t)) }
	for _, first := range []arrow.DataType{p.Int16, p.Int32, p.Int64} {
		t.Run(first.String(), func(t *testing.T) {
			t.Parallel()
			mem := checkedMemory(t)
			table := mustCreate(t, memoryStore(), form(p.Int8), map[string]string{"delta.enableTypeWidening": "true"}, options(mem))
			spec := appendSpec(form(p.Int32))
			spec.MergeSchema = true
			w := start(t, mem, table, spec, []row{{int32(70000)}})
			other := appendSpec(form(first))
			other.MergeSchema = true
			value := map[arrow.Type]any{arrow.INT16: int16(300), arrow.INT32: int32(300), arrow.INT64: int64(300)}[first.ID()]
			mustWrite(t, mem, table, other, []row{{value}})
			if _, err := w.commit(); err != nil {
				t.Fatal(err)
			}
			if first.ID() == arrow.INT64 {
				wantRows(t, table, form(p.Int64), []row{{int64(300)}, {int64(70000)}})
				return
			}
			wantRows(t, table, form(p.Int32), []row{{int32(300)}, {int32(70000)}})
		})
	}
}

// TestPropertiesInAnyCase: Spark takes TRUE for true.
func TestPropertiesInAnyCase(t *testing.T) {
	t.Parallel()
	mem := checkedMemory(t)
	merge := deltatable.WriteSpec{Mode: deltatable.Merge, Schema: withAction(plain), Merge: &deltatable.MergeSpec{Keys: []string{"id"}, Action: "_action"}}
	for _, text := range []string{"true", "TRUE", "True"} {
		table := mustCreate(t, memoryStore(), plain, map[string]string{"delta.enableDeletionVectors": text}, options(mem))
		mustWrite(t, mem, table, appendSpec(plain), []row{{int64(1), "a"}, {int64(2), "b"}})
		mustWrite(t, mem, table, merge, []row{{int64(1), nil, "D"}})
		if files := live(t, table); len(files) != 1 || files[0].DeletionVector == nil {
			t.Errorf("deletion vectors %q: %+v", text, files)
		}
		table = mustCreate(t, memoryStore(), plain, map[string]string{"delta.enableChangeDataFeed": text}, options(mem))
		if _, err := table.Begin(t.Context(), merge); err == nil || !strings.Contains(err.Error(), "changeDataFeed") {
			t.Errorf("change data feed %q: %v", text, err)
		}
	}
}
