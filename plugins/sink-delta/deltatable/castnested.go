package deltatable

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// losslessNested says whether values of one nested type become values of
// another without a loss: the same fields in the same order, each of which
// becomes its counterpart without one. castNanos, which cuts, is none.
func losslessNested(from, to arrow.DataType) bool {
	switch to := to.(type) {
	case *arrow.StructType:
		from, ok := from.(*arrow.StructType)
		if !ok || from.NumFields() != to.NumFields() {
			return false
		}
		for i, g := range to.Fields() {
			if f := from.Field(i); f.Name != g.Name || !losslessField(f, g) {
				return false
			}
		}
		return true
	case *arrow.ListType:
		from, ok := from.(*arrow.ListType)
		return ok && losslessField(from.ElemField(), to.ElemField())
	case *arrow.MapType:
		from, ok := from.(*arrow.MapType)
		return ok && losslessField(from.KeyField(), to.KeyField()) && losslessField(from.ItemField(), to.ItemField())
	}
	return false
}

// losslessField is losslessNested of a field inside. Whether it is NULL where it
// must not be is looked at row by row, by checkNotNull.
func losslessField(from, to arrow.Field) bool {
	kind := lossless(from.Type, to.Type)
	return kind != castNone && kind != castNanos
}

// castNestedTo brings a struct, list or map into type to.
func castNestedTo(arr arrow.Array, to arrow.DataType, mem memory.Allocator) (arrow.Array, error) {
	child := func(a arrow.Array, t arrow.DataType) (arrow.Array, error) {
		return cast(a, t, lossless(a.DataType(), t), mem)
	}
	switch to := to.(type) {
	case *arrow.StructType:
		a := arr.(*array.Struct)
		var children arrays
		defer children.release()
		for i := range a.NumField() {
			c, err := child(a.Field(i), to.Field(i).Type)
			if err != nil {
				return nil, fmt.Errorf("field %q: %w", to.Field(i).Name, err)
			}
			children.keep(c)
		}
		return structOf(a, to, children.held, mem), nil
	case *arrow.ListType:
		values, err := child(arr.(*array.List).ListValues(), to.Elem())
		if err != nil {
			return nil, fmt.Errorf("element: %w", err)
		}
		defer values.Release()
		return withChildren(arr, to, values), nil
	case *arrow.MapType:
		a := arr.(*array.Map)
		keys, err := child(a.Keys(), to.KeyType())
		if err != nil {
			return nil, fmt.Errorf("key: %w", err)
		}
		defer keys.Release()
		items, err := child(a.Items(), to.ItemType())
		if err != nil {
			return nil, fmt.Errorf("value: %w", err)
		}
		defer items.Release()
		return mapOf(a, to, keys, items), nil
	}
	return nil, fmt.Errorf("%s is not nested", to)
}
