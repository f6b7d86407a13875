package silver

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	"github.com/pipectl/pipectl/core/plugin"
)

// keysFrom is a batch of one key column.
func keysFrom(t arrow.DataType, add func(array.Builder)) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "id", Type: t, Nullable: true}}, nil))
	defer b.Release()
	add(b.Field(0))
	return b.NewRecordBatch()
}

func longs(keys []int64) arrow.RecordBatch {
	return keysFrom(arrow.PrimitiveTypes.Int64, func(b array.Builder) { b.(*array.Int64Builder).AppendValues(keys, nil) })
}

func texts(keys []string) arrow.RecordBatch {
	return keysFrom(arrow.BinaryTypes.String, func(b array.Builder) { b.(*array.StringBuilder).AppendValues(keys, nil) })
}

// reads reports whether a file of keys from lo to hi is read: a sink leaves out one
// whose statistics rule out every clause.
func reads[T cmp.Ordered](f plugin.Filter, lo, hi T, of func(plugin.Literal) T) bool {
	if len(f.Any) == 0 {
		return true
	}
	return slices.ContainsFunc(f.Any, func(c plugin.Clause) bool {
		return !slices.ContainsFunc(c.All, func(term plugin.Term) bool {
			switch term.Op {
			case plugin.OpGE:
				return hi < of(term.Literals[0])
			case plugin.OpLE:
				return lo > of(term.Literals[0])
			case plugin.OpIn:
				return !slices.ContainsFunc(term.Literals, func(l plugin.Literal) bool { return lo <= of(l) && of(l) <= hi })
			}
			panic("no test of " + term.Op)
		})
	})
}

func number(l plugin.Literal) int64 { return l.Int }
func words(l plugin.Literal) string { return l.Text }

// However many keys are asked for, of a table of a thousand files those are read
// that can hold one.
func TestOnlyFilesThatCanHoldAKeyAreRead(t *testing.T) {
	t.Parallel()
	between := func(lists ...[2]int64) (keys []int64) {
		for _, l := range lists {
			for k := l[0]; k < l[1]; k++ {
				keys = append(keys, k)
			}
		}
		return keys
	}
	every := func(step int64) (keys []int64) {
		for k := int64(0); k < 100_000; k += step {
			keys = append(keys, k)
		}
		return keys
	}
	for name, c := range map[string]struct {
		keys []int64
		want int // files of 100 keys, from 0 to 99,999
	}{
		"a few":                   {between([2]int64{500, 510}), 1},
		"many beside each other":  {between([2]int64{50_000, 55_000}), 50},
		"many, and a few far off": {between([2]int64{100, 110}, [2]int64{50_000, 55_000}, [2]int64{99_990, 100_000}), 52},
		"many in between":         {every(10), 1000},
		"a few of each":           {between([2]int64{-5_000_000, -4_990_000}, [2]int64{0, 1}), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slices.Reverse(c.keys) // they come in no order
			var list []string
			for _, k := range c.keys {
				list = append(list, fmt.Sprintf("customer %012d", 10_000_000+k))
			}
			whole, text := longs(c.keys), texts(list)
			defer whole.Release()
			defer text.Release()
			byNumber, byText := keyFilter(whole), keyFilter(text)
			numbers, texts := 0, 0
			for k := int64(0); k < 100_000; k += 100 {
				if reads(byNumber, k, k+99, number) {
					numbers++
				}
				if reads(byText, fmt.Sprintf("customer %012d", 10_000_000+k), fmt.Sprintf("customer %012d", 10_000_000+k+99), words) {
					texts++
				}
			}
			if numbers != c.want || texts != c.want {
				t.Errorf("%d files by number and %d by text are read, want %d", numbers, texts, c.want)
			}
		})
	}
}

// A file that holds a key is never left out.
func TestEveryKeyIsAskedFor(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, maxKeysAsked, maxKeysAsked + 1, maxKeysAsked + 200}).Draw(t, "keys")
		seed := rapid.Int64().Draw(t, "seed")
		stride := rapid.Int64().Draw(t, "stride")
		prefix := rapid.StringMatching(`[a-z]{0,9}`).Draw(t, "prefix")
		keys, list := make([]int64, n), make([]string, n)
		for i := range keys {
			keys[i] = seed + int64(i)*stride // wraps around
			list[i] = prefix + fmt.Sprint(keys[i])
		}
		whole, text := longs(keys), texts(list)
		defer whole.Release()
		defer text.Release()
		byNumber, byText := keyFilter(whole), keyFilter(text)
		for i := range keys {
			if !reads(byNumber, keys[i], keys[i], number) || !reads(byText, list[i], list[i], words) {
				t.Fatalf("the file of %d or %q is left out", keys[i], list[i])
			}
		}
		if len(byNumber.Any) > maxRanges || len(byText.Any) > maxRanges {
			t.Fatalf("%d and %d ranges", len(byNumber.Any), len(byText.Any))
		}
	})
}
