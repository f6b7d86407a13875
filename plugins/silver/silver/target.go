package silver

import (
	"context"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

// schemaVersionProperty counts the migrations that a table has had; silver
// tables have had none.
const schemaVersionProperty = "mssql_cdc.schema_version"

// fromProperty names the bronze that silver is applied from.
const fromProperty = "pipectl.from"

// targetSpec is silver as it should be: bronze's captured columns, then the
// commit of each row's current image.
func targetSpec(req plugin.SilverRequest, shape bronzeShape) plugin.TableSpec {
	fields := make([]arrow.Field, 0, len(shape.captured)+2)
	for _, f := range shape.captured {
		fields = append(fields, arrow.Field{Name: f.Name, Type: f.Type, Nullable: true})
	}
	fields = append(fields,
		commented(plugin.ColumnStartLSN, arrow.BinaryTypes.String, "Commit LSN of the row's current image; the snapshot's stamp when it has not changed since."),
		commented(plugin.ColumnCommitTS, &arrow.TimestampType{Unit: arrow.Microsecond}, "Commit time of _start_lsn, UTC."))
	return plugin.TableSpec{
		Table:       req.Target,
		Schema:      arrow.NewSchema(fields, nil),
		Description: fmt.Sprintf("Current rows of the source table, applied from %s. Deletes are hard; the history stays in bronze.", req.Input.Name),
		Properties:  map[string]string{schemaVersionProperty: "0", fromProperty: req.Input.Name},
		Converge:    []string{fromProperty},
		Layout:      plugin.LayoutMerge,
	}
}

func commented(name string, t arrow.DataType, comment string) arrow.Field {
	return arrow.Field{Name: name, Type: t, Nullable: true, Metadata: arrow.NewMetadata([]string{"comment"}, []string{comment})}
}

// base is what a merge begins from: the table, the version after which no other
// commit may change its rows, how many there are (-1 when that is not known), and
// the number of its last merge.
type base struct {
	id      string
	version int64
	rows    int64
	applied int64
}

// numberOf is the number that a table has recorded under an app id, -1 before
// the first.
func numberOf(t plugin.TableState, appID string) int64 {
	if n, ok := t.Txns[appID]; ok {
		return n
	}
	return -1
}

// ensureTarget creates silver or adds the columns that bronze gained. Types
// are never changed: a wider bronze column stops here instead of being cut.
func ensureTarget(ctx context.Context, host plugin.Host, spec plugin.TableSpec, silver plugin.TableState) (base, error) {
	if silver.Exists {
		if err := checkTarget(spec, silver); err != nil {
			return base{}, err
		}
	}
	made, err := host.Tables.ApplyTable(ctx, plugin.ApplyTableRequest{Spec: spec, RequireID: silver.ID})
	if err != nil {
		return base{}, fmt.Errorf("preparing %s: %w", spec.Table.Name, err)
	}
	if silver.Exists {
		return base{
			id: silver.ID, version: silver.Version, rows: silver.Rows,
			applied: numberOf(silver, plugin.MergesApp),
		}, nil
	}
	if made.Action != plugin.TableCreate {
		return base{}, overtaken(spec.Table.Name)
	}
	return base{id: made.ID, version: made.Version, applied: -1}, nil
}

// overtaken is the conflict with another call on the same table.
func overtaken(name string) error {
	return diag.Errorf(diag.KindConflict, "silver.conflict", "Nothing is lost: the step begins again from what is there now.",
		"Another run has applied changes to %s meanwhile", name).Err()
}

// checkTarget finds a table that cannot become silver: one with the columns of
// a change log, which would be merged into itself, one that was applied from
// another bronze, and one with other types.
//
// A position and the LSNs of rows order the changes of one bronze. In that of
// another table, another database, or one that begins later, the same numbers
// mean other commits: rows would be passed over, and nothing would tell.
func checkTarget(spec plugin.TableSpec, silver plugin.TableState) error {
	for _, f := range silver.Schema.Fields() {
		if f.Name == plugin.ColumnOperation || f.Name == plugin.ColumnCaptureInstance || f.Name == plugin.ColumnSeqval {
			return diag.Errorf(diag.KindConfiguration, "silver.target_is_bronze",
				"Its place is that of a change log, perhaps under another name: a link, or another URL of one folder. Give the silver another target or path.",
				"%s holds changes, not current rows: it has the column %q", silver.Table.Name, f.Name).At("target").Err()
		}
	}
	if from, follows := silver.Properties[fromProperty], spec.Properties[fromProperty]; from != "" && from != follows {
		return diag.Errorf(diag.KindSchemaChanged, "silver.other_bronze",
			fmt.Sprintf("Its rows and its position mean nothing there. Give the silver another target: it is then built anew from %s. Or let it follow %s again.", follows, from),
			"The rows of %s were applied from %s, and it now follows %s", silver.Table.Name, from, follows).At("target").Err()
	}
	if silver.Rows == 0 && silver.Bytes == 0 {
		return nil // a type without rows is the sink's to change
	}
	for _, want := range spec.Schema.Fields() {
		for _, have := range silver.Schema.Fields() {
			if strings.EqualFold(have.Name, want.Name) && !arrow.TypeEqual(have.Type, want.Type) {
				return diag.Errorf(diag.KindSchemaChanged, "silver.type_changed",
					fmt.Sprintf("Change the column's type in %s to that of bronze (ALTER TABLE ... ALTER COLUMN, which needs type widening), or build the table anew under another name.", silver.Table.Name),
					"Column %q is %s in bronze and %s in %s", want.Name, want.Type, have.Type, silver.Table.Name).Err()
			}
		}
	}
	return nil
}

// checkLost stops when silver is gone, or behind what was applied to it:
// applying only the changes after its position would leave a table that looks
// right and is not. before and after are silver as it was pinned before and
// after the ledger was read.
func checkLost(before, after plugin.TableState, position plugin.TargetPosition) error {
	err := position.Lost(before)
	if err != nil && position.Lost(after) == nil {
		return overtaken(after.Table.Name)
	}
	return err
}
