package deltalog

import (
	"fmt"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
)

// ArrowOptions say how ToArrow names columns.
type ArrowOptions struct {
	// Physical takes physical names, as data files have them.
	Physical bool
	// FieldIDs puts column mapping ids where arrow-go's Parquet writer looks for
	// field ids.
	FieldIDs bool
}

// parquetFieldID is the key under which arrow-go keeps Parquet field ids.
const parquetFieldID = "PARQUET:field_id"

// ToArrow is the Arrow schema of a Delta schema. Comments go into the field
// metadata key "comment". Timestamps are in microseconds, with the zone UTC for
// timestamp and without one for timestamp_ntz. Void becomes Arrow's null type;
// variant has no Arrow type here and is an error.
func ToArrow(s *Struct, o ArrowOptions) (*arrow.Schema, error) {
	fields, err := arrowFields(s, o, "")
	if err != nil {
		return nil, err
	}
	return arrow.NewSchema(fields, nil), nil
}

func arrowFields(s *Struct, o ArrowOptions, at string) ([]arrow.Field, error) {
	fields := make([]arrow.Field, 0, len(s.Fields))
	for _, f := range s.Fields {
		t, err := arrowType(f.Type, o, join(at, f.Name))
		if err != nil {
			return nil, err
		}
		name := f.Name
		if o.Physical {
			name = f.PhysicalName()
		}
		var keys, values []string
		if c := f.Comment(); c != "" {
			keys, values = append(keys, metaComment), append(values, c)
		}
		if id, ok := f.ColumnID(); ok && o.FieldIDs {
			keys, values = append(keys, parquetFieldID), append(values, strconv.Itoa(int(id)))
		}
		out := arrow.Field{Name: name, Type: t, Nullable: f.Nullable}
		if keys != nil {
			out.Metadata = arrow.NewMetadata(keys, values)
		}
		fields = append(fields, out)
	}
	return fields, nil
}

func arrowType(t Type, o ArrowOptions, at string) (arrow.DataType, error) {
	switch t := t.(type) {
	case Primitive:
		switch t {
		case String:
			return arrow.BinaryTypes.String, nil
		case Long:
			return arrow.PrimitiveTypes.Int64, nil
		case Integer:
			return arrow.PrimitiveTypes.Int32, nil
		case Short:
			return arrow.PrimitiveTypes.Int16, nil
		case Byte:
			return arrow.PrimitiveTypes.Int8, nil
		case Float:
			return arrow.PrimitiveTypes.Float32, nil
		case Double:
			return arrow.PrimitiveTypes.Float64, nil
		case Boolean:
			return arrow.FixedWidthTypes.Boolean, nil
		case Binary:
			return arrow.BinaryTypes.Binary, nil
		case Date:
			return arrow.FixedWidthTypes.Date32, nil
		case Timestamp:
			return &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}, nil
		case TimestampNTZ:
			return &arrow.TimestampType{Unit: arrow.Microsecond}, nil
		case Void:
			return arrow.Null, nil
		}
	case Decimal:
		return &arrow.Decimal128Type{Precision: int32(t.Precision), Scale: int32(t.Scale)}, nil
	case *Struct:
		fields, err := arrowFields(t, o, at)
		if err != nil {
			return nil, err
		}
		return arrow.StructOf(fields...), nil
	case *Array:
		e, err := arrowType(t.Element, o, join(at, "element"))
		if err != nil {
			return nil, err
		}
		return arrow.ListOfField(arrow.Field{Name: "element", Type: e, Nullable: t.ContainsNull}), nil
	case *Map:
		k, err := arrowType(t.Key, o, join(at, "key"))
		if err != nil {
			return nil, err
		}
		v, err := arrowType(t.Value, o, join(at, "value"))
		if err != nil {
			return nil, err
		}
		return arrow.MapOfFields(
			arrow.Field{Name: "key", Type: k},
			arrow.Field{Name: "value", Type: v, Nullable: t.ValueContainsNull}), nil
	}
	return nil, fmt.Errorf("column %q: %w", at, &UnsupportedError{Reading: true, Features: []string{"variantType"}, Detail: "type " + t.String()})
}

// FromArrow is the Delta schema of an Arrow schema: the reverse of ToArrow.
// Of types that Delta does not have, large and view forms become the plain one,
// unsigned integers the next wider signed one, and dictionaries their values;
// timestamps of any unit become microseconds. Types that would lose values are
// an error that names the column.
func FromArrow(s *arrow.Schema) (*Struct, error) {
	return deltaFields(s.Fields(), "")
}

func deltaFields(in []arrow.Field, at string) (*Struct, error) {
	s := &Struct{Fields: make([]Field, 0, len(in))}
	for _, f := range in {
		t, err := deltaType(f.Type, join(at, f.Name))
		if err != nil {
			return nil, err
		}
		out := Field{Name: f.Name, Type: t, Nullable: f.Nullable}
		if c, ok := f.Metadata.GetValue(metaComment); ok {
			out = out.WithComment(c)
		}
		s.Fields = append(s.Fields, out)
	}
	return s, nil
}

func deltaType(t arrow.DataType, at string) (Type, error) {
	switch t := t.(type) {
	case *arrow.TimestampType:
		if t.TimeZone != "" {
			return Timestamp, nil
		}
		return TimestampNTZ, nil
	case *arrow.StructType:
		return deltaFields(t.Fields(), at)
	case *arrow.MapType:
		k, err := deltaType(t.KeyType(), join(at, "key"))
		if err != nil {
			return nil, err
		}
		v, err := deltaType(t.ItemType(), join(at, "value"))
		if err != nil {
			return nil, err
		}
		return &Map{Key: k, Value: v, ValueContainsNull: t.ItemField().Nullable}, nil
	case arrow.ListLikeType:
		e, err := deltaType(t.Elem(), join(at, "element"))
		if err != nil {
			return nil, err
		}
		return &Array{Element: e, ContainsNull: t.ElemField().Nullable}, nil
	case arrow.DecimalType:
		if t.GetPrecision() <= 38 && t.GetScale() >= 0 && t.GetScale() <= t.GetPrecision() {
			return Decimal{int(t.GetPrecision()), int(t.GetScale())}, nil
		}
	case *arrow.DictionaryType:
		return deltaType(t.ValueType, at)
	}
	switch t.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW:
		return String, nil
	case arrow.BINARY, arrow.LARGE_BINARY, arrow.BINARY_VIEW, arrow.FIXED_SIZE_BINARY:
		return Binary, nil
	case arrow.INT8:
		return Byte, nil
	case arrow.INT16, arrow.UINT8:
		return Short, nil
	case arrow.INT32, arrow.UINT16:
		return Integer, nil
	case arrow.INT64, arrow.UINT32:
		return Long, nil
	case arrow.FLOAT32:
		return Float, nil
	case arrow.FLOAT64:
		return Double, nil
	case arrow.BOOL:
		return Boolean, nil
	case arrow.DATE32:
		return Date, nil
	case arrow.NULL:
		return Void, nil
	}
	return nil, fmt.Errorf("column %q: the Arrow type %s has no Delta type", at, t)
}
