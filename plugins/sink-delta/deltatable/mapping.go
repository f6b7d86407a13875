package deltatable

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
)

// physicalStruct returns s with the names that data files have, at every depth.
// Metadata is kept, so field ids can still be found.
func physicalStruct(s *deltalog.Struct, mode deltalog.MappingMode) *deltalog.Struct {
	if mode == deltalog.MappingNone {
		return s
	}
	return physicalType(s).(*deltalog.Struct)
}

func physicalType(t deltalog.Type) deltalog.Type {
	switch t := t.(type) {
	case *deltalog.Struct:
		out := &deltalog.Struct{Fields: make([]deltalog.Field, len(t.Fields))}
		for i, f := range t.Fields {
			out.Fields[i] = deltalog.Field{Name: f.PhysicalName(), Type: physicalType(f.Type), Nullable: f.Nullable, Metadata: f.Metadata}
		}
		return out
	case *deltalog.Array:
		return &deltalog.Array{Element: physicalType(t.Element), ContainsNull: t.ContainsNull}
	case *deltalog.Map:
		return &deltalog.Map{Key: physicalType(t.Key), Value: physicalType(t.Value), ValueContainsNull: t.ValueContainsNull}
	}
	return t
}

// parquetFieldID is the key under which arrow-go shows a Parquet field id.
const parquetFieldID = "PARQUET:field_id"

// fieldFinder finds the fields of a data file by the rule of the table's column
// mapping (Delta protocol: Column Mapping): by display name, by physical name,
// or by field id.
type fieldFinder struct{ mode deltalog.MappingMode }

// find returns the position of f among the fields of a file, -1 when the file
// does not have it.
func (m fieldFinder) find(fields []arrow.Field, f deltalog.Field) int {
	name := f.Name
	switch m.mode {
	case deltalog.MappingID:
		id, ok := f.ColumnID()
		if !ok {
			return -1
		}
		for i, g := range fields {
			if text, ok := g.Metadata.GetValue(parquetFieldID); ok && text == strconv.Itoa(int(id)) {
				return i
			}
		}
		return -1
	case deltalog.MappingName:
		name = f.PhysicalName()
	}
	for i, g := range fields {
		if g.Name == name {
			return i
		}
	}
	// Spark matches case-insensitively when the exact name is not there.
	for i, g := range fields {
		if strings.EqualFold(g.Name, name) {
			return i
		}
	}
	return -1
}

// converter brings arrays as they stand in a data file into the table's types:
// display names, widened types, fields that the file does not have.
type converter struct {
	finder fieldFinder
	mem    memory.Allocator
}

// convert returns arr as values of Delta type t, whose Arrow type is to. The
// result is the caller's.
func (c converter) convert(arr arrow.Array, t deltalog.Type, to arrow.DataType) (arrow.Array, error) {
	switch t := t.(type) {
	case *deltalog.Struct:
		a, ok := arr.(*array.Struct)
		if !ok {
			return nil, fmt.Errorf("the file has %s where the table has %s", arr.DataType(), t)
		}
		return c.structure(a, t, to.(*arrow.StructType))
	case *deltalog.Array:
		a, ok := arr.(*array.List)
		if !ok {
			return nil, fmt.Errorf("the file has %s where the table has %s", arr.DataType(), t)
		}
		values, err := c.convert(a.ListValues(), t.Element, to.(*arrow.ListType).Elem())
		if err != nil {
			return nil, fmt.Errorf("element: %w", err)
		}
		defer values.Release()
		return withChildren(a, to, values), nil
	case *deltalog.Map:
		a, ok := arr.(*array.Map)
		if !ok {
			return nil, fmt.Errorf("the file has %s where the table has %s", arr.DataType(), t)
		}
		return c.mapping(a, t, to.(*arrow.MapType))
	}
	if arr.DataType().ID() == arrow.NULL {
		return nullColumn(to, arr.Len(), c.mem), nil
	}
	kind := lossless(arr.DataType(), to)
	if kind == castNone {
		return nil, fmt.Errorf("the file has %s where the table has %s", arr.DataType(), t)
	}
	return cast(arr, to, kind, c.mem)
}

func (c converter) structure(a *array.Struct, t *deltalog.Struct, to *arrow.StructType) (arrow.Array, error) {
	have := a.DataType().(*arrow.StructType).Fields()
	children := make([]arrow.Array, 0, len(t.Fields))
	defer func() {
		for _, x := range children {
			x.Release()
		}
	}()
	for i, f := range t.Fields {
		j := c.finder.find(have, f)
		if j < 0 {
			children = append(children, nullColumn(to.Field(i).Type, a.Len(), c.mem))
			continue
		}
		x, err := c.convert(a.Field(j), f.Type, to.Field(i).Type)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
		children = append(children, x)
	}
	return structOf(a, to, children, c.mem), nil
}

// structOf is a struct of type to with the NULLs of a over other children.
func structOf(a *array.Struct, to *arrow.StructType, children []arrow.Array, mem memory.Allocator) arrow.Array {
	bitmap, release := alignedBitmap(a, mem)
	defer release()
	data := array.NewData(to, a.Len(), []*memory.Buffer{bitmap}, dataOf(children), a.NullN(), 0)
	defer data.Release()
	return array.MakeFromData(data)
}

func (c converter) mapping(a *array.Map, t *deltalog.Map, to *arrow.MapType) (arrow.Array, error) {
	keys, err := c.convert(a.Keys(), t.Key, to.KeyType())
	if err != nil {
		return nil, fmt.Errorf("key: %w", err)
	}
	defer keys.Release()
	items, err := c.convert(a.Items(), t.Value, to.ItemType())
	if err != nil {
		return nil, fmt.Errorf("value: %w", err)
	}
	defer items.Release()
	return mapOf(a, to, keys, items), nil
}

// mapOf is a map of type to with the sizes and NULLs of a over other pairs.
func mapOf(a *array.Map, to *arrow.MapType, keys, items arrow.Array) arrow.Array {
	entries := array.NewData(to.Elem(), keys.Len(), []*memory.Buffer{nil}, dataOf([]arrow.Array{keys, items}), 0, 0)
	defer entries.Release()
	pairs := array.MakeFromData(entries)
	defer pairs.Release()
	return withChildren(a, to, pairs)
}

// withChildren rebuilds a list or map of type to over other values.
func withChildren(a arrow.Array, to arrow.DataType, values arrow.Array) arrow.Array {
	d := a.Data()
	data := array.NewData(to, d.Len(), d.Buffers(), []arrow.ArrayData{values.Data()}, d.NullN(), d.Offset())
	defer data.Release()
	return array.MakeFromData(data)
}

func dataOf(arrays []arrow.Array) []arrow.ArrayData {
	out := make([]arrow.ArrayData, len(arrays))
	for i, a := range arrays {
		out[i] = a.Data()
	}
	return out
}
