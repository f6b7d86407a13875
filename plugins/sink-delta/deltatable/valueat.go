package deltatable

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
)

// valueAt is a value of a flat column of the table.
func valueAt(arr arrow.Array, i int) (deltalog.Value, error) {
	if arr.IsNull(i) {
		return deltalog.NullValue(), nil
	}
	switch a := arr.(type) {
	case *array.Boolean:
		return deltalog.BoolValue(a.Value(i)), nil
	case *array.Int8:
		return deltalog.IntValue(int64(a.Value(i))), nil
	case *array.Int16:
		return deltalog.IntValue(int64(a.Value(i))), nil
	case *array.Int32:
		return deltalog.IntValue(int64(a.Value(i))), nil
	case *array.Int64:
		return deltalog.IntValue(a.Value(i)), nil
	case *array.Float32:
		return deltalog.FloatValue(float64(a.Value(i))), nil
	case *array.Float64:
		return deltalog.FloatValue(a.Value(i)), nil
	case *array.Date32:
		return deltalog.DateValue(int32(a.Value(i))), nil
	case *array.Timestamp:
		return deltalog.TimestampValue(int64(a.Value(i))), nil
	case *array.Decimal128:
		return deltalog.DecimalValue(a.Value(i).BigInt(), a.DataType().(*arrow.Decimal128Type).Scale), nil
	case *array.String:
		return deltalog.StringValue(a.Value(i)), nil
	case *array.Binary:
		return deltalog.BinaryValue(a.Value(i)), nil
	}
	return deltalog.Value{}, fmt.Errorf("a column of type %s has no plain values", arr.DataType())
}
