package deltatable

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
)

// checkNotNull says which column or field that is NOT NULL has a NULL in arr,
// whose type is f's; at is the name of what is around it. A field of a struct
// that is NULL itself is none of them, nor is one in an array that is.
func checkNotNull(arr arrow.Array, f deltalog.Field, at string, mem memory.Allocator) error {
	name := at + f.Name
	if !f.Nullable && arr.NullN() > 0 {
		return fmt.Errorf("column %q is NOT NULL, and a row to write has NULL in it", name)
	}
	return checkInside(arr, f.Type, name, mem)
}

func checkInside(arr arrow.Array, t deltalog.Type, name string, mem memory.Allocator) error {
	if !hasNotNull(t) {
		return nil
	}
	switch t := t.(type) {
	case *deltalog.Struct:
		parent := arr.(*array.Struct)
		for i, f := range t.Fields {
			child := fieldOf(parent, i, mem)
			if !f.Nullable && child.NullN() > parent.NullN() {
				child.Release()
				return fmt.Errorf("column %q is NOT NULL, and a row to write has NULL in it", name+"."+f.Name)
			}
			err := checkInside(child, f.Type, name+"."+f.Name, mem)
			child.Release()
			if err != nil {
				return err
			}
		}
	case *deltalog.Array:
		return checkItems(arr.(*array.List), arr.(*array.List).ListValues(), t.Element, t.ContainsNull, name+".element", mem)
	case *deltalog.Map:
		a := arr.(*array.Map)
		if err := checkItems(a, a.Keys(), t.Key, false, name+".key", mem); err != nil {
			return err
		}
		return checkItems(a, a.Items(), t.Value, t.ValueContainsNull, name+".value", mem)
	}
	return nil
}

// checkItems looks at the items of those lists that are not NULL.
func checkItems(lists array.ListLike, items arrow.Array, t deltalog.Type, nullable bool, name string, mem memory.Allocator) error {
	for i := range lists.Len() {
		if lists.IsNull(i) {
			continue
		}
		from, to := lists.ValueOffsets(i)
		if from == to {
			continue
		}
		part := array.NewSlice(items, from, to)
		err := checkInside(part, t, name, mem)
		if err == nil && !nullable && part.NullN() > 0 {
			err = fmt.Errorf("column %q is NOT NULL, and a row to write has NULL in it", name)
		}
		part.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// hasNotNull says whether anything inside the type must not be NULL. The keys of
// maps never are, and Arrow has none.
func hasNotNull(t deltalog.Type) bool {
	switch t := t.(type) {
	case *deltalog.Struct:
		for _, f := range t.Fields {
			if !f.Nullable || hasNotNull(f.Type) {
				return true
			}
		}
	case *deltalog.Array:
		return !t.ContainsNull || hasNotNull(t.Element)
	case *deltalog.Map:
		return !t.ValueContainsNull || hasNotNull(t.Key) || hasNotNull(t.Value)
	}
	return false
}
