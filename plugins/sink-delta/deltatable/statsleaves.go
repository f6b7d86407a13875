package deltatable

import (
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
)

// statsLeaf is a leaf column that gets statistics. Arrays and maps are leaves:
// their own NULLs are counted.
type statsLeaf struct {
	path []string // physical names
	typ  deltalog.Type
	at   []int // column of the files, then field inside field
}

// statsLeaves are the leaves of data, the columns of the files under their
// display names, that get statistics: those that the table property
// delta.dataSkippingStatsColumns names, else as many of the first as
// delta.dataSkippingNumIndexedCols says (Delta Lake: Data skipping).
func statsLeaves(data *deltalog.Struct, properties deltalog.Properties) ([]statsLeaf, error) {
	wanted := func(display []string, n int) bool {
		indexed := properties.IndexedColumns()
		return indexed < 0 || n < indexed
	}
	if text, ok := properties[deltalog.PropDataSkippingStatsColumns]; ok {
		named, err := columnPaths(text)
		if err != nil {
			return nil, fmt.Errorf("table property %s: %w", deltalog.PropDataSkippingStatsColumns, err)
		}
		wanted = func(display []string, _ int) bool {
			for _, path := range named {
				if len(path) <= len(display) && strings.EqualFold(strings.Join(path, "\x00"), strings.Join(display[:len(path)], "\x00")) {
					return true
				}
			}
			return false
		}
	}
	var leaves []statsLeaf
	n := 0 // leaves so far, chosen or not
	var walk func(s *deltalog.Struct, display, physical []string, at []int)
	walk = func(s *deltalog.Struct, display, physical []string, at []int) {
		for i, f := range s.Fields {
			display := append(display[:len(display):len(display)], f.Name)
			physical := append(physical[:len(physical):len(physical)], f.PhysicalName())
			at := append(at[:len(at):len(at)], i)
			if inner, ok := f.Type.(*deltalog.Struct); ok {
				walk(inner, display, physical, at)
				continue
			}
			if wanted(display, n) {
				leaves = append(leaves, statsLeaf{path: physical, typ: f.Type, at: at})
			}
			n++
		}
	}
	walk(data, nil, nil, nil)
	return leaves, nil
}

// columnPaths reads a list of columns, each a name or names with dots between;
// a name with other signs than letters, digits and _ stands in backticks.
func columnPaths(text string) ([][]string, error) {
	var paths [][]string
	var path []string
	rest := text
	for {
		rest = strings.TrimLeft(rest, " ")
		var name string
		if quoted, ok := strings.CutPrefix(rest, "`"); ok {
			var b strings.Builder
			for {
				part, after, found := strings.Cut(quoted, "`")
				if !found {
					return nil, fmt.Errorf("%q ends inside backticks", text)
				}
				b.WriteString(part)
				if quoted, ok = strings.CutPrefix(after, "`"); !ok {
					rest = after
					break
				}
				b.WriteByte('`') // two stand for one
			}
			name = b.String()
		} else {
			end := strings.IndexAny(rest, ".,`")
			if end < 0 {
				end = len(rest)
			}
			name, rest = strings.TrimRight(rest[:end], " "), rest[end:]
		}
		if name == "" {
			return nil, fmt.Errorf("%q has an empty name", text)
		}
		path = append(path, name)
		rest = strings.TrimLeft(rest, " ")
		if rest == "" {
			return append(paths, path), nil
		}
		switch rest[0] {
		case '.':
		case ',':
			paths, path = append(paths, path), nil
		default:
			return nil, fmt.Errorf("%q has something behind the name %q", text, name)
		}
		rest = rest[1:]
	}
}

// leafOf is the array of a leaf in a batch, NULL wherever a struct around it is.
// The result is the caller's.
func leafOf(rec arrow.RecordBatch, at []int, mem memory.Allocator) arrow.Array {
	arr := rec.Column(at[0])
	arr.Retain()
	for _, i := range at[1:] {
		child := fieldOf(arr.(*array.Struct), i, mem)
		arr.Release()
		arr = child
	}
	return arr
}

// fieldOf is a field of a struct, NULL wherever the struct is: what a file, or
// another writer, holds there means nothing. The result is the caller's.
func fieldOf(parent *array.Struct, i int, mem memory.Allocator) arrow.Array {
	child := parent.Field(i)
	if parent.NullN() == 0 || child.DataType().ID() == arrow.NULL {
		child.Retain()
		return child
	}
	d := child.Data()
	bits := memory.NewResizableBuffer(mem)
	defer bits.Release()
	bits.Resize(int(bitutil.BytesForBits(int64(d.Offset() + d.Len()))))
	clear(bits.Bytes())
	nulls := 0
	for j := range child.Len() {
		if parent.IsValid(j) && child.IsValid(j) {
			bitutil.SetBit(bits.Bytes(), d.Offset()+j)
		} else {
			nulls++
		}
	}
	buffers := append([]*memory.Buffer{bits}, d.Buffers()[1:]...)
	data := array.NewData(child.DataType(), d.Len(), buffers, d.Children(), nulls, d.Offset())
	defer data.Release()
	return array.MakeFromData(data)
}
