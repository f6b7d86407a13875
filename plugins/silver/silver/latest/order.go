package latest

import (
	"cmp"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// Order names the columns that order the changes of one key, ascending:
// position, command, sequence, operation. NULL is lowest, so a snapshot row
// loses against a change of the same position. Command may be "": bronze
// written without it is ordered by the other three.
type Order struct{ Position, Command, Sequence, Operation string }

// order is the order columns of one batch.
type order struct {
	position  *array.String
	command   *array.Int32
	sequence  *array.String
	operation *array.Int32
}

func newOrder(batch arrow.RecordBatch, names Order) (order, error) {
	var o order
	var ok bool
	if o.position, ok = column[*array.String](batch, names.Position); !ok {
		return o, fmt.Errorf("no text column %q to order by", names.Position)
	}
	if o.sequence, ok = column[*array.String](batch, names.Sequence); !ok {
		return o, fmt.Errorf("no text column %q to order by", names.Sequence)
	}
	if o.operation, ok = column[*array.Int32](batch, names.Operation); !ok {
		return o, fmt.Errorf("no int32 column %q to order by", names.Operation)
	}
	if names.Command != "" {
		if o.command, ok = column[*array.Int32](batch, names.Command); !ok {
			return o, fmt.Errorf("no int32 column %q to order by", names.Command)
		}
	}
	return o, nil
}

func column[A arrow.Array](batch arrow.RecordBatch, name string) (A, bool) {
	var none A
	at := batch.Schema().FieldIndices(name)
	if len(at) != 1 {
		return none, false
	}
	a, ok := batch.Column(at[0]).(A)
	return a, ok
}

// compare orders row i of o against row j of p.
func (o order) compare(i int, p order, j int) int {
	if c := compareText(o.position, i, p.position, j); c != 0 {
		return c
	}
	if o.command != nil && p.command != nil {
		if c := compareInt(o.command, i, p.command, j); c != 0 {
			return c
		}
	}
	if c := compareText(o.sequence, i, p.sequence, j); c != 0 {
		return c
	}
	return compareInt(o.operation, i, p.operation, j)
}

// sameCommit reports whether row i of o and row j of p have one position.
func (o order) sameCommit(i int, p order, j int) bool {
	return compareText(o.position, i, p.position, j) == 0
}

// brings reports whether after row i its key is there: an insert, a row after an
// update, or a row of a snapshot.
func (o order) brings(i int) bool {
	op := o.operation.Value(i)
	return op != opDelete && op != opUpdateBefore
}

func compareText(a *array.String, i int, b *array.String, j int) int {
	if n, m := a.IsNull(i), b.IsNull(j); n || m {
		return nullsFirst(n, m)
	}
	return cmp.Compare(a.Value(i), b.Value(j))
}

func compareInt(a *array.Int32, i int, b *array.Int32, j int) int {
	if n, m := a.IsNull(i), b.IsNull(j); n || m {
		return nullsFirst(n, m)
	}
	return cmp.Compare(a.Value(i), b.Value(j))
}

func nullsFirst(a, b bool) int {
	switch {
	case a && b:
		return 0
	case a:
		return -1
	}
	return 1
}
