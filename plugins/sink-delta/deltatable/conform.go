package deltatable

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// conformer brings batches of a writer's schema into the form of the table:
// its columns in its order, matched by name without regard to case, values
// without a type of their own in Delta converted, missing columns NULL.
type conformer struct {
	mem   memory.Allocator
	from  *arrow.Schema
	to    *arrow.Schema
	cols  []int      // column of from for each of to, -1: missing
	casts []castKind // how to convert it
}

// newConformer fails when a column of from is not in to (except those in
// ignore), or cannot be converted without a loss, naming all such columns.
func newConformer(from, to *arrow.Schema, ignore []string, mem memory.Allocator) (*conformer, error) {
	c := &conformer{mem: mem, from: from, to: to, cols: make([]int, to.NumFields()), casts: make([]castKind, to.NumFields())}
	for i := range c.cols {
		c.cols[i] = -1
	}
	var unknown, unfit []string
	for j, f := range from.Fields() {
		if slices.ContainsFunc(ignore, func(s string) bool { return strings.EqualFold(s, f.Name) }) {
			continue
		}
		i := fieldIndex(to, f.Name)
		if i < 0 {
			unknown = append(unknown, fmt.Sprintf("%q", f.Name))
			continue
		}
		if c.cols[i] >= 0 {
			return nil, fmt.Errorf("the rows to write have two columns named %q (Delta compares names without regard to case)", to.Field(i).Name)
		}
		c.cols[i] = j
		// castNanos loses digits, which is for reading only.
		if c.casts[i] = lossless(f.Type, to.Field(i).Type); c.casts[i] == castNone || c.casts[i] == castNanos {
			unfit = append(unfit, fmt.Sprintf("%q is %s in the table, %s in the rows", f.Name, to.Field(i).Type, f.Type))
		}
	}
	if len(unknown) > 0 {
		return nil, &SchemaError{Detail: "the table has no column " + strings.Join(unknown, ", ")}
	}
	if len(unfit) > 0 {
		return nil, &SchemaError{Detail: "column " + strings.Join(unfit, "; ")}
	}
	return c, nil
}

// fieldIndex finds a column as Delta does: by its exact name, else ignoring
// case; -1 when there is none.
func fieldIndex(s *arrow.Schema, name string) int {
	if i := s.FieldIndices(name); len(i) > 0 {
		return i[0]
	}
	return slices.IndexFunc(s.Fields(), func(f arrow.Field) bool { return strings.EqualFold(f.Name, name) })
}

// batch converts rec; the result is the caller's, rec stays the caller's.
func (c *conformer) batch(rec arrow.RecordBatch) (arrow.RecordBatch, error) {
	if int(rec.NumCols()) != c.from.NumFields() {
		return nil, fmt.Errorf("a batch has %d columns, the write was begun with %d", rec.NumCols(), c.from.NumFields())
	}
	cols := make([]arrow.Array, 0, len(c.cols))
	defer func() {
		for _, a := range cols {
			a.Release()
		}
	}()
	for i, j := range c.cols {
		if j < 0 {
			cols = append(cols, nullColumn(c.to.Field(i).Type, int(rec.NumRows()), c.mem))
			continue
		}
		if got, want := rec.Column(j).DataType(), c.from.Field(j).Type; !arrow.TypeEqual(got, want) {
			return nil, fmt.Errorf("column %q is %s in a batch, the write was begun with %s", c.from.Field(j).Name, got, want)
		}
		a, err := cast(rec.Column(j), c.to.Field(i).Type, c.casts[i], c.mem)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", c.from.Field(j).Name, err)
		}
		cols = append(cols, a)
	}
	return array.NewRecordBatch(c.to, cols, rec.NumRows()), nil
}
