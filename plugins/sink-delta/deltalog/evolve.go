package deltalog

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// creation is the transaction that makes a table.
func (t *Table) creation(spec CreateSpec) (*Transaction, error) {
	if spec.Schema == nil || len(spec.Schema.Fields) == 0 {
		return nil, fmt.Errorf("%w: the schema has no columns", ErrInvalidCommit)
	}
	s := newState(t)
	now := t.clock.Now().UnixMilli()
	s.protocol = &Protocol{MinReaderVersion: 1, MinWriterVersion: 2}
	s.metadata = &Metadata{
		ID: uuid.NewString(), Name: spec.Name, Description: spec.Description,
		Format: Format{Provider: "parquet"}, PartitionColumns: slices.Clone(spec.PartitionColumns),
		Configuration: map[string]string{}, CreatedTime: &now,
	}
	s.schema, s.mapping = &Struct{}, MappingNone
	tx := t.Begin(&Snapshot{state: *s})
	tx.creates = true
	tx.protocol = s.protocol
	operation := spec.Operation
	if operation == "" {
		operation = "CREATE TABLE"
	}
	tx.SetOperation(operation, nil)
	m := cloneMetadata(s.metadata)
	maps.Copy(m.Configuration, spec.Properties)
	if err := tx.setMetadata(m, spec.Schema); err != nil {
		return nil, err
	}
	return tx, nil
}

func cloneMetadata(m *Metadata) *Metadata {
	c := *m
	c.Configuration = maps.Clone(m.Configuration)
	if c.Configuration == nil {
		c.Configuration = map[string]string{}
	}
	c.PartitionColumns = slices.Clone(m.PartitionColumns)
	return &c
}

// setMetadata takes m with the given schema as the table's new metadata: it
// checks names, assigns column mapping, and raises the protocol as needed.
func (tx *Transaction) setMetadata(m *Metadata, schema *Struct) error {
	protocol := tx.currentProtocol()
	required := requiredFeatures(m, schema)
	if protocol.supports(featTypeWideningPre) {
		required = slices.DeleteFunc(required, func(name string) bool { return name == featTypeWidening })
	}
	for _, name := range required {
		if f := featureNamed(name); f == nil || f.write == nil {
			return &UnsupportedError{Features: []string{name}, Detail: "it would be needed for the new schema or properties"}
		}
	}
	protocol = protocol.with(required...)
	mode, err := mappingMode(protocol, m)
	if err != nil {
		return err
	}
	if mode != tx.snapshot.mapping && !tx.creates {
		return &UnsupportedError{Features: []string{featMapping}, Detail: "the mode of an existing table is not changed"}
	}
	schema = schema.Clone()
	if mode != MappingNone {
		if err := assignMapping(m, schema); err != nil {
			return err
		}
	}
	if err := checkSchema(schema, m.PartitionColumns, mode); err != nil {
		return err
	}
	if err := checkTypeChanges(protocol, schema); err != nil {
		return err
	}
	if m.SchemaString, err = FormatSchema(schema); err != nil {
		return err
	}
	if err := checkWrite(protocol, m, schema); err != nil {
		return err
	}
	tx.metadata, tx.schema = m, schema
	if !protocol.equal(tx.currentProtocol()) {
		tx.protocol = protocol
	}
	return nil
}

// specialCharacters cannot stand in the names of columns without column mapping
// (Spark refuses them since Parquet readers of old did).
const specialCharacters = " ,;{}()\n\t="

// NeedsMapping returns the names, at any depth, that a table without column
// mapping cannot have.
func NeedsMapping(s *Struct) []string {
	var names []string
	walkFields(s, nil, func(path []string, f *Field) bool {
		if strings.ContainsAny(f.Name, specialCharacters) {
			names = append(names, strings.Join(path, "."))
		}
		return true
	})
	return names
}

// checkSchema reports what makes a schema no schema of a table.
func checkSchema(s *Struct, partitionColumns []string, mode MappingMode) error {
	if mode == MappingNone {
		if names := NeedsMapping(s); names != nil {
			return fmt.Errorf("%w: the column names %q hold one of %q, which needs column mapping (%s = name)",
				ErrInvalidCommit, names, specialCharacters, PropColumnMappingMode)
		}
	}
	if err := checkNames(s, "", 0); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, name := range partitionColumns {
		f, at := s.Field(name)
		if at < 0 || f.Name != name {
			return fmt.Errorf("%w: the partition column %q is not in the schema", ErrInvalidCommit, name)
		}
		if seen[name] {
			return fmt.Errorf("%w: the partition column %q is named twice", ErrInvalidCommit, name)
		}
		seen[name] = true
		switch t := f.Type.(type) {
		case *Struct, *Array, *Map:
			return fmt.Errorf("%w: the partition column %q is a %s", ErrInvalidCommit, name, t)
		}
	}
	return nil
}

