package deltalog

import (
	"maps"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// structBuilder fills a struct column field by field; what is not set between
// begin and end is null.
type structBuilder struct {
	build  *array.StructBuilder
	fields map[string]int
	subs   map[string]*structBuilder
	set    []bool
}

func newStructBuilder(b *array.StructBuilder) *structBuilder {
	s := &structBuilder{build: b, fields: map[string]int{}, subs: map[string]*structBuilder{}}
	for i, f := range b.Type().(*arrow.StructType).Fields() {
		s.fields[f.Name] = i
		if sub, ok := b.FieldBuilder(i).(*array.StructBuilder); ok {
			s.subs[f.Name] = newStructBuilder(sub)
		}
	}
	s.set = make([]bool, len(s.fields))
	return s
}

func (s *structBuilder) begin() {
	s.build.Append(true)
	clear(s.set)
}

func (s *structBuilder) end() {
	for i, set := range s.set {
		if !set {
			s.build.FieldBuilder(i).AppendNull()
		}
	}
}

// field marks a field as set and returns its builder, which has type T by the
// schema that the struct was made with.
func field[T array.Builder](s *structBuilder, name string) T {
	i := s.fields[name]
	s.set[i] = true
	return s.build.FieldBuilder(i).(T)
}

func (s *structBuilder) text(name, v string) { field[*array.StringBuilder](s, name).Append(v) }

// optText leaves an empty text out.
func (s *structBuilder) optText(name, v string) {
	if v != "" {
		s.text(name, v)
	}
}

func (s *structBuilder) long(name string, v int64) { field[*array.Int64Builder](s, name).Append(v) }

func (s *structBuilder) optLong(name string, v *int64) {
	if v != nil {
		s.long(name, *v)
	}
}

func (s *structBuilder) integer(name string, v int32) { field[*array.Int32Builder](s, name).Append(v) }

func (s *structBuilder) bool(name string, v bool) { field[*array.BooleanBuilder](s, name).Append(v) }

func (s *structBuilder) texts(name string, list []string) {
	b := field[*array.ListBuilder](s, name)
	b.Append(true)
	values := b.ValueBuilder().(*array.StringBuilder)
	for _, v := range list {
		values.Append(v)
	}
}

func (s *structBuilder) textMap(name string, m map[string]string) {
	b := field[*array.MapBuilder](s, name)
	b.Append(true)
	keys, values := b.KeyBuilder().(*array.StringBuilder), b.ItemBuilder().(*array.StringBuilder)
	for _, k := range slices.Sorted(maps.Keys(m)) {
		keys.Append(k)
		values.Append(m[k])
	}
}

func (s *structBuilder) nullableMap(name string, m map[string]*string) {
	b := field[*array.MapBuilder](s, name)
	b.Append(true)
	keys, values := b.KeyBuilder().(*array.StringBuilder), b.ItemBuilder().(*array.StringBuilder)
	for _, k := range slices.Sorted(maps.Keys(m)) {
		keys.Append(k)
		if v := m[k]; v != nil {
			values.Append(*v)
		} else {
			values.AppendNull()
		}
	}
}

// sub fills a struct inside the struct.
func (s *structBuilder) sub(name string, fill func(b *structBuilder)) {
	s.set[s.fields[name]] = true
	b := s.subs[name]
	b.begin()
	fill(b)
	b.end()
}
