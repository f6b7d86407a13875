package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/rows"
)

// errEnough stops a scan that has found what it looked for.
var errEnough = errors.New("enough rows")

// look answers what a table is now.
func (l *Ledger) look(ctx context.Context, table plugin.TableRef) (plugin.TableState, error) {
	states, err := l.tables.GetTables(ctx, plugin.GetTablesRequest{Tables: []plugin.TableRef{table}})
	if err != nil {
		return plugin.TableState{}, fmt.Errorf("looking at table %s: %w", table.Name, l.Unsupported(table, err))
	}
	return states[0], nil
}

// Unsupported is the error of a look at a table of the ledger. Of one that the sink
// cannot work with it says the ways that there are: such a table is no block's
// target, and the sink knows of none of its names.
func (l *Ledger) Unsupported(table plugin.TableRef, err error) error {
	if !diag.Is(err, diag.KindUnsupported) {
		return err
	}
	list := slices.Clone(diag.FromError(err))
	for i := range list {
		if list[i].Kind == diag.KindUnsupported {
			list[i].Detail = "Another program raised what the table demands. " + l.elsewhere(table)
		}
	}
	return list.Err()
}

// elsewhere are the ways on for a table of the ledger that another program changed.
func (l *Ledger) elsewhere(table plugin.TableRef) string {
	argument := "facts"
	if table == l.control {
		argument = "control"
	}
	return "Use a newer pipectl that knows it, take it back with the program that raised it, or name another table in the block of the sink, ledger { " +
		argument + " = \"...\" }, which `pipectl apply` makes. That one knows nothing of before: " + l.Loss(table) + "."
}

// scan reads a table at its newest version, or nothing when there is none.
// Columns that an older table lacks read as NULL; nil = all columns.
func (l *Ledger) scan(ctx context.Context, table plugin.TableRef, columns []string, filter plugin.Filter, use func(batch) error) error {
	state, err := l.look(ctx, table)
	if err != nil {
		return err
	}
	return l.scanAt(ctx, state, columns, filter, use)
}

// scanAt is scan at the version that state tells.
func (l *Ledger) scanAt(ctx context.Context, state plugin.TableState, columns []string, filter plugin.Filter, use func(batch) error) error {
	table := state.Table
	if !state.Exists {
		return nil
	}
	present := map[string]bool{}
	for _, f := range state.Schema.Fields() {
		present[f.Name] = true
	}
	for _, clause := range filter.Any {
		for _, term := range clause.All {
			if !present[term.Column] {
				// The column came with a later version: no row has a value in it.
				filter = plugin.Filter{}
			}
		}
	}
	var have []string
	for _, c := range columns {
		if present[c] {
			have = append(have, c)
		}
	}
	if columns != nil && len(have) == 0 {
		return nil
	}
	// The version is pinned, so that a column found above is in it.
	frames, err := l.tables.Scan(ctx, plugin.ScanRequest{Table: table, Version: state.Version, Columns: have, Filter: filter})
	if err != nil {
		return fmt.Errorf("reading table %s: %w", table.Name, err)
	}
	reader, err := rows.NewReader(frames, memory.DefaultAllocator)
	if err != nil {
		return fmt.Errorf("reading table %s: %w", table.Name, err)
	}
	_, err = reader.ForEach(func(r arrow.RecordBatch) error {
		return use(newBatch(r))
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading table %s: %w", table.Name, err)
	}
	return nil
}

// batch reads values of small tables by column name; a column that is not
// there reads as NULL.
type batch struct {
	record  arrow.RecordBatch
	columns map[string]arrow.Array
}

func newBatch(r arrow.RecordBatch) batch {
	b := batch{record: r, columns: make(map[string]arrow.Array, r.NumCols())}
	for i, f := range r.Schema().Fields() {
		b.columns[f.Name] = r.Column(i)
	}
	return b
}

func (b batch) rows() int { return int(b.record.NumRows()) }

func (b batch) has(column string) bool { _, ok := b.columns[column]; return ok }

func (b batch) text(column string, i int) string {
	switch c := b.columns[column].(type) {
	case *array.String:
		if c.IsValid(i) {
			return c.Value(i)
		}
	case *array.LargeString:
		if c.IsValid(i) {
			return c.Value(i)
		}
	}
	return ""
}

func (b batch) int64(column string, i int) *int64 {
	if c, ok := b.columns[column].(*array.Int64); ok && c.IsValid(i) {
		v := c.Value(i)
		return &v
	}
	return nil
}

func (b batch) int32(column string, i int) *int32 {
	if c, ok := b.columns[column].(*array.Int32); ok && c.IsValid(i) {
		v := c.Value(i)
		return &v
	}
	return nil
}

// micros reads a time in microseconds since 1970.
func (b batch) micros(column string, i int) *int64 {
	if c, ok := b.columns[column].(*array.Timestamp); ok && c.IsValid(i) {
		v := int64(c.Value(i))
		return &v
	}
	return nil
}

func (b batch) position(text, commit string, i int) plugin.Position {
	p := plugin.Position{Text: b.text(text, i)}
	if at := b.micros(commit, i); at != nil {
		p.CommitMicros, p.HasCommit = *at, true
	}
	return p
}

func where(terms ...plugin.Term) plugin.Filter {
	return plugin.Filter{Any: []plugin.Clause{{All: terms}}}
}

func equal(column, value string) plugin.Term {
	return plugin.Term{Column: column, Op: plugin.OpEQ, Literals: []plugin.Literal{{Type: plugin.LiteralString, Text: value}}}
}

func in(column string, values ...string) plugin.Term {
	t := plugin.Term{Column: column, Op: plugin.OpIn}
	for _, v := range values {
		t.Literals = append(t.Literals, plugin.Literal{Type: plugin.LiteralString, Text: v})
	}
	return t
}
