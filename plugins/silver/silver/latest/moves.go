package latest

import (
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
	row   int
}

// settle finds out about the keys whose last row takes them away, while another row
// of the same commit brings them.
func (r *Ranker) settle(ctx context.Context, t *table, keys []key, orders []order) error {
	rows := map[*slot][]place{}
	for i := range t.slots {
		if s := &t.slots[i]; s.batch != emptySlot && s.place&brought != 0 && !orders[s.batch].brings(s.row()) {
			rows[s] = nil
		}
	}
	if len(rows) == 0 {
		return nil
	}
	for b := range r.batches {
		k := keys[b]
		for row := range int(r.batches[b].NumRows()) {
			s := t.find(k.hash(t.seed, row), func(batch int32, other int) bool { return k.equal(row, keys[batch], other) })
			if list, doubtful := rows[s]; doubtful {
				rows[s] = append(list, place{int32(b), row})
			}
		}
	}
	var open []*slot
	brings := map[*slot]place{}
	for s, list := range rows {
		slices.SortStableFunc(list, func(a, b place) int { return orders[a.batch].compare(a.row, orders[b.batch], b.row) })
		switch became, at := r.outcome(list, orders); became {
		case there:
			s.at(at.batch, at.row, false)
		case asBefore:
			open, brings[s] = append(open, s), at
		}
	}
	open = slices.DeleteFunc(open, func(s *slot) bool {
		came := brings[s]
		another := r.differ(came, place{s.batch, s.row()})
		if another {
			s.at(came.batch, came.row, false)
		}
		return another
	})
	if len(open) == 0 || r.options.Moves.Exists == nil {
		return nil
	}
	list := make([]place, len(open))
	for i, s := range open {
		list[i] = brings[s]
	}
	asked, err := r.keysOf(list)
	if err != nil {
		return err
	}
	defer asked.Release()
	exists, err := r.options.Moves.Exists(ctx, asked)
	if err != nil {
		return err
	}
	for i, s := range open {
		if exists[i] {
			s.at(list[i].batch, list[i].row, false)
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
		if (a.IsNull(came.row) || b.IsNull(left.row)) && arrow.IsBaseBinary(b.DataType().ID()) {
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

// outcome follows the rows of one key, in their order, commit by commit. at is the
// row that it has when it is there.
func (r *Ranker) outcome(list []place, orders []order) (state became, at place) {
	for len(list) > 0 {
		n := 1
		for n < len(list) && orders[list[0].batch].sameCommit(list[0].row, orders[list[n].batch], list[n].row) {
			n++
		}
		brought, taken, bringing := 0, 0, false
		for _, p := range list[:n] {
			o := orders[p.batch]
			if bringing = o.brings(p.row); !bringing {
				taken++
				continue
			}
			at = p
			switch op := o.operation.Value(p.row); {
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
	return state, at
}

// keysOf are the key columns of rows.
func (r *Ranker) keysOf(list []place) (arrow.RecordBatch, error) {
	var fields []arrow.Field
	var columns []arrow.Array
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	for _, at := range r.keys {
		pieces := make([]arrow.Array, len(list))
		for i, p := range list {
			pieces[i] = array.NewSlice(r.batches[p.batch].Column(at), int64(p.row), int64(p.row)+1)
		}
		whole, err := array.Concatenate(pieces, r.options.Allocator)
		for _, p := range pieces {
			p.Release()
		}
		if err != nil {
			return nil, fmt.Errorf("taking %d keys: %w", len(list), err)
		}
		fields, columns = append(fields, r.schema.Field(at)), append(columns, whole)
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, int64(len(list))), nil
}
