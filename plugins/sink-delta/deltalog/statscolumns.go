package deltalog

import (
	"math/big"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// statsColumns are the structs that hold statistics and partition values in
// their own types, for tables that ask for them with
// delta.checkpoint.writeStatsAsStruct (Delta protocol: Checkpoint Schema).
type statsColumns struct {
	stats     *arrow.StructType
	partition *arrow.StructType // nil when the table is not partitioned
	columns   []Field
}

func newStatsColumns(s *Snapshot) (*statsColumns, error) {
	c := &statsColumns{}
	data := &Struct{}
	var partition []any
	for _, f := range s.schema.Fields {
		isPartition := false
		for _, name := range s.metadata.PartitionColumns {
			isPartition = isPartition || name == f.Name
		}
		if !isPartition {
			data.Fields = append(data.Fields, f)
			continue
		}
		t, err := arrowType(f.Type, ArrowOptions{}, f.Name)
		if err != nil {
			return nil, err
		}
		partition = append(partition, f.PhysicalName(), t)
		c.columns = append(c.columns, f)
	}
	if partition != nil {
		c.partition = optionalStruct(partition...)
	}
	fields := []any{"numRecords", longType}
	bounds, err := boundsStruct(data, "")
	if err != nil {
		return nil, err
	}
	if bounds != nil {
		fields = append(fields, "minValues", bounds, "maxValues", bounds)
	}
	if nulls := nullsStruct(data); nulls != nil {
		fields = append(fields, "nullCount", nulls)
	}
	fields = append(fields, "tightBounds", boolType)
	c.stats = optionalStruct(fields...)
	return c, nil
}

// boundsStruct has the leaves that have bounds; nil when there are none.
func boundsStruct(s *Struct, at string) (arrow.DataType, error) {
	var fields []any
	for _, f := range s.Fields {
		switch t := f.Type.(type) {
		case *Struct:
			sub, err := boundsStruct(t, join(at, f.Name))
			if err != nil {
				return nil, err
			}
			if sub != nil {
				fields = append(fields, f.PhysicalName(), sub)
			}
		case *Array, *Map:
		case Primitive:
			if t == Boolean || t == Binary || t == Void || t == Variant {
				continue
			}
			at, err := arrowType(t, ArrowOptions{}, join(at, f.Name))
			if err != nil {
				return nil, err
			}
			fields = append(fields, f.PhysicalName(), at)
		default:
			at, err := arrowType(t, ArrowOptions{}, join(at, f.Name))
			if err != nil {
				return nil, err
			}
			fields = append(fields, f.PhysicalName(), at)
		}
	}
	if fields == nil {
		return nil, nil
	}
	return optionalStruct(fields...), nil
}

func nullsStruct(s *Struct) arrow.DataType {
	var fields []any
	for _, f := range s.Fields {
		if t, ok := f.Type.(*Struct); ok {
			if sub := nullsStruct(t); sub != nil {
				fields = append(fields, f.PhysicalName(), sub)
			}
			continue
		}
		fields = append(fields, f.PhysicalName(), longType)
	}
	if fields == nil {
		return nil
	}
	return optionalStruct(fields...)
}

// put fills both structs of a file's row. Statistics that cannot be read are
// left out, as those of a file that has none.
func (c *statsColumns) put(b *structBuilder, r *fileRecord, schema *Struct) {
	if c.partition != nil {
		b.sub("partitionValues_parsed", func(p *structBuilder) {
			for _, f := range c.columns {
				v, err := ParsePartitionValue(r.partition[f.PhysicalName()], f.Type)
				if err == nil {
					p.value(f.PhysicalName(), v)
				}
			}
		})
	}
	if r.stats == "" {
		return
	}
	st, err := ParseStats(r.stats, schema)
	if err != nil {
		return
	}
	b.sub("stats_parsed", func(p *structBuilder) {
		if st.NumRecords >= 0 {
			p.long("numRecords", st.NumRecords)
		}
		if !st.TightBounds { // a missing one means true
			p.bool("tightBounds", false)
		}
		for _, part := range []struct {
			name  string
			value func(c *ColumnStats) Value
		}{
			{"minValues", func(c *ColumnStats) Value { return c.Min }},
			{"maxValues", func(c *ColumnStats) Value { return c.Max }},
			{"nullCount", func(c *ColumnStats) Value {
				if c.NullCount < 0 {
					return Value{}
				}
				return IntValue(c.NullCount)
			}},
		} {
			if _, ok := p.fields[part.name]; ok {
				p.sub(part.name, func(q *structBuilder) { q.leaves(st.Columns, 0, part.value) })
			}
		}
	})
}

// leaves sets the fields of a nested struct from columns whose paths agree up
// to depth. Columns of one struct stand together, since they come from a schema.
func (s *structBuilder) leaves(columns []ColumnStats, depth int, value func(c *ColumnStats) Value) {
	for i := 0; i < len(columns); {
		name := columns[i].Path[depth]
		j := i + 1
		for j < len(columns) && len(columns[j].Path) > depth && columns[j].Path[depth] == name {
			j++
		}
		if len(columns[i].Path) == depth+1 {
			s.value(name, value(&columns[i]))
		} else if sub, ok := s.subs[name]; ok {
			s.sub(name, func(*structBuilder) { sub.leaves(columns[i:j], depth+1, value) })
		}
		i = j
	}
}

// value sets a field from a value of the table; one that the field's type
// cannot hold stays null, which means not known.
func (s *structBuilder) value(name string, v Value) {
	i, ok := s.fields[name]
	if !ok || v.IsNull() || s.set[i] {
		return
	}
	switch b := s.build.FieldBuilder(i).(type) {
	case *array.Int64Builder:
		b.Append(v.num)
	case *array.Int32Builder:
		b.Append(int32(v.num))
	case *array.Int16Builder:
		b.Append(int16(v.num))
	case *array.Int8Builder:
		b.Append(int8(v.num))
	case *array.Float32Builder:
		b.Append(float32(v.float))
	case *array.Float64Builder:
		b.Append(v.float)
	case *array.BooleanBuilder:
		b.Append(v.num != 0)
	case *array.StringBuilder:
		b.Append(v.text)
	case *array.BinaryBuilder:
		b.Append([]byte(v.text))
	case *array.Date32Builder:
		b.Append(arrow.Date32(v.num))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(v.num))
	case *array.Decimal128Builder:
		n, ok := rescale(v, b.Type().(*arrow.Decimal128Type))
		if !ok {
			return
		}
		b.Append(decimal128.FromBigInt(n))
	default:
		return
	}
	s.set[i] = true
}

// rescale gives a decimal the scale of a column if it fits there exactly.
func rescale(v Value, t *arrow.Decimal128Type) (*big.Int, bool) {
	n, scale := v.Decimal()
	if scale < t.Scale {
		n.Mul(n, pow10(t.Scale-scale))
	} else if scale > t.Scale {
		var rest big.Int
		n.QuoRem(n, pow10(scale-t.Scale), &rest)
		if rest.Sign() != 0 {
			return nil, false
		}
	}
	return n, n.CmpAbs(pow10(t.Precision)) < 0
}
