package deltatable

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
)

// Changes are changes of what a table is, not of its rows.
type Changes struct {
	// Retype are columns of the table that get another type. No data file can be
	// read by it, so the table must have none, and one that came since the
	// snapshot is a conflict.
	Retype []arrow.Field
	// AddColumns are added at the end, nullable; those that the table has
	// already, with the same type, are passed over. A column's comment is under
	// the metadata key "comment".
	AddColumns []arrow.Field
	// Comments are new descriptions of columns.
	Comments map[string]string
	// Description is the new description of the table; nil keeps it.
	Description *string
	// Properties are set; others stay.
	Properties map[string]string
}

// Alter makes the changes that the table does not show yet in one metadata-only
// commit and returns the version that has them all; changed is false when there
// was nothing to do and no commit. on is what the changes were planned on: a
// later commit that changed the table's structure is a conflict
// (deltalog.ErrMetadataChanged), commits that only wrote rows are not.
func (s *Snapshot) Alter(ctx context.Context, c Changes) (version int64, changed bool, err error) {
	tx := s.table.log.Begin(s.log)
	fields, err := s.missing(c.AddColumns)
	if err != nil {
		return 0, false, err
	}
	var done []string
	if len(c.Retype) > 0 {
		if err := s.retype(tx, c.Retype); err != nil {
			return 0, false, err
		}
		done = append(done, "CHANGE COLUMN")
	}
	schema := tx.Schema()
	if len(fields) > 0 {
		if err := tx.AddColumns(fields...); err != nil {
			return 0, false, fmt.Errorf("adding columns: %w", err)
		}
		done = append(done, "ADD COLUMNS")
		schema = tx.Schema()
	}
	for name, text := range c.Comments {
		f, i := schema.Field(name)
		if i < 0 {
			return 0, false, &SchemaError{Detail: fmt.Sprintf("there is no column %q to comment on", name)}
		}
		if f.Comment() == text {
			continue
		}
		if err := tx.SetComment(f.Name, text); err != nil {
			return 0, false, fmt.Errorf("comment of column %q: %w", name, err)
		}
		done = append(done, "CHANGE COLUMN")
	}
	if c.Description != nil && *c.Description != s.log.Metadata().Description {
		if err := tx.SetDescription(*c.Description); err != nil {
			return 0, false, err
		}
		done = append(done, "CHANGE DESCRIPTION")
	}
	set := map[string]string{}
	for k, v := range c.Properties {
		if have, ok := s.log.Properties()[k]; !ok || have != v {
			set[k] = v
		}
	}
	if len(set) > 0 {
		if err := tx.SetProperties(set); err != nil {
			return 0, false, fmt.Errorf("setting properties: %w", err)
		}
		done = append(done, "SET TBLPROPERTIES")
	}
	if len(done) == 0 {
		return s.Version(), false, nil
	}
	tx.SetOperation(done[0], nil)
	version, err = tx.Commit(ctx)
	if err != nil {
		return 0, false, fmt.Errorf("changing the table: %w", err)
	}
	return version, true, nil
}

// Retypable are the columns of the schema that the table has with another type, when
// it has no data file that a type would have to fit.
func (s *Snapshot) Retypable(schema *arrow.Schema) []arrow.Field {
	wanted, err := deltalog.FromArrow(schema)
	if err != nil || s.log.NumFiles() > 0 {
		return nil
	}
	var out []arrow.Field
	for j, f := range wanted.Fields {
		if have, i := s.log.Schema().Field(f.Name); i >= 0 && !deltalog.EqualData(have.Type, f.Type) {
			out = append(out, schema.Field(j))
		}
	}
	return out
}

// retype gives columns another type. All of the table counts as read: a file that
// came since would have the old type.
func (s *Snapshot) retype(tx *deltalog.Transaction, columns []arrow.Field) error {
	wanted, err := deltalog.FromArrow(arrow.NewSchema(columns, nil))
	if err != nil {
		return err
	}
	schema := s.log.Schema().Clone()
	for _, f := range wanted.Fields {
		have, i := schema.Field(f.Name)
		switch {
		case i < 0:
			return &SchemaError{Detail: fmt.Sprintf("there is no column %q to change", f.Name)}
		case s.log.NumFiles() > 0:
			return &SchemaError{Detail: fmt.Sprintf("column %q is %s in files of the table, so it cannot become %s", have.Name, have.Type, f.Type)}
		}
		have.Type = f.Type
		schema.Fields[i] = have
	}
	tx.ReadTable()
	if err := tx.SetSchema(schema); err != nil {
		return fmt.Errorf("changing types: %w", err)
	}
	return nil
}

// missing are the columns that the table does not have, in the form of the log.
// A column of the same name and another type is a SchemaError, a name that needs
// column mapping where the table has none a NameError.
func (s *Snapshot) missing(columns []arrow.Field) ([]deltalog.Field, error) {
	wanted, err := deltalog.FromArrow(arrow.NewSchema(columns, nil))
	if err != nil {
		return nil, err
	}
	var out []deltalog.Field
	var odd []string
	for _, f := range wanted.Fields {
		have, i := s.log.Schema().Field(f.Name)
		if i >= 0 {
			if !deltalog.EqualData(have.Type, f.Type) {
				return nil, &SchemaError{Detail: fmt.Sprintf("column %q is %s in the table and %s in what is to be added", have.Name, have.Type, f.Type)}
			}
			continue
		}
		f.Nullable = true // older rows have NULL in it
		out = append(out, f)
		odd = append(odd, oddColumns(&deltalog.Struct{Fields: []deltalog.Field{f}})...)
	}
	if len(odd) > 0 && s.log.MappingMode() == deltalog.MappingNone {
		return nil, &NameError{Columns: odd}
	}
	return out, nil
}
