package latest_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	"github.com/pipectl/pipectl/plugins/silver/silver/latest"
)

var (
	byAll = latest.Order{Position: "_start_lsn", Command: "_command_id", Sequence: "_seqval", Operation: "_operation"}
	shape = arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "region", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "value", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "_start_lsn", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "_seqval", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "_operation", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "_command_id", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	}, nil)
)

type change struct {
	id       *int64
	region   *string
	value    string
	lsn      string
	sequence *string
	op       int32
	command  *int32
}

func (c change) key() string {
	key := "null"
	if c.id != nil {
		key = fmt.Sprint(*c.id)
	}
	if c.region == nil {
		return key + "|null"
	}
	return key + "|" + fmt.Sprintf("%q", *c.region)
}

// less is the order in words: NULL lowest in each of the four.
func (c change) less(d change) bool {
	if c.lsn != d.lsn {
		return c.lsn < d.lsn
	}
	if a, b := number(c.command), number(d.command); a != b {
		return a < b
	}
	if a, b := textOrLowest(c.sequence), textOrLowest(d.sequence); a != b {
		return a < b
	}
	return c.op < d.op
}

func number(p *int32) int64 {
	if p == nil {
		return math.MinInt64
	}
	return int64(*p)
}

func textOrLowest(p *string) string {
	if p == nil {
		return ""
	}
	return "+" + *p
}

func build(alloc memory.Allocator, rows []change) arrow.RecordBatch {
	b := array.NewRecordBuilder(alloc, shape)
	defer b.Release()
	for _, r := range rows {
		appendInt64(b.Field(0).(*array.Int64Builder), r.id)
		appendText(b.Field(1).(*array.StringBuilder), r.region)
		b.Field(2).(*array.StringBuilder).Append(r.value)
		b.Field(3).(*array.StringBuilder).Append(r.lsn)
		appendText(b.Field(4).(*array.StringBuilder), r.sequence)
		b.Field(5).(*array.Int32Builder).Append(r.op)
		if r.command == nil {
			b.Field(6).AppendNull()
		} else {
			b.Field(6).(*array.Int32Builder).Append(*r.command)
		}
	}
	return b.NewRecordBatch()
}

func appendInt64(b *array.Int64Builder, v *int64) {
	if v == nil {
		b.AppendNull()
		return
	}
	b.Append(*v)
}

func appendText(b *array.StringBuilder, v *string) {
	if v == nil {
		b.AppendNull()
		return
	}
	b.Append(*v)
}

// The newest row per key equals the maximum by the order, whatever the budget
// and so whether rows were spilled, and nothing stays behind. Of rows equal in
// all four order columns the first stays.
func TestNewestIsTheLastByOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		changes := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) change {
			return change{
				id:       rapid.Ptr(rapid.Int64Range(0, 5), true).Draw(t, "id"),
				region:   rapid.Ptr(rapid.SampledFrom([]string{"", "a", "b"}), true).Draw(t, "region"),
				lsn:      fmt.Sprintf("0x%02d", rapid.IntRange(0, 9).Draw(t, "lsn")),
				sequence: rapid.Ptr(rapid.SampledFrom([]string{"0x01", "0x02"}), true).Draw(t, "sequence"),
				op:       rapid.Int32Range(0, 4).Draw(t, "op"),
				command:  rapid.Ptr(rapid.Int32Range(1, 3), true).Draw(t, "command"),
			}
		}), 0, 60).Draw(t, "changes")
		want := map[string]change{}
		for i := range changes {
			changes[i].value = fmt.Sprint(i)
			c := changes[i]
			if best, ok := want[c.key()]; !ok || best.less(c) {
				want[c.key()] = c
			}
		}
		alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
		r, err := latest.New(shape, latest.Options{
			Keys: []string{"id", "region"}, Order: byAll, SpillDir: dir, Allocator: alloc,
			Budget: rapid.SampledFrom([]int64{1, 2000, 1 << 30}).Draw(t, "budget"),
		})
		if err != nil {
			t.Fatal(err)
		}
		for len(changes) > 0 {
			n := rapid.IntRange(1, len(changes)).Draw(t, "batch")
			b := build(alloc, changes[:n])
			if err := r.Add(b); err != nil {
				t.Fatal(err)
			}
			b.Release()
			changes = changes[n:]
		}
		got := map[string]string{}
		if err := r.Newest(context.Background(), func(b arrow.RecordBatch) error { return collect(got, b) }); err != nil {
			t.Fatal(err)
		}
		if len(got) != len(want) {
			t.Fatalf("%d keys, want %d", len(got), len(want))
		}
		for k, c := range want {
			if got[k] != c.value {
				t.Fatalf("key %s: row %s, want %s", k, got[k], c.value)
			}
		}
		alloc.AssertSize(t, 0)
		if left, _ := os.ReadDir(dir); len(left) != 0 {
			t.Fatalf("%d temporary folders left", len(left))
		}
	})
}

