package mssql

import (
	"database/sql/driver"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/core/plugin/rows"
)

// batchBytes is when a record batch ends, in bytes of values; one row that is
// larger is a batch of its own.
const batchBytes = 4 << 20

// batcher turns rows into record batches. One append function per column,
// chosen once, takes values from the driver straight into builders.
type batcher struct {
	w       *rows.Writer
	builder *array.RecordBuilder
	// source is where in a driver's row each column is, -1 for columns that
	// are NULL in every row; constant columns have their own append.
	columns []batchColumn
	// variable are the driver's columns whose values have any length.
	variable []int
	fixed    int
	maxRows  int

	rows, bytes int
	// total is what was sent.
	totalBytes int64
}

type batchColumn struct {
	builder array.Builder
	source  int
	append  appendFunc
	// always appends a value that does not come from the row.
	always func()
}

func newBatcher(w *rows.Writer, schema *arrow.Schema, maxRows int) *batcher {
	b := &batcher{w: w, builder: array.NewRecordBuilder(memory.DefaultAllocator, schema), maxRows: maxRows, columns: make([]batchColumn, schema.NumFields())}
	for i := range b.columns {
		b.columns[i] = batchColumn{builder: b.builder.Field(i), source: -1}
	}
	return b
}

// constant gives a column one text in all rows.
func (b *batcher) constant(column int, text string) {
	sb := b.builder.Field(column).(*array.StringBuilder)
	b.columns[column].always = func() { sb.Append(text) }
	b.fixed += len(text)
}

// bind gives a column the values of a driver's column.
func (b *batcher) bind(column, source int, from string, to outType) error {
	f, err := newAppender(b.builder.Field(column), from, to)
	if err != nil {
		return fmt.Errorf("column %s: %w", b.builder.Schema().Field(column).Name, err)
	}
	b.columns[column].source, b.columns[column].append = source, f
	switch from {
	case "CHAR", "VARCHAR", "NCHAR", "NVARCHAR", "TEXT", "NTEXT", "XML", "BINARY", "VARBINARY", "IMAGE":
		b.variable = append(b.variable, source)
	default:
		b.fixed += 16
	}
	return nil
}

// add appends one row; it sends the batch before a row that would make it too
// large.
func (b *batcher) add(values []driver.Value) error {
	size := b.fixed
	for _, i := range b.variable {
		switch v := values[i].(type) {
		case string:
			size += len(v)
		case []byte:
			size += len(v)
		}
	}
	if b.rows > 0 && b.bytes+size > batchBytes {
		if err := b.flush(); err != nil {
			return err
		}
	}
	for i := range b.columns {
		c := &b.columns[i]
		switch {
		case c.always != nil:
			c.always()
		case c.source < 0 || values[c.source] == nil:
			c.builder.AppendNull()
		default:
			if err := c.append(values[c.source]); err != nil {
				return fmt.Errorf("column %s: %w", b.builder.Schema().Field(i).Name, err)
			}
		}
	}
	b.rows++
	b.bytes += size
	if b.rows >= b.maxRows || b.bytes >= batchBytes {
		return b.flush()
	}
	return nil
}

// flush sends what was added since the last batch.
func (b *batcher) flush() error {
	if b.rows == 0 {
		return nil
	}
	n := b.rows
	b.rows, b.bytes = 0, 0
	batch := b.builder.NewRecordBatch()
	defer batch.Release()
	b.totalBytes += recordSize(batch)
	if err := b.w.Write(batch); err != nil {
		return err
	}
	b.reserve(n, batch)
	return nil
}

// reserve makes room for a batch like the last one, so that buffers do not grow
// and move while it is filled; a single large row sets no example.
func (b *batcher) reserve(n int, last arrow.RecordBatch) {
	b.builder.Reserve(n)
	for i := range b.columns {
		switch builder := b.columns[i].builder.(type) {
		case *array.StringBuilder:
			builder.ReserveData(min(len(last.Column(i).(*array.String).ValueBytes()), batchBytes))
		case *array.BinaryBuilder:
			builder.ReserveData(min(len(last.Column(i).(*array.Binary).ValueBytes()), batchBytes))
		}
	}
}

// recordSize is how many bytes of buffers a batch of flat columns uses.
func recordSize(batch arrow.RecordBatch) (n int64) {
	for _, column := range batch.Columns() {
		for _, buffer := range column.Data().Buffers() {
			if buffer != nil {
				n += int64(buffer.Len())
			}
		}
	}
	return n
}

func (b *batcher) release() { b.builder.Release() }
