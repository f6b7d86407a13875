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

// ensureTarget creates silver or adds the columns that bronze gained. Types
// are never changed: a wider bronze column stops here instead of being cut.
func ensureTarget(ctx context.Context, host plugin.Host, spec plugin.TableSpec, silver plugin.TableState) error {
	if silver.Exists {
		if err := checkTypes(spec, silver); err != nil {
			return err
		}
	}
	if _, err := host.Tables.ApplyTable(ctx, plugin.ApplyTableRequest{Spec: spec}); err != nil {
		return fmt.Errorf("preparing %s: %w", spec.Table.Name, err)
	}
	return nil
}

func checkTypes(spec plugin.TableSpec, silver plugin.TableState) error {
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

// checkGone stops when silver has a position but no table: applying only the
// changes after the position would leave a table that looks right and is not.
func checkGone(silver plugin.TableState, position plugin.TargetPosition) error {
	if silver.Exists || position.Applied == "" {
		return nil
	}
	return diag.Errorf(diag.KindStale, "silver.table_gone",
		"Restore the table. To build it anew from bronze, give the silver another target.",
		"%s does not exist, but its changes up to %s were applied to it", silver.Table.Name, position.Applied).Err()
}
