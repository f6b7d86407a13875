package deltatable

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"pgregory.net/rapid"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
)

func fromJSON(t *testing.T, mem memory.Allocator, typ arrow.DataType, text string) arrow.Array {
	t.Helper()
	arr, _, err := array.FromJSON(mem, typ, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return arr
}

// TestCasts: which types become which, and with what values; slices too.
func TestCasts(t *testing.T) {
	t.Parallel()
	p := arrow.PrimitiveTypes
	dec := func(p, s int32) arrow.DataType { return &arrow.Decimal128Type{Precision: p, Scale: s} }
	us, ms, ns, s := arrow.Microsecond, arrow.Millisecond, arrow.Nanosecond, arrow.Second
	ntz := func(u arrow.TimeUnit) arrow.DataType { return &arrow.TimestampType{Unit: u} }
	utc := func(u arrow.TimeUnit) arrow.DataType { return &arrow.TimestampType{Unit: u, TimeZone: "UTC"} }
	for _, c := range []struct {
		from, to   arrow.DataType
		text, want string // the first value is sliced off
	}{
		{p.Int8, p.Int64, `[0, -128, null]`, `[-128 (null)]`},
		{p.Int16, p.Int32, `[0, 7]`, `[7]`},
		{p.Float32, p.Float64, `[0, 1.5, null]`, `[1.5 (null)]`},
		{p.Int32, p.Float64, `[0, -2147483648]`, `[-2.147483648e+09]`},
		{p.Int32, dec(12, 2), `[0, -7, null]`, `[-7 (null)]`},
		{p.Int64, dec(21, 1), `[0, 9223372036854775807]`, `[9223372036854775807]`},
		{dec(5, 2), dec(8, 4), `["0", "-123.45", null]`, `[-123.45 (null)]`},
		{arrow.FixedWidthTypes.Date32, ntz(us), `["1970-01-01", "0001-01-01", null]`, `[-62135596800000000 (null)]`},
		{ntz(ms), ntz(us), `[0, -1]`, `[-1000]`},
		{utc(s), utc(us), `[0, -1]`, `[-1000000]`},
		{utc(ns), utc(us), `[0, -1, 1999]`, `[-1 1]`},
		{&arrow.TimestampType{Unit: us, TimeZone: "Europe/Paris"}, utc(us), `[0, 5]`, `[5]`},
		{arrow.BinaryTypes.LargeString, arrow.BinaryTypes.String, `["first", "second", null, ""]`, `["second" (null) ""]`},
		{arrow.BinaryTypes.LargeBinary, arrow.BinaryTypes.Binary, `["AA==", "AQI="]`, "[\"\\x01\\x02\"]"},
		{&arrow.FixedSizeBinaryType{ByteWidth: 2}, arrow.BinaryTypes.Binary, `["AAA=", "AQI=", null]`, "[\"\\x01\\x02\" (null)]"},
		{arrow.BinaryTypes.String, p.Int64, ``, ``},
		{p.Int64, p.Int32, ``, ``},
		{p.Float64, p.Float32, ``, ``},
		{p.Int64, p.Float64, ``, ``},
		{p.Int64, dec(18, 0), ``, ``},
		{dec(8, 4), dec(8, 2), ``, ``},
		{dec(8, 2), dec(8, 4), ``, ``},
		{utc(us), ntz(us), ``, ``},
		{ntz(us), arrow.FixedWidthTypes.Date32, ``, ``},
		{arrow.BinaryTypes.Binary, arrow.BinaryTypes.String, ``, ``},
	} {
		t.Run(fmt.Sprintf("%s to %s", c.from, c.to), func(t *testing.T) {
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			defer mem.AssertSize(t, 0)
			kind := lossless(c.from, c.to)
			if c.text == "" {
				if kind != castNone {
					t.Errorf("a lossy cast was taken as %d", kind)
				}
				return
			}
			all := fromJSON(t, mem, c.from, c.text)
			defer all.Release()
			arr := array.NewSlice(all, 1, int64(all.Len()))
			defer arr.Release()
			out, err := cast(arr, c.to, kind, mem)
			if err != nil {
				t.Fatal(err)
			}
			defer out.Release()
			if !arrow.TypeEqual(out.DataType(), c.to) {
				t.Errorf("type %s", out.DataType())
			}
			got := out.String()
			if a, ok := out.(*array.Timestamp); ok { // its String has no fraction of a second
				got = "["
				for i := range a.Len() {
					if i > 0 {
						got += " "
					}
					if a.IsNull(i) {
						got += "(null)"
					} else {
						got += fmt.Sprint(int64(a.Value(i)))
					}
				}
				got += "]"
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestInt96 decodes what Spark writes for the years that 64-bit nanoseconds do
// not reach.
func TestInt96(t *testing.T) {
	t.Parallel()
	int96 := func(julian uint32, nanos uint64) (v parquet.Int96) {
		binary.LittleEndian.PutUint64(v[:8], nanos)
		binary.LittleEndian.PutUint32(v[8:], julian)
		return v
	}
	for _, c := range []struct {
		v    parquet.Int96
		want int64
	}{
		{int96(2440588, 0), 0},
		{int96(2440587, 86_399_999_999_000), -1},
		{int96(1721426, 0), -62135596800000000},                  // 0001-01-01
		{int96(5373484, 86_399_999_999_999), 253402300799999999}, // 9999-12-31T23:59:59.999999999
		{int96(2440588, 1_999), 1},
	} {
		if got, err := int96Micros(c.v); err != nil || got != c.want {
			t.Errorf("%v: got %d, %v, want %d", c.v, got, err, c.want)
		}
	}
	for _, bad := range []parquet.Int96{int96(2440588, 86_400_000_000_000), int96(math.MaxUint32, 0)} {
		if _, err := int96Micros(bad); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
}

// TestOrderIsOrderOfBytes: encoded guards compare as the values do.
func TestOrderIsOrderOfBytes(t *testing.T) {
	t.Parallel()
	for typ, text := range map[arrow.DataType]string{
		arrow.PrimitiveTypes.Int64:                     `[null, -9223372036854775808, -1, 0, 1, 9223372036854775807]`,
		arrow.PrimitiveTypes.Int8:                      `[null, -128, -1, 0, 127]`,
		arrow.PrimitiveTypes.Float64:                   `[null, -1e300, -1, -1e-300, 0, 1e-300, 1, 1e300]`,
		arrow.BinaryTypes.String:                       `[null, "", "0", "00", "01", "1", "é"]`,
		arrow.FixedWidthTypes.Boolean:                  `[null, false, true]`,
		&arrow.Decimal128Type{Precision: 38, Scale: 2}: `[null, "-99999999999999999999", "-0.01", "0", "0.01", "99999999999999999999"]`,
		&arrow.TimestampType{Unit: arrow.Microsecond}:  `[null, -1, 0, 1]`,
		arrow.FixedWidthTypes.Date32:                   `[null, "0001-01-01", "1969-12-31", "1970-01-01"]`,
	} {
		arr := fromJSON(t, memory.DefaultAllocator, typ, text)
		f, err := orderAppender(arr)
		if err != nil {
			t.Fatal(err)
		}
		for i := 1; i < arr.Len(); i++ {
			if bytes.Compare(f(nil, i-1), f(nil, i)) >= 0 {
				t.Errorf("%s: value %d is not below value %d", typ, i-1, i)
			}
		}
	}
}

// TestKeyIndex compares the index with a map.
func TestKeyIndex(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		index := newKeyIndex(rapid.IntRange(0, 4).Draw(t, "room"))
		model := map[string]int{}
		// Few hashes, so that keys meet in them.
		hash := func(key []byte) uint64 { return uint64(len(key)) * 0x9E3779B97F4A7C15 }
		keys := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 3), 0, 60).Draw(t, "keys")
		for i, k := range keys {
			got := index.insert(hash(k), k, []byte{byte(i)}, uint64(i), i%2 == 0)
			want, ok := model[string(k)]
			if !ok {
				want = -1
				model[string(k)] = len(model)
			}
			if got != want {
				t.Fatalf("insert of %v: %d, want %d", k, got, want)
			}
		}
		index.seal()
		for _, k := range append(keys, []byte{1, 2, 3, 4}) {
			want, ok := model[string(k)]
			if !ok {
				want = -1
			}
			got := index.find(hash(k), func() []byte { return k })
			if got != want || ok && !index.mayHold(hash(k)) {
				t.Fatalf("find of %v: %d, want %d", k, got, want)
			}
			if got >= 0 {
				index.match(got)
				if !index.isMatched(got) {
					t.Fatalf("entry %d is not matched", got)
				}
			}
		}
	})
}

// TestGatherRanges: the ranges hold all values, are in order, as few as asked
// for, and split at the widest gaps.
func TestGatherRanges(t *testing.T) {
	t.Parallel()
	if got := gatherRanges([]int64{1, 2, 100, 101, 1000, -50}, 3); fmt.Sprint(got) != "[[-50 2] [100 101] [1000 1000]]" &&
		fmt.Sprint(got) != "[[-50 -50] [1 101] [1000 1000]]" {
		t.Errorf("got %v", got)
	}
	if got := gatherRanges([]int64{math.MinInt64, math.MaxInt64}, 2); len(got) != 2 {
		t.Errorf("extremes: %v", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64(), 1, 50).Draw(t, "values")
		n := rapid.IntRange(1, 10).Draw(t, "ranges")
		got := gatherRanges(slices.Clone(values), n)
		if len(got) > n {
			t.Fatalf("%d ranges", len(got))
		}
		for i, r := range got {
			if r[0] > r[1] || i > 0 && got[i-1][1] >= r[0] {
				t.Fatalf("ranges %v", got)
			}
		}
		for _, v := range values {
			if !slices.ContainsFunc(got, func(r [2]int64) bool { return r[0] <= v && v <= r[1] }) {
				t.Fatalf("%d is in none of %v", v, got)
			}
		}
	})
}

// TestHashAgreesWithKeys: rows with equal keys have equal hashes, whatever
// representation of zero or NaN they hold.
func TestHashAgreesWithKeys(t *testing.T) {
	t.Parallel()
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	b.AppendValues([]float64{0, math.Copysign(0, -1), math.NaN(), math.Float64frombits(0xFFF8000000000123), 1}, nil)
	b.AppendNull()
	arr := b.NewArray()
	hashes := make([]uint64, arr.Len())
	if err := newHashSeed().rows([]arrow.Array{arr}, hashes); err != nil {
		t.Fatal(err)
	}
	var codec keyCodec
	if err := codec.bind([]arrow.Array{arr}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		i, j  int
		equal bool
	}{{0, 1, true}, {2, 3, true}, {0, 4, false}, {0, 5, false}, {2, 5, false}} {
		sameKey := bytes.Equal(codec.appendKey(nil, c.i), codec.appendKey(nil, c.j))
		if sameKey != c.equal || (hashes[c.i] == hashes[c.j]) != c.equal {
			t.Errorf("rows %d and %d: same key %v, same hash %v", c.i, c.j, sameKey, hashes[c.i] == hashes[c.j])
		}
	}
}

// TestDictionaries: chosen where values repeat.
func TestDictionaries(t *testing.T) {
	t.Parallel()
	few := array.NewStringBuilder(memory.DefaultAllocator)
	many := array.NewInt64Builder(memory.DefaultAllocator)
	for i := range 1000 {
		few.Append([]string{"new", "open", "paid"}[i%3])
		many.Append(int64(i))
	}
	for name, c := range map[string]struct {
		arr  arrow.Array
		want bool
	}{"few values": {few.NewArray(), true}, "many values": {many.NewArray(), false}} {
		if got, err := valuesRepeat(c.arr); err != nil || got != c.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// TestStatsAreExact: bounds and null counts from the batches; NaN takes away
// the upper bound; a field of a struct is NULL where the struct is, and what
// stands there counts for nothing; arrays and maps have a null count alone.
func TestStatsAreExact(t *testing.T) {
	t.Parallel()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	long := func(name string) deltalog.Field {
		return deltalog.Field{Name: name, Type: deltalog.Long, Nullable: true}
	}
	schema := &deltalog.Struct{Fields: []deltalog.Field{
		long("i"), {Name: "f", Type: deltalog.Double, Nullable: true}, {Name: "s", Type: deltalog.String, Nullable: true},
		{Name: "n", Nullable: true, Type: &deltalog.Struct{Fields: []deltalog.Field{long("x"),
			{Name: "in.ner", Nullable: true, Type: &deltalog.Struct{Fields: []deltalog.Field{long("y"), {Name: "l", Nullable: true, Type: &deltalog.Array{Element: deltalog.Long, ContainsNull: true}}}}}}}},
		long("last"),
	}}
	form, err := deltalog.ToArrow(schema, deltalog.ArrowOptions{})
	if err != nil {
		t.Fatal(err)
	}
	all := []string{"i [-3, 5] 1 nulls", "f [1.5, NULL] 1 nulls", `s ["a", "b"] 1 nulls`, "n.x [1, 1] 2 nulls", "n.in.ner.y [7, 7] 2 nulls", "n.in.ner.l [NULL, NULL] 2 nulls", "last [1, 2] 1 nulls"}
	for _, c := range []struct {
		properties deltalog.Properties
		want       []string
	}{
		{nil, all},
		{deltalog.Properties{deltalog.PropDataSkippingColumns: "-1"}, all},
		{deltalog.Properties{deltalog.PropDataSkippingColumns: "0"}, nil},
		{deltalog.Properties{deltalog.PropDataSkippingColumns: "5"}, all[:5]},
		{deltalog.Properties{deltalog.PropDataSkippingStatsColumns: "LAST, n.x", deltalog.PropDataSkippingColumns: "0"}, []string{all[3], all[6]}},
		{deltalog.Properties{deltalog.PropDataSkippingStatsColumns: "n"}, all[3:6]},
		{deltalog.Properties{deltalog.PropDataSkippingStatsColumns: "`n` . `in.ner`.y,f"}, []string{all[1], all[4]}},
		{deltalog.Properties{deltalog.PropDataSkippingStatsColumns: "n.in.ner.y"}, nil},
	} {
		leaves, err := statsLeaves(schema, c.properties)
		if err != nil {
			t.Fatal(err)
		}
		collector := newStatsCollector(leaves, mem)
		for _, text := range []string{
			`[{"i": 5, "f": 1.5, "s": "b", "n": {"x": 1, "in.ner": null}, "last": 1}, {"i": null, "f": null, "s": null, "n": null, "last": null}]`,
			`[{"i": -3, "f": "NaN", "s": "a", "n": {"x": null, "in.ner": {"y": 7, "l": [1, null]}}, "last": 2}]`,
		} {
			rec, _, err := array.RecordFromJSON(mem, form, strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			collector.update(rec)
			rec.Release()
		}
		got := collector.stats()
		if got.NumRecords != 3 || !got.TightBounds {
			t.Fatalf("got %+v", got)
		}
		var texts []string
		for _, col := range got.Columns {
			texts = append(texts, fmt.Sprintf("%s [%v, %v] %d nulls", strings.Join(col.Path, "."), col.Min, col.Max, col.NullCount))
		}
		if !slices.Equal(texts, c.want) {
			t.Errorf("%v:\n got %q\nwant %q", c.properties, texts, c.want)
		}
	}
	for _, text := range []string{"", "a,", "a..b", "`a", "`a`b", ",a", "a.`"} {
		if leaves, err := statsLeaves(schema, deltalog.Properties{deltalog.PropDataSkippingStatsColumns: text}); err == nil {
			t.Errorf("%q was taken as %v", text, leaves)
		}
	}
}

// TestValuesBehindANullStruct: bounds do not see what stands in a field where the
// struct around it is NULL, in slices neither.
func TestValuesBehindANullStruct(t *testing.T) {
	t.Parallel()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	values := fromJSON(t, mem, arrow.PrimitiveTypes.Int64, `[-100, 1, 2, 100, null]`)
	defer values.Release()
	valid := memory.NewBufferBytes([]byte{0b10110}) // rows 0 and 3 are NULL
	data := array.NewData(arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int64, Nullable: true}), 5,
		[]*memory.Buffer{valid}, []arrow.ArrayData{values.Data()}, 2, 0)
	defer data.Release()
	whole := array.MakeFromData(data)
	defer whole.Release()
	for _, c := range []struct {
		from, to int64
		want     string
	}{{0, 5, "[1, 2] 3"}, {2, 5, "[2, 2] 2"}, {3, 5, "[NULL, NULL] 2"}} {
		part := array.NewSlice(whole, c.from, c.to)
		rec := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "s", Type: part.DataType(), Nullable: true}}, nil), []arrow.Array{part}, c.to-c.from)
		collector := newStatsCollector([]statsLeaf{{path: []string{"s", "x"}, typ: deltalog.Long, at: []int{0, 0}}}, mem)
		collector.update(rec)
		got := collector.stats().Columns[0]
		if text := fmt.Sprintf("[%v, %v] %d", got.Min, got.Max, got.NullCount); text != c.want {
			t.Errorf("rows %d to %d: got %s, want %s", c.from, c.to, text, c.want)
		}
		rec.Release()
		part.Release()
	}
}

// TestRowGroupBudget: writers that share a budget stay within it, an idle one
// does not stop the others.
func TestRowGroupBudget(t *testing.T) {
	t.Parallel()
	b := &rowGroupBudget{limit: 100}
	b.writers.Store(2)
	for range 2 {
		if b.add(40, 40) {
			t.Error("finished below the limit")
		}
	}
	if b.add(10, 30) {
		t.Error("a writer below its share had to finish")
	}
	if !b.add(30, 70) {
		t.Error("a writer above its share went on beyond the limit")
	}
}
