package cdc

import (
	"cmp"
	"slices"
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"pgregory.net/rapid"
)

func intTree() *tree {
	return newTree(func(a, b sqltype.Row) int { return cmp.Compare(a[0].Int(), b[0].Int()) })
}

func intRow(k, v int64) sqltype.Row { return sqltype.Row{sqltype.FromInt(k), sqltype.FromInt(v)} }

func walk(c *treeCursor) (out [][2]int64) {
	for row := c.next(); row != nil; row = c.next() {
		out = append(out, [2]int64{row[0].Int(), row[1].Int()})
	}
	return out
}

func sorted(m map[int64]int64) (out [][2]int64) {
	for k, v := range m {
		out = append(out, [2]int64{k, v})
	}
	slices.SortFunc(out, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
	return out
}

// A tree holds what a map holds, in key order, from either end and from any key; versions never change under a reader.
func TestTreeAgainstMap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tr, m := intTree(), map[int64]int64{}
		type version struct {
			tr   *tree
			want [][2]int64
		}
		var versions []version
		keys := rapid.Int64Range(0, rapid.SampledFrom([]int64{20, 400, 5000}).Draw(t, "space"))
		for range rapid.IntRange(1, 12).Draw(t, "rounds") {
			versions = append(versions, version{tr, sorted(m)})
			tr = tr.clone()
			seq := rapid.Bool().Draw(t, "sequential")
			at := keys.Draw(t, "start")
			for range rapid.IntRange(1, 300).Draw(t, "ops") {
				k := at
				at++
				if !seq {
					k = keys.Draw(t, "key")
				}
				if rapid.IntRange(0, 2).Draw(t, "op") == 0 {
					old := tr.delete(intRow(k, 0))
					if _, ok := m[k]; ok != (old != nil) {
						t.Fatalf("delete of %d gave %v", k, old)
					}
					delete(m, k)
					continue
				}
				v := int64(len(versions)*1000) + k
				old := tr.set(intRow(k, v))
				if _, ok := m[k]; ok != (old != nil) {
					t.Fatalf("set of %d gave %v", k, old)
				}
				m[k] = v
			}
		}
		versions = append(versions, version{tr, sorted(m)})
		for i, v := range versions {
			if got := walk(v.tr.ascend(nil)); !slices.Equal(got, v.want) || v.tr.n != len(v.want) {
				t.Fatalf("version %d: %v, want %v", i, got, v.want)
			}
			down := walk(v.tr.descend(nil))
			slices.Reverse(down)
			if !slices.Equal(down, v.want) {
				t.Fatalf("version %d downward: %v, want %v", i, down, v.want)
			}
			k := keys.Draw(t, "seek")
			from, _ := slices.BinarySearchFunc(v.want, k, func(e [2]int64, k int64) int { return cmp.Compare(e[0], k) })
			if got := walk(v.tr.ascend(func(r sqltype.Row) bool { return r[0].Int() < k })); !slices.Equal(got, v.want[from:]) {
				t.Fatalf("from %d: %v, want %v", k, got, v.want[from:])
			}
			below := walk(v.tr.descend(func(r sqltype.Row) bool { return r[0].Int() >= k }))
			slices.Reverse(below)
			if !slices.Equal(below, v.want[:from]) {
				t.Fatalf("below %d: %v, want %v", k, below, v.want[:from])
			}
		}
	})
}