func checkNames(t Type, at string, depth int) error {
	if depth > maxNesting {
		return fmt.Errorf("%w: column %q is nested more than %d levels", ErrInvalidCommit, at, maxNesting)
	}
	switch t := t.(type) {
	case nil:
		return fmt.Errorf("%w: column %q has no type", ErrInvalidCommit, at)
	case *Struct:
		seen := map[string]string{}
		for _, f := range t.Fields {
			if f.Name == "" {
				return fmt.Errorf("%w: %s has a field without a name", ErrInvalidCommit, place(at))
			}
			lower := strings.ToLower(f.Name)
			if other, ok := seen[lower]; ok {
				return fmt.Errorf("%w: the names %q and %q of %s differ in case only", ErrInvalidCommit, other, f.Name, place(at))
			}
			seen[lower] = f.Name
			if err := checkNames(f.Type, join(at, f.Name), depth+1); err != nil {
				return err
			}
		}
	case *Array:
		return checkNames(t.Element, join(at, "element"), depth+1)
	case *Map:
		if err := checkNames(t.Key, join(at, "key"), depth+1); err != nil {
			return err
		}
		return checkNames(t.Value, join(at, "value"), depth+1)
	case Decimal:
		if t.Precision < 1 || t.Precision > 38 || t.Scale < 0 || t.Scale > t.Precision {
			return fmt.Errorf("%w: column %q: %s is no decimal type", ErrInvalidCommit, at, t)
		}
	}
	return nil
}

// assignMapping gives every field without a column id one above all ids ever
// used, and a physical name that no column ever had.
func assignMapping(m *Metadata, s *Struct) error {
	last, err := strconv.ParseInt(m.Configuration[propMaxColumnID], 10, 32)
	if err != nil {
		last = 0
	}
	walkFields(s, nil, func(_ []string, f *Field) bool {
		if id, ok := f.ColumnID(); ok {
			last = max(last, int64(id))
		}
		return true
	})
	walkFields(s, nil, func(path []string, f *Field) bool {
		if _, ok := f.ColumnID(); !ok {
			last++
			f.Metadata = f.Metadata.With(metaMappingID, last)
		}
		if f.Metadata.Text(metaPhysicalName) == "" {
			f.Metadata = f.Metadata.With(metaPhysicalName, "col-"+uuid.NewString())
		}
		return true
	})
	m.Configuration[propMaxColumnID] = strconv.FormatInt(last, 10)
	return nil
}

// currentProtocol is the protocol as changed so far.
func (tx *Transaction) currentProtocol() *Protocol {
	if tx.protocol != nil {
		return tx.protocol
	}
	return tx.snapshot.protocol
}

func (tx *Transaction) currentMetadata() *Metadata {
	if tx.metadata != nil {
		return tx.metadata
	}
	return tx.snapshot.metadata
}

// Schema is the schema as changed by this transaction. It must not be changed.
func (tx *Transaction) Schema() *Struct {
	if tx.schema != nil {
		return tx.schema
	}
	return tx.snapshot.schema
}

// SetSchema replaces the table's schema, for widened types and changed fields.
// Fields without column mapping metadata get it when the table has mapping;
// features that new types need are added to the protocol. It does not check that
// old files can be read by the new schema.
func (tx *Transaction) SetSchema(s *Struct) error {
	return tx.setMetadata(cloneMetadata(tx.currentMetadata()), s)
}

// AddColumns adds columns at the end. They must be nullable, since old files do
// not have them, and new, ignoring case.
func (tx *Transaction) AddColumns(fields ...Field) error {
	s := tx.Schema().Clone()
	for _, f := range fields {
		if !f.Nullable {
			return fmt.Errorf("%w: the new column %q is not nullable, but existing rows have no value for it", ErrInvalidCommit, f.Name)
		}
		if have, at := s.Field(f.Name); at >= 0 {
			return fmt.Errorf("%w: the table has the column %q already", ErrInvalidCommit, have.Name)
		}
		s.Fields = append(s.Fields, f)
	}
	return tx.SetSchema(s)
}

// SetComment changes the description of a top-level column; "" takes it away.
func (tx *Transaction) SetComment(column, text string) error {
	s := tx.Schema().Clone()
	_, at := s.Field(column)
	if at < 0 {
		return fmt.Errorf("%w: the table has no column %q", ErrInvalidCommit, column)
	}
	s.Fields[at] = s.Fields[at].WithComment(text)
	return tx.SetSchema(s)
}

// SetDescription changes the description of the table.
func (tx *Transaction) SetDescription(text string) error {
	m := cloneMetadata(tx.currentMetadata())
	m.Description = text
	return tx.setMetadata(m, tx.Schema())
}

// SetProperties sets table properties. Features that they need are added to
// the protocol.
func (tx *Transaction) SetProperties(p map[string]string) error {
	m := cloneMetadata(tx.currentMetadata())
	maps.Copy(m.Configuration, p)
	if Properties(p).Bool(PropInCommitTimestamps, false) && !Properties(tx.currentMetadata().Configuration).Bool(PropInCommitTimestamps, false) {
		tx.enablesICT = true
	}
	return tx.setMetadata(m, tx.Schema())
}
