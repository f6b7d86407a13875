package deltatable

import (
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
)

const (
	// maxKeyRanges is into how many ranges the keys of a merge are gathered to
	// find the files that may hold them.
	maxKeyRanges = 64
	// maxRangedKeys is the most keys for which that is done, since it needs all
	// of them in memory; beyond it, least and greatest key have to do.
	maxRangedKeys = 1 << 20
)

// keyColumns gathers what is known of the source's keys.
type keyColumns struct {
	m      *merge
	bounds []bounds // of each key column; nil when the type has none
	types  []deltalog.Type
	nulls  []bool
	whole  []int64 // values of the first key column when it is whole numbers
	ranged bool
}

func (s *Snapshot) newKeyColumns(m *merge, rows int64) (*keyColumns, error) {
	k := &keyColumns{m: m, nulls: make([]bool, len(m.keys)), ranged: rows <= maxRangedKeys}
	for _, c := range m.keys {
		col, err := s.column(m.names[c])
		if err != nil {
			return nil, err
		}
		k.bounds = append(k.bounds, newBounds(col.field.Type))
		k.types = append(k.types, col.field.Type)
	}
	if _, ok := k.bounds[0].(*intBounds); !ok {
		k.ranged = false
	}
	return k, nil
}

// add takes in a spooled batch.
func (k *keyColumns) add(rec arrow.RecordBatch) {
	for i, c := range k.m.keys {
		arr := rec.Column(c)
		k.nulls[i] = k.nulls[i] || arr.NullN() > 0
		if k.bounds[i] != nil && arr.NullN() < arr.Len() {
			k.bounds[i].update(arr)
		}
	}
	if !k.ranged {
		return
	}
	arr := rec.Column(k.m.keys[0])
	k.whole = slices.Grow(k.whole, arr.Len())
	for i := range arr.Len() {
		if !arr.IsNull(i) {
			k.whole = append(k.whole, wholeNumber(arr, i))
		}
	}
}

func wholeNumber(arr arrow.Array, i int) int64 {
	switch a := arr.(type) {
	case *array.Int8:
		return int64(a.Value(i))
	case *array.Int16:
		return int64(a.Value(i))
	case *array.Int32:
		return int64(a.Value(i))
	case *array.Int64:
		return a.Value(i)
	case *array.Date32:
		return int64(a.Value(i))
	case *array.Timestamp:
		return int64(a.Value(i))
	}
	return 0
}

// predicate is true of every row of the table whose key is in the source, and
// of as few others as bounds can tell.
func (k *keyColumns) predicate() deltalog.Predicate {
	var rest deltalog.Clause // conditions on the columns behind the first
	for i := 1; i < len(k.bounds); i++ {
		if !k.nulls[i] {
			rest = append(rest, k.between(i)...)
		}
	}
	var p deltalog.Predicate
	first := k.m.names[k.m.keys[0]]
	switch {
	case k.ranged && len(k.whole) > 0:
		value := k.bounds[0].(*intBounds).value
		for _, r := range gatherRanges(k.whole, maxKeyRanges) {
			p = append(p, append(deltalog.Clause{
				{Column: first, Op: deltalog.OpGe, Values: []deltalog.Value{value(r[0])}},
				{Column: first, Op: deltalog.OpLe, Values: []deltalog.Value{value(r[1])}},
			}, rest...))
		}
	case len(k.between(0)) > 0:
		p = append(p, append(k.between(0), rest...))
	case !k.nulls[0] && len(rest) > 0:
		return append(p, rest) // nothing is known of the first column
	default:
		return nil
	}
	if k.nulls[0] {
		p = append(p, append(deltalog.Clause{{Column: first, Op: deltalog.OpIsNull}}, rest...))
	}
	return p
}

// between bounds a key column; empty when nothing is known.
func (k *keyColumns) between(i int) deltalog.Clause {
	if k.bounds[i] == nil {
		return nil
	}
	lo, hi := k.bounds[i].values()
	if lo.IsNull() || hi.IsNull() {
		return nil
	}
	if _, isFloat := k.bounds[i].(*floatBounds); isFloat {
		return nil // -0.0 and NaN make bounds of floats a matter of taste
	}
	name := k.m.names[k.m.keys[i]]
	return deltalog.Clause{
		{Column: name, Op: deltalog.OpGe, Values: []deltalog.Value{lo}},
		{Column: name, Op: deltalog.OpLe, Values: []deltalog.Value{hi}},
	}
}

// gatherRanges covers the values with at most n ranges, split at the widest
// gaps. It sorts values.
func gatherRanges(values []int64, n int) [][2]int64 {
	slices.Sort(values)
	type gap struct {
		width uint64
		at    int // the gap is between values at-1 and at
	}
	var gaps []gap // the n-1 widest, widest first
	least := uint64(1)
	for i := 1; i < len(values); i++ {
		w := uint64(values[i]) - uint64(values[i-1])
		if w <= least {
			continue
		}
		at, _ := slices.BinarySearchFunc(gaps, w, func(g gap, w uint64) int {
			if g.width >= w {
				return -1
			}
			return 1
		})
		gaps = slices.Insert(gaps, at, gap{w, i})
		if len(gaps) > n-1 {
			gaps = gaps[:n-1]
		}
		if len(gaps) == n-1 && n > 1 {
			least = gaps[len(gaps)-1].width
		}
	}
	slices.SortFunc(gaps, func(a, b gap) int { return a.at - b.at })
	out := make([][2]int64, 0, len(gaps)+1)
	from := 0
	for _, g := range append(gaps, gap{at: len(values)}) {
		out = append(out, [2]int64{values[from], values[g.at-1]})
		from = g.at
	}
	return out
}

// orderedBound is a bound from statistics in the form of orderAppender; ok is
// false when it does not fit the column's type t.
func orderedBound(v deltalog.Value, t arrow.DataType) (_ []byte, ok bool) {
	dst := []byte{1}
	switch t.ID() {
	case arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64:
		return appendOrderedInt(dst, v.Int()), v.Kind() == deltalog.KindInt
	case arrow.DATE32:
		return appendOrderedInt(dst, v.Int()), v.Kind() == deltalog.KindDate
	case arrow.TIMESTAMP:
		return appendOrderedInt(dst, v.Int()), v.Kind() == deltalog.KindTimestamp
	case arrow.STRING:
		return append(dst, v.Text()...), v.Kind() == deltalog.KindString
	case arrow.FLOAT32, arrow.FLOAT64:
		return appendOrderedFloat(dst, v.Float()), v.Kind() == deltalog.KindFloat && !math.IsNaN(v.Float())
	}
	return nil, false
}
