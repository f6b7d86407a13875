package latest

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// Operations of change rows, as the pipeline numbers them.
const (
	opSnapshot     = 0
	opDelete       = 1
	opInsert       = 2
	opUpdateBefore = 3
)

// Moves is for keys that pass from row to row: one statement may give the key of a
// row to another and that row a key of its own. The changes of the two are logged
// one after the other, so the row that leaves a key can stand behind the one that
// comes to it, and the last row of a key does not say whether it is there.
//
// What does not depend on the order is how often the rows of a commit bring the
// key and take it away: a key is there at most once, so it is there afterwards
// when it was brought more often, is gone when it was taken more often, and is
// what it was before when both are equal.
type Moves struct {
	// Image are the columns that tell one row from another, where nothing says
	// whether the key was there before, as when a snapshot was read while rows passed
	// keys on: the row that left then is another one than the row that came, or the
	// same one that came and went.
	Image []string
	// Exists answers for each row of a batch of key columns whether the target has
	// a row of that key: for keys of which no row tells what was before the
	// commits that are ranked. nil is a target without rows.
	Exists func(ctx context.Context, keys arrow.RecordBatch) ([]bool, error)
}

// place is a row among the batches of a ranker.
type place struct {
	batch int32
	row   int32
}

// visit is a row of a key in doubt.
type visit struct {
	slot int32
	place
}

// doubt is a key of which no row says whether it is there.
type doubt struct {
	slot int32
	came place // the last row that brought it
}

// settle finds out about the keys whose last row takes them away, while another row
// of the same commit brings them.
func (r *Ranker) settle(ctx context.Context, t *table, keys []key, orders []order) error {
	doubtful := func(s *slot) bool {
		return s.batch != emptySlot && s.place&brought != 0 && !orders[s.batch].brings(s.row())
	}
	if !slices.ContainsFunc(t.slots, func(s slot) bool { return doubtful(&s) }) {
		return nil
	}
	var visits []visit
	for b := range r.batches {
		k := keys[b]
		for row := range int(r.batches[b].NumRows()) {
			at := t.index(k.hash(t.seed, row), func(batch int32, other int) bool { return k.equal(row, keys[batch], other) })
			if doubtful(&t.slots[at]) {
				visits = append(visits, visit{int32(at), place{int32(b), int32(row)}})
			}
		}
	}
	slices.SortStableFunc(visits, func(a, b visit) int {
		if c := cmp.Compare(a.slot, b.slot); c != 0 {
			return c
		}
		return orders[a.batch].compare(int(a.row), orders[b.batch], int(b.row))
	})
	var open []doubt
	for len(visits) > 0 {
		n := 1
		for n < len(visits) && visits[n].slot == visits[0].slot {
			n++
		}
		s := &t.slots[visits[0].slot]
		became, came := r.outcome(visits[:n], orders)
		switch {
		case became == there, became == asBefore && r.differ(came, place{s.batch, int32(s.row())}):
			s.at(came.batch, int(came.row), false)
		case became == asBefore:
			open = append(open, doubt{visits[0].slot, came})
		}
		visits = visits[n:]
	}
	if len(open) == 0 || r.options.Moves.Exists == nil {
		return nil
	}
	slices.SortFunc(open, func(a, b doubt) int {
		return cmp.Or(cmp.Compare(a.came.batch, b.came.batch), cmp.Compare(a.came.row, b.came.row))
	})
	asked, err := r.keysOf(open)
	if err != nil {
		return err
	}
	defer asked.Release()
	exists, err := r.options.Moves.Exists(ctx, asked)
	if err != nil {
		return err
	}
	for i, d := range open {
		if exists[i] {
			t.slots[d.slot].at(d.came.batch, int(d.came.row), false)
		}
	}
	return nil
}

// differ reports whether a row that left a key is another one than the row that
// came to it. Images may lack long values that did not change, so that NULL in a text
// or in bytes says nothing.
func (r *Ranker) differ(came, left place) bool {
	for _, name := range r.options.Moves.Image {
		at := r.schema.FieldIndices(name)
		if len(at) != 1 {
			continue
		}
		a, b := r.batches[came.batch].Column(at[0]), r.batches[left.batch].Column(at[0])
		if (a.IsNull(int(came.row)) || b.IsNull(int(left.row))) && arrow.IsBaseBinary(b.DataType().ID()) {
			continue
		}
		if !array.SliceEqual(a, int64(came.row), int64(came.row)+1, b, int64(left.row), int64(left.row)+1) {
			return true
		}
	}
	return false
}

// What became of a key.
type became int

const (
	asBefore became = iota // there when it was before the first of its rows
	there
	gone
)

// outcome follows the rows of one key, in their order, commit by commit. came is
// the row that it has when it is there.
func (r *Ranker) outcome(list []visit, orders []order) (state became, came place) {
	for len(list) > 0 {
		n := 1
		for n < len(list) && orders[list[0].batch].sameCommit(int(list[0].row), orders[list[n].batch], int(list[n].row)) {
			n++
		}
		brought, taken, bringing := 0, 0, false
		for _, v := range list[:n] {
			o := orders[v.batch]
			if bringing = o.brings(int(v.row)); !bringing {
				taken++
				continue
			}
			came = v.place
			switch op := o.operation.Value(int(v.row)); {
			case op == opSnapshot:
				state = there
			case op == opInsert || r.before: // without the rows before, updates only go on
				brought++
			}
		}
		switch {
		case bringing || brought > taken:
			state = there
		case brought < taken:
			state = gone
		}
		list = list[n:]
	}
	return state, came
}

// keysOf are the key columns of the rows that brought keys, which are in the order
// of the batches.
func (r *Ranker) keysOf(open []doubt) (arrow.RecordBatch, error) {
	var pieces []arrow.RecordBatch
	defer func() {
		for _, p := range pieces {
			p.Release()
		}
	}()
	fields := make([]arrow.Field, len(r.keys))
	for i, at := range r.keys {
		fields[i] = r.schema.Field(at)
	}
	schema := arrow.NewSchema(fields, nil)
	var rows []int32
	for i, d := range open {
		rows = append(rows, d.came.row)
		if i+1 < len(open) && open[i+1].came.batch == d.came.batch {
			continue
		}
		columns := make([]arrow.Array, len(r.keys))
		for k, at := range r.keys {
			columns[k] = r.batches[d.came.batch].Column(at)
		}
		whole := array.NewRecordBatch(schema, columns, r.batches[d.came.batch].NumRows())
		piece, err := Take(whole, rows, r.options.Allocator)
		whole.Release()
		if err != nil {
			return nil, err
		}
		pieces, rows = append(pieces, piece), rows[:0]
	}
	columns := make([]arrow.Array, len(r.keys))
	defer func() {
		for _, c := range columns {
			if c != nil {
				c.Release()
			}
		}
	}()
	for k := range r.keys {
		parts := make([]arrow.Array, len(pieces))
		for i, p := range pieces {
			parts[i] = p.Column(k)
		}
		var err error
		if columns[k], err = array.Concatenate(parts, r.options.Allocator); err != nil {
			return nil, fmt.Errorf("taking %d keys: %w", len(open), err)
		}
	}
	return array.NewRecordBatch(schema, columns, int64(len(open))), nil
}
