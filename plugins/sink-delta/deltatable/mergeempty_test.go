package deltatable

import (
	"errors"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"
)

func TestHashSet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, model := newHashSet(rapid.Int64Range(0, 40).Draw(t, "room")), map[uint64]bool{}
		// Few different values, some that share a place.
		values := rapid.OneOf(rapid.Uint64Range(0, 60), rapid.SampledFrom([]uint64{1 << 40, 2 << 40, 3 << 40, ^uint64(0)}))
		for _, h := range rapid.SliceOfN(values, 0, 200).Draw(t, "hashes") {
			if added := s.add(h); added == model[h] {
				t.Fatalf("adding %d says %v", h, added)
			}
			model[h] = true
		}
		s.clear()
		if !s.add(0) || !s.add(7) || s.add(7) {
			t.Fatal("a cleared set is not empty")
		}
	})
}

// spooledKeys is a matching over source rows with these keys, nil being NULL,
// in batches of three.
func spooledKeys(t *testing.T, keys ...any) *matching {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: deleteColumn, Type: arrow.FixedWidthTypes.Boolean},
	}, nil)
	p := (&spool{schema: schema, mem: memory.DefaultAllocator, dir: t.TempDir(), limit: 1 << 20}).newPart()
	t.Cleanup(func() { p.close() })
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i, k := range keys {
		if k == nil {
			b.Field(0).AppendNull()
		} else {
			b.Field(0).(*array.Int64Builder).Append(int64(k.(int)))
		}
		b.Field(1).(*array.BooleanBuilder).Append(false)
		if i%3 == 2 || i == len(keys)-1 {
			rec := b.NewRecordBatch()
			if err := p.write(rec); err != nil {
				t.Fatal(err)
			}
			rec.Release()
		}
	}
	if err := p.seal(); err != nil {
		t.Fatal(err)
	}
	return &matching{m: &merge{keys: []int{0}, names: []string{"id"}, seed: newHashSeed()}, rows: newRowsOf([]*spoolPart{p})}
}

// TestEqualHashesAreNoEqualKeys: rows that share a hash with another are
// compared by their keys.
func TestEqualHashesAreNoEqualKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		keys []any
		want string
	}{
		{[]any{1, 2, 3, 4, nil, 5, 0}, ""},
		{[]any{1, 2, 3, 4, 5, 2}, "id = 2"},
		{[]any{nil, 2, 3, 0, nil}, "id = NULL"},
	} {
		x := spooledKeys(t, c.keys...)
		suspects := map[uint64]bool{} // all of them
		if err := x.hashed(func(_ spooledBatch, _ arrow.RecordBatch, hashes []uint64) error {
			for _, h := range hashes {
				suspects[h] = true
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		err := x.compareKeys(suspects)
		var twice *DuplicateKeyError
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%v: %v", c.keys, err)
		case c.want != "" && (!errors.As(err, &twice) || twice.Key != c.want):
			t.Errorf("%v: %v, want a second %s", c.keys, err, c.want)
		}
	}
}
