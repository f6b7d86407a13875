package silver

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

// bookkeeping are the columns of bronze that are not captured ones.
var bookkeeping = []string{
	plugin.ColumnCaptureInstance, plugin.ColumnStartLSN, plugin.ColumnSeqval, plugin.ColumnOperation,
	plugin.ColumnCommandID, plugin.ColumnCommitTS, plugin.ColumnBatchID, plugin.ColumnSnapshot, plugin.ColumnChunk,
}

// bronzeShape is what silver needs to know of bronze's columns.
type bronzeShape struct {
	// captured are the columns of the source table, in bronze's order.
	captured []arrow.Field
	// commands, snapshots and chunks tell whether the optional columns exist;
	// older tables lack some.
	commands, snapshots, chunks bool
}

func shapeOf(schema *arrow.Schema) bronzeShape {
	var s bronzeShape
	for _, f := range schema.Fields() {
		switch {
		case f.Name == plugin.ColumnCommandID:
			s.commands = true
		case f.Name == plugin.ColumnSnapshot:
			s.snapshots = true
		case f.Name == plugin.ColumnChunk:
			s.chunks = true
		case !slices.Contains(bookkeeping, f.Name):
			s.captured = append(s.captured, f)
		}
	}
	return s
}

// checkKey finds key columns that bronze does not have in exactly that
// spelling.
func (s bronzeShape) checkKey(key []string, bronze string) error {
	if len(key) == 0 {
		return diag.Errorf(diag.KindConfiguration, "silver.no_key",
			"Name the columns that identify a row in the table block: key = [\"...\"].",
			"%s has no key: the source table has no unique index", bronze).Err()
	}
	for _, name := range key {
		if !slices.ContainsFunc(s.captured, func(f arrow.Field) bool { return f.Name == name }) {
			return diag.Errorf(diag.KindConfiguration, "silver.key_not_captured",
				"A key may only name columns that bronze holds, spelled as there. Capture the column, or name another key in the table block.",
				"The key column %q is no captured column of %s", name, bronze).Err()
		}
	}
	return nil
}

// scanColumns are the columns that applying changes reads.
func (s bronzeShape) scanColumns() []string {
	var names []string
	for _, f := range s.captured {
		names = append(names, f.Name)
	}
	return append(names, s.orderColumns()...)
}

// orderColumns are the bookkeeping columns that selecting and ranking read.
func (s bronzeShape) orderColumns() []string {
	names := []string{plugin.ColumnCaptureInstance, plugin.ColumnStartLSN, plugin.ColumnSeqval, plugin.ColumnOperation, plugin.ColumnCommitTS}
	if s.commands {
		names = append(names, plugin.ColumnCommandID)
	}
	if s.snapshots {
		names = append(names, plugin.ColumnSnapshot)
	}
	if s.chunks {
		names = append(names, plugin.ColumnChunk)
	}
	return names
}
