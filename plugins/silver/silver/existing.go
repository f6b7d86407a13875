package silver

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/rows"
	"github.com/pipectl/pipectl/plugins/silver/silver/latest"
)

const (
	// maxKeysAsked is how many keys a scan of the target names; more are asked for
	// in ranges.
	maxKeysAsked = 1000
	// maxRanges bounds those: every file is held against each.
	maxRanges = 64
)

// moves is how keys that passed from row to row are ranked. In a table that is
// built anew no key was there before.
func (a *application) moves() *latest.Moves {
	moves := &latest.Moves{}
	for _, f := range a.shape.captured {
		moves.Image = append(moves.Image, f.Name)
	}
	if !a.decision.rebuild && a.base.rows != 0 {
		moves.Exists = a.exists
	}
	return moves
}

// exists reads which keys the target had at the version that the merge begins
// from: no other commit may change its rows until then.
func (a *application) exists(ctx context.Context, keys arrow.RecordBatch) ([]bool, error) {
	members, err := latest.NewMembers(keys)
	if err != nil {
		return nil, err
	}
	frames, err := a.host.Tables.Scan(ctx, plugin.ScanRequest{Table: a.req.Target, Version: a.base.version, Columns: a.req.Key, Filter: keyFilter(keys)})
	if err != nil {
		return nil, fmt.Errorf("reading the keys of %s: %w", a.req.Target.Name, err)
	}
	reader, err := rows.NewReader(frames, a.current.alloc)
	if err != nil {
		return nil, fmt.Errorf("reading the keys of %s: %w", a.req.Target.Name, err)
	}
	if _, err := reader.ForEach(members.Look); err != nil {
		return nil, fmt.Errorf("reading the keys of %s: %w", a.req.Target.Name, err)
	}
	return members.Found, nil
}

// keyFilter narrows a scan to the first column of keys, where that is an integer
// or a text, which sinks compare by its bytes (plugin.OpGE); a scan may return more.
func keyFilter(keys arrow.RecordBatch) plugin.Filter {
	if keys.Column(0).NullN() > 0 {
		return plugin.Filter{}
	}
	name := keys.ColumnName(0)
	switch c := keys.Column(0).(type) {
	case *array.Int16:
		return among(name, valuesOf(c.Len(), func(i int) int64 { return int64(c.Value(i)) }), integer, apart)
	case *array.Int32:
		return among(name, valuesOf(c.Len(), func(i int) int64 { return int64(c.Value(i)) }), integer, apart)
	case *array.Int64:
		return among(name, valuesOf(c.Len(), c.Value), integer, apart)
	case *array.String:
		values := valuesOf(c.Len(), c.Value)
		return among(name, values, text, textsApart(values))
	}
	return plugin.Filter{}
}

// valuesOf are the values of a column in their order.
func valuesOf[T cmp.Ordered](n int, value func(int) T) []T {
	values := make([]T, n)
	for i := range values {
		values[i] = value(i)
	}
	slices.Sort(values)
	return values
}

// among selects the rows with one of few values, which are in order, or in a range
// of many. The ranges leave out where the values are farthest apart: keys of one
// commit mostly lie beside each other, with some far off.
func among[T any](column string, values []T, literal func(T) plugin.Literal, apart func(a, b T) uint64) plugin.Filter {
	if len(values) <= maxKeysAsked {
		in := plugin.Term{Column: column, Op: plugin.OpIn}
		for _, v := range values {
			in.Literals = append(in.Literals, literal(v))
		}
		return plugin.Filter{Any: []plugin.Clause{{All: []plugin.Term{in}}}}
	}
	type gap struct {
		behind int // the value that ends a range
		width  uint64
	}
	var widest []gap // the widest first
	for i := range len(values) - 1 {
		g := gap{i, apart(values[i], values[i+1])}
		at, _ := slices.BinarySearchFunc(widest, g, func(a, b gap) int { return cmp.Compare(b.width, a.width) })
		if at < maxRanges-1 {
			widest = slices.Insert(widest[:min(len(widest), maxRanges-2)], at, g)
		}
	}
	slices.SortFunc(widest, func(a, b gap) int { return cmp.Compare(a.behind, b.behind) })
	var f plugin.Filter
	from := 0
	for _, g := range append(widest, gap{behind: len(values) - 1}) {
		f.Any = append(f.Any, plugin.Clause{All: []plugin.Term{
			{Column: column, Op: plugin.OpGE, Literals: []plugin.Literal{literal(values[from])}},
			{Column: column, Op: plugin.OpLE, Literals: []plugin.Literal{literal(values[g.behind])}},
		}})
		from = g.behind + 1
	}
	return f
}

// apart is how far b is behind a, which is not greater.
func apart(a, b int64) uint64 { return uint64(b) - uint64(a) }

// textsApart measures it of texts between the first and the last of a list, by the
// bytes behind what all of them begin with.
func textsApart(values []string) func(a, b string) uint64 {
	common := 0
	if len(values) > 0 {
		first, last := values[0], values[len(values)-1]
		for common < min(len(first), len(last)) && first[common] == last[common] {
			common++
		}
	}
	number := func(s string) uint64 {
		var next [8]byte
		copy(next[:], s[common:])
		return binary.BigEndian.Uint64(next[:])
	}
	return func(a, b string) uint64 { return number(b) - number(a) }
}
