package mssql

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin/rows"
)

// batchBytes is when a record batch ends, in bytes of values; one row that is
// larger is a batch of its own.
const batchBytes = 4 << 20

// batcher turns rows into record batches. One append function per column,
// chosen once, takes values from the driver straight into the column's buffer.
type batcher struct {
	w      *rows.Writer
	schema *arrow.Schema
	// columns are in the schema's order, perRow those of them that take a
	// value from each row.
	columns []batchColumn
	perRow  []rowColumn
	// variable are the driver's columns whose values have any length.
	variable []int
	fixed    int
	maxRows  int

	rows, bytes int
	// totalBytes is what was sent.
	totalBytes int64
}

// batchColumn has either a buffer that rows fill or a value for all rows.
type batchColumn struct {
	buffer buffer
	same   *sameValue
}

// rowColumn is where a column's values come from.
type rowColumn struct {
	column int
	buffer buffer
	// source is the column's place in a driver's row, and append takes its
	// value from there.
	source int
	append appendFunc
}

// newBatcher is a batcher whose columns are NULL in every row until bound.
func newBatcher(w *rows.Writer, schema *arrow.Schema, maxRows int) (*batcher, error) {
	b := &batcher{w: w, schema: schema, maxRows: maxRows, columns: make([]batchColumn, schema.NumFields())}
	for i := range b.columns {
		buf, err := newBuffer(schema.Field(i).Type)
		if err != nil {
			return nil, err
		}
		b.columns[i] = batchColumn{buffer: buf, same: &sameValue{fill: buffer.appendNull, buf: buf}}
	}
	return b, nil
}

// constant gives a column one text in all rows.
func (b *batcher) constant(column int, text string) {
	b.repeat(column, func(buf buffer) { buf.(*bytesBuffer).appendString(text) })
	b.fixed += len(text)
}

// repeat gives a column one value, which fill appends, in all rows.
func (b *batcher) repeat(column int, fill func(buffer)) { b.columns[column].same.fill = fill }

// bind gives a column the values of a driver's column.
func (b *batcher) bind(column, source int, from string, to outType) error {
	f, err := newAppender(b.columns[column].buffer, from, to)
	if err != nil {
		return fmt.Errorf("column %s: %w", b.schema.Field(column).Name, err)
	}
	b.fill(column, source, f)
	switch from {
	case "CHAR", "VARCHAR", "NCHAR", "NVARCHAR", "TEXT", "NTEXT", "XML", "BINARY", "VARBINARY", "IMAGE":
		b.variable = append(b.variable, source)
	default:
		b.fixed += 16
	}
	return nil
}

// fill gives a column the values that f makes of a driver's column.
func (b *batcher) fill(column, source int, f appendFunc) {
	c := &b.columns[column]
	c.same = nil
	b.perRow = append(b.perRow, rowColumn{column: column, buffer: c.buffer, source: source, append: f})
}

// add appends one row; it sends the batch before a row that would make it too
// large. An error of the row itself is an *unfitValue or an *oversizedRow, every
// other one is of the sending.
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
	if size > math.MaxInt32 {
		return b.oversized(values, size)
	}
	if b.rows > 0 && b.bytes+size > batchBytes {
		if err := b.flush(); err != nil {
			return err
		}
	}
	for i := range b.perRow {
		c := &b.perRow[i]
		v := values[c.source]
		if v == nil {
			c.buffer.appendNull()
			continue
		}
		if err := c.append(v); err != nil {
			return &unfitValue{column: b.schema.Field(c.column).Name, err: err}
		}
	}
	b.rows++
	b.bytes += size
	if b.rows >= b.maxRows || b.bytes >= batchBytes {
		return b.flush()
	}
	return nil
}

// unfitValue is a value that its column cannot hold.
type unfitValue struct {
	column string
	err    error
}

func (e *unfitValue) Error() string { return "column " + e.column + ": " + e.err.Error() }

func (e *unfitValue) Unwrap() error { return e.err }

// oversizedRow is a row that no batch can hold: the offsets of its texts are
// int32 (Apache Arrow: Columnar format, Variable-size binary layout).
type oversizedRow struct {
	bytes int
	// column is the one with the longest value, of columnBytes.
	column      string
	columnBytes int
}

func (e *oversizedRow) Error() string {
	return fmt.Sprintf("it has %d bytes, and a batch holds at most %d; %d of them are in column %s", e.bytes, math.MaxInt32, e.columnBytes, e.column)
}

func (b *batcher) oversized(values []driver.Value, size int) error {
	e := &oversizedRow{bytes: size}
	for _, c := range b.perRow {
		n := 0
		switch v := values[c.source].(type) {
		case string:
			n = len(v)
		case []byte:
			n = len(v)
		}
		if n > e.columnBytes {
			e.column, e.columnBytes = b.schema.Field(c.column).Name, n
		}
	}
	return e
}

// unreadable is the diagnostic of a row that add refused with err; an error of the
// sending is returned as it is. row says which one, and whole of what it is, none of
// which is used.
func unreadable(row, whole string, err error) error {
	var large *oversizedRow
	if errors.As(err, &large) {
		return diag.Errorf(diag.KindUnsupported, codeRowSize, fmt.Sprintf("Nothing of the %s is used. Leave the column out: exclude = [%q].", whole, large.column),
			"%s is too large: %s", row, err).At("columns", large.column).Err()
	}
	var unfit *unfitValue
	if !errors.As(err, &unfit) {
		return err
	}
	return diag.Errorf(diag.KindSchemaChanged, codeValue, fmt.Sprintf("Nothing of the %s is used. If the column's type has changed, start again. Else choose a type that holds it, as columns = { %s = { as = \"string\" } } does. Tables with rows of another type cannot take that: `pipectl plan` tells, and what to do then.", whole, inHCL(unfit.column)),
		"%s cannot be read: %s", row, err).At("columns", unfit.column).Err()
}

// flush sends what was added since the last batch.
func (b *batcher) flush() error {
	if b.rows == 0 {
		return nil
	}
	n := b.rows
	b.rows, b.bytes = 0, 0
	columns := make([]arrow.Array, len(b.columns))
	for i, c := range b.columns {
		if c.same != nil {
			columns[i] = c.same.rows(n)
			b.totalBytes += sizeOf(columns[i], c.same.n)
		} else {
			columns[i] = c.buffer.array()
			b.totalBytes += sizeOf(columns[i], n)
		}
	}
	batch := array.NewRecordBatch(b.schema, columns, int64(n))
	defer batch.Release()
	for _, c := range columns {
		c.Release()
	}
	if err := b.w.Write(batch); err != nil {
		return err
	}
	for i := range b.perRow {
		b.perRow[i].buffer.reset()
	}
	return nil
}

// sizeOf is how many bytes of buffers a column uses; a slice has its share.
func sizeOf(column arrow.Array, of int) (n int64) {
	for _, buffer := range column.Data().Buffers() {
		if buffer != nil {
			n += int64(buffer.Len())
		}
	}
	return n * int64(column.Len()) / int64(of)
}
