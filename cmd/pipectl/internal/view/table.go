package view

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/pipectl/pipectl/core/ndjson"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/quantity"
)

// Rows prints record batches, as NDJSON or as lines of name=value.
type Rows struct {
	s       *Streams
	max     int64
	seen    int64
	encoder *ndjson.Encoder
}

// Rows returns a printer of at most n rows; 0 = all.
func (s *Streams) Rows(n int64) *Rows { return &Rows{s: s, max: n} }

// Batch prints the rows of a batch; it reports false when no more are wanted.
func (r *Rows) Batch(b arrow.RecordBatch) (bool, error) {
	if r.max > 0 && r.seen+b.NumRows() > r.max {
		b = b.NewSlice(0, r.max-r.seen)
		defer b.Release()
	}
	r.seen += b.NumRows()
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	write := r.text
	if r.s.JSON {
		write = r.json
	}
	if err := write(b); err != nil {
		return false, err
	}
	return r.max == 0 || r.seen < r.max, nil
}

func (r *Rows) json(b arrow.RecordBatch) error {
	if r.encoder == nil {
		encoder, err := ndjson.NewEncoder(r.s.answer(), b.Schema())
		if err != nil {
			return err
		}
		r.encoder = encoder
	}
	return r.encoder.Encode(b)
}

var operationNames = map[int32]string{
	plugin.OpSnapshot: "snapshot", plugin.OpDelete: "delete", plugin.OpInsert: "insert", plugin.OpUpdateBefore: "before", plugin.OpUpdateAfter: "after",
}

// text prints a row a line; the operation of a change row is spelled out.
func (r *Rows) text(b arrow.RecordBatch) error {
	cells := make([]func([]byte, int) ([]byte, error), b.NumCols())
	for i, column := range b.Columns() {
		cell, err := ndjson.Cell(column)
		if err != nil {
			return fmt.Errorf("column %q: %w", b.ColumnName(i), err)
		}
		if operations, ok := column.(*array.Int32); ok && b.ColumnName(i) == plugin.ColumnOperation {
			cell = func(dst []byte, row int) ([]byte, error) {
				return append(dst, operationNames[operations.Value(row)]...), nil
			}
		}
		cells[i] = cell
	}
	var line []byte
	for row := range int(b.NumRows()) {
		line = line[:0]
		for i, cell := range cells {
			if i > 0 {
				line = append(line, ' ')
			}
			line = append(append(line, printable(b.ColumnName(i))...), '=')
			var err error
			if line, err = cell(line, row); err != nil {
				return fmt.Errorf("column %q: %w", b.ColumnName(i), err)
			}
		}
		// Texts are written as in JSON, which lets some characters through.
		if slices.ContainsFunc(line, func(c byte) bool { return c < ' ' || c > '~' }) {
			line = append(line[:0], printable(string(line))...)
		}
		if _, err := r.s.answer().Write(append(line, '\n')); err != nil {
			return fmt.Errorf("writing rows: %w", err)
		}
	}
	return nil
}

// Table describes a table.
func (s *Streams) Table(t plugin.TableState) error {
	type column struct {
		Name    string `json:"name"`
		Type    string `json:"type"`
		Comment string `json:"comment,omitempty"`
	}
	var cols []column
	for _, f := range t.Schema.Fields() {
		comment, _ := f.Metadata.GetValue("comment")
		cols = append(cols, column{f.Name, f.Type.String(), comment})
	}
	if s.JSON {
		return s.WriteJSON(struct {
			ID          string            `json:"id"`
			Version     int64             `json:"version"`
			Rows        int64             `json:"rows"`
			Bytes       int64             `json:"bytes"`
			Description string            `json:"description"`
			Features    []string          `json:"features"`
			Properties  map[string]string `json:"properties"`
			Columns     []column          `json:"columns"`
			Writable    *string           `json:"not_writable_because"`
		}{t.ID, t.Version, t.Rows, t.Bytes, t.Description, t.Features, t.Properties, cols, filledText(t.Writable)})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	rows := [][]string{{"table", t.Table.Name}, {"id", t.ID}, {"version", fmt.Sprint(t.Version)}, {"rows", quantity.Grouped(t.Rows)}, {"bytes", quantity.Grouped(t.Bytes)},
		{"features", strings.Join(t.Features, ", ")}, {"description", t.Description}}
	for _, name := range slices.Sorted(maps.Keys(t.Properties)) {
		rows = append(rows, []string{name, t.Properties[name]})
	}
	if t.Writable != "" {
		rows = append(rows, []string{"read only", t.Writable})
	}
	columns(s.answer(), "", rows)
	fmt.Fprintln(s.answer(), "\nColumns")
	rows = nil
	for _, c := range cols {
		rows = append(rows, []string{c.Name, c.Type, c.Comment})
	}
	columns(s.answer(), "  ", rows)
	return nil
}

// History lists commits, oldest first.
func (s *Streams) History(commits []plugin.Commit) error {
	if s.JSON {
		for _, c := range commits {
			var rows *int64
			if c.RowsAdded >= 0 {
				rows = &c.RowsAdded
			}
			if err := s.WriteJSON(struct {
				Version      int64   `json:"version"`
				Time         string  `json:"time"`
				Operation    string  `json:"operation"`
				DataChange   bool    `json:"data_change"`
				Rows         *int64  `json:"rows_added"`
				UserMetadata *string `json:"user_metadata"`
			}{c.Version, time.UnixMicro(c.Micros).UTC().Format(jsonTime), c.Operation, c.DataChange, rows, filledText(c.UserMetadata)}); err != nil {
				return err
			}
		}
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	cells := [][]string{{"VERSION", "TIME", "OPERATION", "ROWS", "USER METADATA"}}
	for _, c := range commits {
		rows := "-"
		if c.RowsAdded >= 0 {
			rows = quantity.Grouped(c.RowsAdded)
		}
		cells = append(cells, []string{fmt.Sprint(c.Version), time.UnixMicro(c.Micros).UTC().Format("2006-01-02 15:04:05.000"), c.Operation, rows, c.UserMetadata})
	}
	columns(s.answer(), "", cells)
	return nil
}
