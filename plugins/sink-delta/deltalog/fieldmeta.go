package deltalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
)

// FieldMetadata is the metadata of a field: JSON values by key, never changed
// in place.
type FieldMetadata map[string]json.RawMessage

// Keys of field metadata (Delta protocol: Column Metadata).
const (
	metaComment      = "comment"
	metaMappingID    = "delta.columnMapping.id"
	metaPhysicalName = "delta.columnMapping.physicalName"
	metaTypeChanges  = "delta.typeChanges"
	metaInvariants   = "delta.invariants"
	metaGeneration   = "delta.generationExpression"
	metaDefault      = "CURRENT_DEFAULT"
	metaIdentity     = "delta.identity."
)

// With returns a copy that holds value under key.
func (m FieldMetadata) With(key string, value any) FieldMetadata {
	raw, err := marshal(value)
	if err != nil {
		panic(fmt.Sprintf("deltalog: field metadata %s: %v", key, err)) // only for values that no JSON can hold
	}
	c := maps.Clone(m)
	if c == nil {
		c = FieldMetadata{}
	}
	c[key] = raw
	return c
}

// Without returns a copy that has no value under key.
func (m FieldMetadata) Without(key string) FieldMetadata {
	if _, ok := m[key]; !ok {
		return m
	}
	c := maps.Clone(m)
	delete(c, key)
	return c
}

// Text returns the string under key, "" when there is none.
func (m FieldMetadata) Text(key string) string {
	var s string
	if raw, ok := m[key]; ok && json.Unmarshal(raw, &s) == nil {
		return s
	}
	return ""
}

func (m FieldMetadata) equal(o FieldMetadata) bool {
	return maps.EqualFunc(m, o, func(a, b json.RawMessage) bool { return bytes.Equal(compact(a), compact(b)) })
}

func compact(raw json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// Comment is the column's description.
func (f Field) Comment() string { return f.Metadata.Text(metaComment) }

// WithComment returns the field with another description; "" takes it away.
func (f Field) WithComment(text string) Field {
	if text == "" {
		f.Metadata = f.Metadata.Without(metaComment)
	} else {
		f.Metadata = f.Metadata.With(metaComment, text)
	}
	return f
}

// PhysicalName is the name that the column has in data files, statistics and
// partition values: the one that column mapping gave it, else its display name.
func (f Field) PhysicalName() string {
	if name := f.Metadata.Text(metaPhysicalName); name != "" {
		return name
	}
	return f.Name
}

// ColumnID is the id that column mapping gave the field, which is also its
// Parquet field id.
func (f Field) ColumnID() (id int32, ok bool) {
	raw, ok := f.Metadata[metaMappingID]
	if !ok || json.Unmarshal(raw, &id) != nil {
		return 0, false
	}
	return id, true
}

// TypeChange is one widening that a column went through (Delta protocol: Type
// Change Metadata). Types are Delta type names; FieldPath is empty, or leads to
// the element, key or value that changed.
type TypeChange struct {
	ToType    string `json:"toType"`
	FromType  string `json:"fromType"`
	FieldPath string `json:"fieldPath,omitempty"`
}

// TypeChanges are the widenings of the column, oldest first.
func (f Field) TypeChanges() ([]TypeChange, error) {
	raw, ok := f.Metadata[metaTypeChanges]
	if !ok {
		return nil, nil
	}
	var changes []TypeChange
	if err := json.Unmarshal(raw, &changes); err != nil {
		return nil, fmt.Errorf("column %q: %s: %w", f.Name, metaTypeChanges, err)
	}
	return changes, nil
}
