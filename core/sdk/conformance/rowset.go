package conformance

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/rows"
)

// null is how a NULL is written in rows that tests compare.
const null = "NULL"

// rowsOf builds a stream of text and integer columns; nil is NULL.
func rowsOf(t *testing.T, schema *arrow.Schema, list ...[]any) plugin.FrameReader {
	t.Helper()
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for _, row := range list {
		for i, v := range row {
			switch v := v.(type) {
			case nil:
				b.Field(i).AppendNull()
			case int:
				switch column := b.Field(i).(type) {
				case *array.Int64Builder:
					column.Append(int64(v))
				case *array.Int32Builder:
					column.Append(int32(v))
				}
			case string:
				b.Field(i).(*array.StringBuilder).Append(v)
			}
		}
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	return rows.FromBatches(schema, batch)
}

// read reads a stream to its end and returns its rows as text, "k=1 v=x",
// sorted, because a scan has no order, and its End.
func read(t *testing.T, frames plugin.FrameReader, err error) ([]string, plugin.End) {
	t.Helper()
	out, end := readAsTheyCome(t, frames, err)
	slices.Sort(out)
	return out, end
}

// readAsTheyCome is read without the sorting.
func readAsTheyCome(t *testing.T, frames plugin.FrameReader, err error) ([]string, plugin.End) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	reader, err := rows.NewReader(frames, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	end, err := reader.ForEach(func(batch arrow.RecordBatch) error {
		for i := range int(batch.NumRows()) {
			var row []string
			for c, column := range batch.Columns() {
				value := null
				if !column.IsNull(i) {
					value = column.ValueStr(i)
				}
				row = append(row, fmt.Sprintf("%s=%s", batch.ColumnName(c), value))
			}
			out = append(out, strings.Join(row, " "))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out, end
}

func text(name string) arrow.Field {
	return arrow.Field{Name: name, Type: arrow.BinaryTypes.String, Nullable: true}
}

func integer(name string) arrow.Field {
	return arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int64, Nullable: true}
}

func schemaOf(fields ...arrow.Field) *arrow.Schema { return arrow.NewSchema(fields, nil) }

// column returns the values of one column of rows as read returns them.
func column(list []string, name string) []string {
	var out []string
	for _, row := range list {
		for _, part := range strings.Fields(row) {
			if value, ok := strings.CutPrefix(part, name+"="); ok {
				out = append(out, value)
			}
		}
	}
	return out
}