func collect(got map[string]string, b arrow.RecordBatch) error {
	ids, regions := b.Column(0).(*array.Int64), b.Column(1).(*array.String)
	for i := range int(b.NumRows()) {
		c := change{}
		if ids.IsValid(i) {
			v := ids.Value(i)
			c.id = &v
		}
		if regions.IsValid(i) {
			v := regions.Value(i)
			c.region = &v
		}
		if _, twice := got[c.key()]; twice {
			return fmt.Errorf("key %s twice", c.key())
		}
		got[c.key()] = b.Column(2).(*array.String).Value(i)
	}
	return nil
}

func TestKeysOfEveryType(t *testing.T) {
	t.Parallel()
	for _, typ := range []arrow.DataType{
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Boolean, arrow.FixedWidthTypes.Date32,
		&arrow.TimestampType{Unit: arrow.Microsecond}, &arrow.Decimal128Type{Precision: 18, Scale: 4},
		arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary,
	} {
		t.Run(typ.String(), func(t *testing.T) {
			schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: typ, Nullable: true},
				shape.Field(3), shape.Field(4), shape.Field(5), shape.Field(6)}, nil)
			b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
			defer b.Release()
			for i, k := range []string{"0", "1", "0", "", "", "1"} {
				if k == "" {
					b.Field(0).AppendNull()
				} else if err := b.Field(0).AppendValueFromString(keyText(typ, k)); err != nil {
					t.Fatal(err)
				}
				b.Field(1).(*array.StringBuilder).Append(fmt.Sprintf("0x%02d", i))
				b.Field(2).AppendNull()
				b.Field(3).(*array.Int32Builder).Append(2)
				b.Field(4).(*array.Int32Builder).Append(1)
			}
			batch := b.NewRecordBatch()
			defer batch.Release()
			r, err := latest.New(schema, latest.Options{Keys: []string{"k"}, Order: byAll})
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Add(batch); err != nil {
				t.Fatal(err)
			}
			var got []string
			if err := r.Newest(context.Background(), func(b arrow.RecordBatch) error {
				for i := range int(b.NumRows()) {
					got = append(got, b.Column(1).(*array.String).Value(i))
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(got) != "[0x02 0x04 0x05]" {
				t.Fatalf("newest rows %v", got)
			}
		})
	}
}

// keyText spells the key 0 or 1 as a value of the type.
func keyText(typ arrow.DataType, digit string) string {
	one := digit == "1"
	switch typ.ID() {
	case arrow.BOOL:
		return fmt.Sprint(one)
	case arrow.DATE32:
		return map[bool]string{false: "2026-01-01", true: "2026-01-02"}[one]
	case arrow.TIMESTAMP:
		return map[bool]string{false: "2026-01-01T00:00:00", true: "2026-01-02T00:00:00"}[one]
	case arrow.BINARY, arrow.LARGE_BINARY:
		return map[bool]string{false: "QQ==", true: "QQAA"}[one]
	}
	return digit
}

func BenchmarkNewest(b *testing.B) {
	changes := make([]change, 64<<10)
	seq, cmd := "0x00000000000000000001", int32(1)
	for i := range changes {
		id := int64(i*2654435761) % 20000
		changes[i] = change{id: &id, value: "v", lsn: fmt.Sprintf("0x%020X", i/3), sequence: &seq, op: 2, command: &cmd}
	}
	batch := build(memory.DefaultAllocator, changes)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		r, err := latest.New(shape, latest.Options{Keys: []string{"id"}, Order: byAll})
		if err != nil {
			b.Fatal(err)
		}
		for range 16 {
			if err := r.Add(batch); err != nil {
				b.Fatal(err)
			}
			n += len(changes)
		}
		if err := r.Newest(context.Background(), func(arrow.RecordBatch) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "rows/s")
}
