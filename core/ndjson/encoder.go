// Package ndjson writes Arrow record batches as newline-delimited JSON in one fixed form, so that
// rows printed by the command line, expected rows in tests and rows written by other programs can
// be compared as text.
//
// The form, one object a line with the columns in schema order:
//
//   - integers as JSON numbers, exact also beyond 2^53
//   - floats as the shortest text that reads back to the same value of their own width ("1.0",
//     "1e+16"), "NaN", "Infinity" and "-Infinity" as strings, -0.0 with its sign
//   - decimals as strings with all digits of the column's scale
//   - binary as lower-case hex
//   - dates YYYY-MM-DD, timestamps YYYY-MM-DDTHH:MM:SS.ffffffZ, timestamps without a zone the same
//     without the Z
//   - structs as objects, lists as arrays, maps as arrays of [key, value] sorted by the JSON text
//     of the key
//   - null always written
//
// The package knows Arrow only: no tables, no files, no plugins.
package ndjson

import (
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
)

// flushAt is the size in bytes at which the line buffer is handed to the writer.
const flushAt = 64 << 10

// Encoder writes record batches of one schema. It is not safe for concurrent use.
type Encoder struct {
	w      io.Writer
	schema *arrow.Schema
	names  [][]byte // `"name":` of each column, the first with '{', the others with ','
	cells  []appendFunc
	buf    []byte
}

// NewEncoder returns an Encoder of batches whose columns have the types of schema. It fails when a
// column's type has no form in the dump, naming the column.
func NewEncoder(w io.Writer, schema *arrow.Schema) (*Encoder, error) {
	e := &Encoder{w: w, schema: schema}
	for i, f := range schema.Fields() {
		if err := checkType(f.Type); err != nil {
			return nil, fmt.Errorf("column %q: %w", f.Name, err)
		}
		open := byte(',')
		if i == 0 {
			open = '{'
		}
		name, err := appendString([]byte{open}, f.Name)
		if err != nil {
			return nil, fmt.Errorf("name of column %d: %w", i, err)
		}
		e.names = append(e.names, append(name, ':'))
	}
	e.cells = make([]appendFunc, len(e.names))
	return e, nil
}

// Encode writes all rows of rec. Nothing is kept back: when it returns without an error all lines
// have been handed to the writer. A string that is not valid UTF-8 is an error that names the column
// and the row, since JSON cannot hold it and a replacement would be other data.
func (e *Encoder) Encode(rec arrow.RecordBatch) error {
	if int(rec.NumCols()) != len(e.names) {
		return fmt.Errorf("batch has %d columns, the schema %d", rec.NumCols(), len(e.names))
	}
	for i, col := range rec.Columns() {
		if !arrow.TypeEqual(col.DataType(), e.schema.Field(i).Type) {
			return fmt.Errorf("column %q is %s in the batch, %s in the schema", e.schema.Field(i).Name, col.DataType(), e.schema.Field(i).Type)
		}
		cell, err := appender(col)
		if err != nil {
			return fmt.Errorf("column %q: %w", e.schema.Field(i).Name, err)
		}
		e.cells[i] = cell
	}
	defer clear(e.cells) // do not keep the batch's memory alive
	var err error
	for row := range int(rec.NumRows()) {
		for i, cell := range e.cells {
			e.buf = append(e.buf, e.names[i]...)
			if e.buf, err = cell(e.buf, row); err != nil {
				return fmt.Errorf("column %q, row %d of the batch: %w", e.schema.Field(i).Name, row, err)
			}
		}
		if len(e.cells) == 0 {
			e.buf = append(e.buf, '{')
		}
		e.buf = append(e.buf, '}', '\n')
		if len(e.buf) >= flushAt {
			if err := e.flush(); err != nil {
				return err
			}
		}
	}
	return e.flush()
}

func (e *Encoder) flush() error {
	if len(e.buf) == 0 {
		return nil
	}
	_, err := e.w.Write(e.buf)
	e.buf = e.buf[:0]
	if err != nil {
		return fmt.Errorf("writing rows: %w", err)
	}
	return nil
}
