package deltalog

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

func isEOF(err error) bool { return errors.Is(err, io.EOF) }

// rows gives the fields of a struct column by name, whatever Arrow type the
// writer's Parquet file leads to. A field that is not there is null, as the
// protocol asks; one of a type that cannot be read sets err.
type rows struct {
	col    *array.Struct
	fields map[string]arrow.Array
	err    error
}

func newRows(col *array.Struct) *rows {
	r := &rows{col: col, fields: map[string]arrow.Array{}}
	for i, f := range col.DataType().(*arrow.StructType).Fields() {
		r.fields[f.Name] = col.Field(i)
	}
	return r
}

func (r *rows) valid(i int) bool { return r.col.IsValid(i) }

// each calls visit for the rows that are not null.
func (r *rows) each(visit func(i int)) {
	for i := range r.col.Len() {
		if r.col.IsValid(i) {
			visit(i)
		}
	}
}

func (r *rows) has(name string, i int) bool {
	a, ok := r.fields[name]
	return ok && a.IsValid(i)
}

func (r *rows) unreadable(name string, a arrow.Array) {
	if r.err == nil {
		r.err = fmt.Errorf("the field %s is a %s", name, a.DataType())
	}
}

func (r *rows) struct_(name string) *rows {
	a, ok := r.fields[name]
	if !ok {
		return nil
	}
	s, ok := a.(*array.Struct)
	if !ok {
		r.unreadable(name, a)
		return nil
	}
	return newRows(s)
}

// textOf reads a value of any kind of text array, as a view of its buffer.
func textOf(a arrow.Array, i int) (string, bool) {
	switch a := a.(type) {
	case *array.String:
		return a.Value(i), true
	case *array.LargeString:
		return a.Value(i), true
	case *array.StringView:
		return a.Value(i), true
	case *array.Binary: // a string column without its annotation
		return a.ValueString(i), true
	case *array.Dictionary:
		return textOf(a.Dictionary(), a.GetValueIndex(i))
	}
	return "", false
}

func (r *rows) text(name string, i int) string {
	if !r.has(name, i) {
		return ""
	}
	s, ok := textOf(r.fields[name], i)
	if !ok {
		r.unreadable(name, r.fields[name])
	}
	return strings.Clone(s)
}

func (r *rows) int(name string, i int) int64 {
	v, _ := r.integer(name, i)
	return v
}

func (r *rows) optInt(name string, i int) *int64 {
	if v, ok := r.integer(name, i); ok {
		return &v
	}
	return nil
}

func (r *rows) integer(name string, i int) (v int64, ok bool) {
	if !r.has(name, i) {
		return 0, false
	}
	switch a := r.fields[name].(type) {
	case *array.Int64:
		return a.Value(i), true
	case *array.Int32:
		return int64(a.Value(i)), true
	case *array.Int16:
		return int64(a.Value(i)), true
	case *array.Timestamp:
		return int64(a.Value(i)), true
	default:
		r.unreadable(name, a)
		return 0, false
	}
}

func (r *rows) bool(name string, i int) bool {
	if !r.has(name, i) {
		return false
	}
	a, ok := r.fields[name].(*array.Boolean)
	if !ok {
		r.unreadable(name, r.fields[name])
		return false
	}
	return a.Value(i)
}

// texts reads a list of text; nil when the list is null.
func (r *rows) texts(name string, i int) []string {
	if !r.has(name, i) {
		return nil
	}
	l, ok := r.fields[name].(array.ListLike)
	if !ok {
		r.unreadable(name, r.fields[name])
		return nil
	}
	out := []string{}
	from, to := l.ValueOffsets(i)
	for j := from; j < to; j++ {
		s, ok := textOf(l.ListValues(), int(j))
		if !ok {
			r.unreadable(name, l.ListValues())
			return nil
		}
		out = append(out, strings.Clone(s))
	}
	return out
}

func (r *rows) nullableMap(name string, i int) map[string]*string {
	if !r.has(name, i) {
		return noValues
	}
	m, ok := r.fields[name].(*array.Map)
	if !ok {
		r.unreadable(name, r.fields[name])
		return noValues
	}
	from, to := m.ValueOffsets(i)
	if from == to {
		return noValues
	}
	out := make(map[string]*string, to-from)
	for j := int(from); j < int(to); j++ {
		k, ok := textOf(m.Keys(), j)
		if !ok {
			r.unreadable(name, m.Keys())
			return out
		}
		k = strings.Clone(k)
		if m.Items().IsNull(j) {
			out[k] = nil
			continue
		}
		v, ok := textOf(m.Items(), j)
		if !ok {
			r.unreadable(name, m.Items())
			return out
		}
		v = strings.Clone(v)
		out[k] = &v
	}
	return out
}

// textMap reads a map of text; entries without a value are left out, and an
// empty map is nil.
func (r *rows) textMap(name string, i int) map[string]string {
	var out map[string]string
	for k, v := range r.nullableMap(name, i) {
		if v != nil {
			if out == nil {
				out = map[string]string{}
			}
			out[k] = *v
		}
	}
	return out
}

// sharedText is a text column as one Go string that all values are parts of:
// one allocation for a batch in place of one for each value.
type sharedText struct {
	r    *rows
	name string
	all  string
	base int
	col  *array.String
}

func (r *rows) shared(name string) sharedText {
	t := sharedText{r: r, name: name}
	if col, ok := r.fields[name].(*array.String); ok && col.Len() > 0 {
		t.col = col
		t.base = col.ValueOffset(0)
		t.all = strings.Clone(string(col.ValueBytes()))
	}
	return t
}

func (t sharedText) at(i int) string {
	if t.col == nil {
		return t.r.text(t.name, i)
	}
	if t.col.IsNull(i) {
		return ""
	}
	from := t.col.ValueOffset(i) - t.base
	return t.all[from : from+t.col.ValueLen(i)]
}
