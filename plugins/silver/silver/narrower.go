package silver

import (
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/plugin"
)

// bronzeToCome is the schema that bronze will have when rows of the schema input
// were written into it. A column that became narrower at the source keeps the
// type that it has in bronze, which holds the new values, too.
func bronzeToCome(input *arrow.Schema, bronze plugin.TableState) *arrow.Schema {
	if !bronze.Exists || bronze.Rows == 0 && bronze.Bytes == 0 { // a type without rows follows the source
		return input
	}
	fields := slices.Clone(input.Fields())
	for i, f := range fields {
		at := slices.IndexFunc(bronze.Schema.Fields(), func(have arrow.Field) bool { return strings.EqualFold(have.Name, f.Name) })
		if at >= 0 && holds(bronze.Schema.Field(at).Type, f.Type) {
			fields[i].Type = bronze.Schema.Field(at).Type
		}
	}
	return arrow.NewSchema(fields, nil)
}

// holds reports whether a column of the type wide holds every value of the type
// narrow unchanged.
func holds(wide, narrow arrow.DataType) bool {
	digits := func(t arrow.DataType) int32 { // of an integer, 0 for other types
		return map[arrow.Type]int32{arrow.INT8: 3, arrow.INT16: 5, arrow.INT32: 10, arrow.INT64: 19}[t.ID()]
	}
	switch wide := wide.(type) {
	case *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type:
		return digits(narrow) > 0 && digits(narrow) < digits(wide)
	case *arrow.Float64Type:
		return narrow.ID() == arrow.FLOAT32 || digits(narrow) > 0 && digits(narrow) <= 10
	case *arrow.Decimal128Type:
		if narrow, ok := narrow.(*arrow.Decimal128Type); ok {
			return narrow.Scale <= wide.Scale && narrow.Precision-narrow.Scale <= wide.Precision-wide.Scale
		}
		return digits(narrow) > 0 && digits(narrow) <= wide.Precision-wide.Scale
	case *arrow.TimestampType:
		return wide.TimeZone == "" && narrow.ID() == arrow.DATE32
	}
	return false
}
