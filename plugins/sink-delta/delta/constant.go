package delta

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/core/plugin"
)

// constants are columns with one value in all rows. Their arrays are made once
// for the longest batch and sliced for shorter ones.
type constants struct {
	columns []plugin.Constant
	arrays  []arrow.Array
	alloc   memory.Allocator
}

func newConstants(columns []plugin.Constant, alloc memory.Allocator) (*constants, error) {
	c := &constants{columns: columns, arrays: make([]arrow.Array, len(columns)), alloc: alloc}
	for i := range columns {
		a, err := c.repeat(columns[i], 0)
		if err != nil {
			return nil, err
		}
		c.arrays[i] = a
	}
	return c, nil
}

func (c *constants) repeat(column plugin.Constant, n int) (arrow.Array, error) {
	b := array.NewBuilder(c.alloc, column.Type)
	defer b.Release()
	b.Reserve(n)
	if column.Value == nil {
		b.AppendNulls(n)
		return b.NewArray(), nil
	}
	for range n {
		switch b := b.(type) {
		case *array.Int32Builder:
			b.UnsafeAppend(int32(column.Value.Int))
		case *array.Int64Builder:
			b.UnsafeAppend(column.Value.Int)
		case *array.StringBuilder:
			b.Append(column.Value.Text)
		case *array.BooleanBuilder:
			b.UnsafeAppend(column.Value.Bool)
		case *array.TimestampBuilder:
			b.UnsafeAppend(arrow.Timestamp(column.Value.Int))
		default:
			return nil, fmt.Errorf("a constant column %q cannot have type %s", column.Name, column.Type)
		}
	}
	return b.NewArray(), nil
}

// extend returns the batch with the constants behind its columns.
func (c *constants) extend(batch arrow.RecordBatch, schema *arrow.Schema) (arrow.RecordBatch, error) {
	n := int(batch.NumRows())
	columns := append([]arrow.Array(nil), batch.Columns()...)
	fields := append([]arrow.Field(nil), batch.Schema().Fields()...)
	for i, column := range c.columns {
		if c.arrays[i].Len() < n {
			longer, err := c.repeat(column, n)
			if err != nil {
				return nil, err
			}
			c.arrays[i].Release()
			c.arrays[i] = longer
		}
		slice := array.NewSlice(c.arrays[i], 0, int64(n))
		defer slice.Release()
		columns = append(columns, slice)
		fields = append(fields, arrow.Field{Name: column.Name, Type: column.Type, Nullable: true})
	}
	if len(fields) != schema.NumFields() {
		return nil, fmt.Errorf("rows came with %d columns; the write was begun with %d", len(fields), schema.NumFields())
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, batch.NumRows()), nil
}

func (c *constants) release() {
	for _, a := range c.arrays {
		a.Release()
	}
}
