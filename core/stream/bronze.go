package stream

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/ledger"
	"github.com/pipectl/pipectl/core/plugin"
)

const bronzeDescription = "Change rows of one source table, appended and never changed. Changes of a key are ordered by " +
	"(_start_lsn, _command_id, _seqval, _operation), NULLs first; the last one is the newest. Rows with operation 0 are the snapshot that " +
	"_snapshot names. The current rows are those of the newest complete snapshot and all changes with a larger _start_lsn, the newest per key, " +
	"without keys whose newest row is a delete. Rows of a whole snapshot share one _start_lsn; rows of a chunked one are stamped per chunk, at or " +
	"after the snapshot's position. A column that came later is NULL in older rows; one that went away stays and is NULL from then on."

// bronzeComments are the comments of the columns that are not captured.
var bronzeComments = map[string]string{
	plugin.ColumnCaptureInstance: "Capture instance that the row came from; on snapshot rows the one configured when the snapshot was taken.",
	plugin.ColumnStartLSN:        "Commit position, shared by all changes of a transaction; positions sort as text. On snapshot rows the position recorded before the row was read: the row is at least that fresh.",
	plugin.ColumnSeqval:          "Position within the commit; breaks ties after _command_id. NULL on snapshot rows.",
	plugin.ColumnOperation:       "0 snapshot, 1 delete (the row before), 2 insert, 3 update (the row before), 4 update (the row after).",
	plugin.ColumnCommandID:       "Order of the statement within its transaction; compares within one _start_lsn only. NULL on snapshot rows.",
	plugin.ColumnCommitTS:        "Commit time of _start_lsn, UTC.",
	plugin.ColumnBatchID:         "Micro-batch that wrote the row; with the sink id the key of its row in the facts. NULL on snapshot rows.",
	plugin.ColumnSnapshot:        "Snapshot rows only: position of the snapshot that they belong to.",
	plugin.ColumnChunk:           "Rows of a chunked snapshot only: index of the chunk.",
}

// sinkColumns are appended to every row that a source sends, in this order.
var sinkColumns = []arrow.Field{
	{Name: plugin.ColumnBatchID, Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	{Name: plugin.ColumnSnapshot, Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: plugin.ColumnChunk, Type: arrow.PrimitiveTypes.Int32, Nullable: true},
}

// BronzeSpec is the bronze table for rows of a source's shape: metadata
// columns, captured columns, and the three of the sink. A captured column with
// one of those names, in any case, is a diagnostic of kind configuration.
func BronzeSpec(table plugin.TableRef, source *arrow.Schema) (plugin.TableSpec, error) {
	schema, err := withSinkColumns(source)
	if err != nil {
		return plugin.TableSpec{}, err
	}
	return plugin.TableSpec{
		Table: table, Schema: schema, Description: bronzeDescription, Layout: plugin.LayoutAppend,
		Properties: map[string]string{ledger.PropertySchemaVersion: strconv.Itoa(ledger.BronzeVersion)},
		Converge:   []string{ledger.PropertySchemaVersion},
	}, nil
}

// withSinkColumns is the shape of bronze's rows, with the comments of bronze's
// own columns.
func withSinkColumns(source *arrow.Schema) (*arrow.Schema, error) {
	var fields []arrow.Field
	var clashes []string
	for i, f := range source.Fields() {
		comment, own := bronzeComments[f.Name]
		if own && !isSinkColumn(f.Name) && source.FieldIndices(f.Name)[0] == i {
			f.Metadata = arrow.NewMetadata([]string{"comment"}, []string{comment})
		} else if reserved(f.Name) {
			clashes = append(clashes, f.Name)
		}
		f.Nullable = true
		fields = append(fields, f)
	}
	if clashes != nil {
		return nil, diag.Errorf(diag.KindConfiguration, "stream.reserved_column", "Leave them out with exclude, or read them under no such name.",
			"The source has columns whose names belong to the change log: %s", strings.Join(clashes, ", ")).At("columns").Err()
	}
	for _, name := range []string{plugin.ColumnCaptureInstance, plugin.ColumnStartLSN, plugin.ColumnOperation, plugin.ColumnCommitTS} {
		if len(source.FieldIndices(name)) == 0 {
			return nil, fmt.Errorf("the rows of the source lack the column %s", name)
		}
	}
	for _, f := range sinkColumns {
		f.Metadata = arrow.NewMetadata([]string{"comment"}, []string{bronzeComments[f.Name]})
		fields = append(fields, f)
	}
	return arrow.NewSchema(fields, nil), nil
}

func isSinkColumn(name string) bool {
	return slices.ContainsFunc(sinkColumns, func(f arrow.Field) bool { return f.Name == name })
}

// reserved reports whether a name is one of bronze's own, in any case.
func reserved(name string) bool {
	for own := range bronzeComments {
		if strings.EqualFold(own, name) {
			return true
		}
	}
	return false
}

// constants are the values of the sink columns; nil is NULL.
func constants(batch *int64, snapshot string) []plugin.Constant {
	out := make([]plugin.Constant, len(sinkColumns))
	for i, f := range sinkColumns {
		out[i] = plugin.Constant{Name: f.Name, Type: f.Type}
	}
	if batch != nil {
		out[0].Value = &plugin.Literal{Type: plugin.LiteralInt, Int: *batch}
	}
	if snapshot != "" {
		out[1].Value = &plugin.Literal{Type: plugin.LiteralString, Text: snapshot}
	}
	return out
}

func batchConstants(n int64) []plugin.Constant { return constants(&n, "") }

func snapshotConstants(snapshot string) []plugin.Constant { return constants(nil, snapshot) }
