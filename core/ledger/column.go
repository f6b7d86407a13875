package ledger

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// column is one column of a table of ours and how a row R fills it.
type column[R any] struct {
	name    string
	typ     arrow.DataType
	comment string
	put     func(array.Builder, *R)
}

// Times of every table of ours are UTC without a zone.
var timeNTZ arrow.DataType = &arrow.TimestampType{Unit: arrow.Microsecond}

// text is a string column; "" is NULL, as no text of ours is empty otherwise.
func text[R any](name, comment string, get func(*R) string) column[R] {
	return column[R]{name, arrow.BinaryTypes.String, comment, func(b array.Builder, r *R) {
		if s := get(r); s == "" {
			b.AppendNull()
		} else {
			b.(*array.StringBuilder).Append(s)
		}
	}}
}

func long[R any](name, comment string, get func(*R) *int64) column[R] {
	return column[R]{name, arrow.PrimitiveTypes.Int64, comment, func(b array.Builder, r *R) {
		if v := get(r); v == nil {
			b.AppendNull()
		} else {
			b.(*array.Int64Builder).Append(*v)
		}
	}}
}

func integer[R any](name, comment string, get func(*R) *int32) column[R] {
	return column[R]{name, arrow.PrimitiveTypes.Int32, comment, func(b array.Builder, r *R) {
		if v := get(r); v == nil {
			b.AppendNull()
		} else {
			b.(*array.Int32Builder).Append(*v)
		}
	}}
}

func double[R any](name, comment string, get func(*R) *float64) column[R] {
	return column[R]{name, arrow.PrimitiveTypes.Float64, comment, func(b array.Builder, r *R) {
		if v := get(r); v == nil {
			b.AppendNull()
		} else {
			b.(*array.Float64Builder).Append(*v)
		}
	}}
}

// moment is a time column; the value is microseconds since 1970 UTC.
func moment[R any](name, comment string, get func(*R) *int64) column[R] {
	return column[R]{name, timeNTZ, comment, func(b array.Builder, r *R) {
		if v := get(r); v == nil {
			b.AppendNull()
		} else {
			b.(*array.TimestampBuilder).Append(arrow.Timestamp(*v))
		}
	}}
}

func schemaOf[R any](columns []column[R]) *arrow.Schema {
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = arrow.Field{Name: c.name, Type: c.typ, Nullable: true,
			Metadata: arrow.NewMetadata([]string{"comment"}, []string{c.comment})}
	}
	return arrow.NewSchema(fields, nil)
}

// batchOf builds one record batch of a schema whose first fields are those of
// columns; further fields are filled by extra.
func batchOf[R any](schema *arrow.Schema, columns []column[R], rows []R, extra func(*array.RecordBuilder)) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i := range rows {
		for c := range columns {
			columns[c].put(b.Field(c), &rows[i])
		}
		if extra != nil {
			extra(b)
		}
	}
	return b.NewRecordBatch()
}
