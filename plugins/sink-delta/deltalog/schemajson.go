package deltalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// maxNesting bounds the depth of types that are read: far more than any table
// has, and a hostile schema must not exhaust the stack.
const maxNesting = 100

// ParseSchema reads a schema in Spark's JSON form (Delta protocol: Schema
// Serialization Format). Unknown types are an error that names the column;
// unknown keys are ignored.
func ParseSchema(text string) (*Struct, error) {
	t, err := parseType(json.RawMessage(text), "", 0)
	if err != nil {
		return nil, fmt.Errorf("schema cannot be parsed: %w", err)
	}
	s, ok := t.(*Struct)
	if !ok {
		return nil, fmt.Errorf("schema cannot be parsed: it is a %s, not a struct", t)
	}
	return s, nil
}

type typeJSON struct {
	Type              string          `json:"type"`
	Fields            []fieldJSON     `json:"fields"`
	ElementType       json.RawMessage `json:"elementType"`
	ContainsNull      bool            `json:"containsNull"`
	KeyType           json.RawMessage `json:"keyType"`
	ValueType         json.RawMessage `json:"valueType"`
	ValueContainsNull bool            `json:"valueContainsNull"`
}

type fieldJSON struct {
	Name     *string         `json:"name"`
	Type     json.RawMessage `json:"type"`
	Nullable *bool           `json:"nullable"`
	Metadata FieldMetadata   `json:"metadata"`
}

func parseType(raw json.RawMessage, at string, depth int) (Type, error) {
	if depth > maxNesting {
		return nil, fmt.Errorf("column %q is nested more than %d levels", at, maxNesting)
	}
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return nil, fmt.Errorf("%s has no type", place(at))
	}
	if raw[0] == '"' {
		var name string
		if err := json.Unmarshal(raw, &name); err != nil {
			return nil, fmt.Errorf("%s: %w", place(at), err)
		}
		t, err := ParsePrimitive(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", place(at), err)
		}
		return t, nil
	}
	var j typeJSON
	if err := json.Unmarshal(raw, &j); err != nil {
		return nil, fmt.Errorf("%s: %w", place(at), err)
	}
	switch j.Type {
	case "struct":
		s := &Struct{Fields: make([]Field, 0, len(j.Fields))}
		for i, f := range j.Fields {
			if f.Name == nil {
				return nil, fmt.Errorf("%s: field %d has no name", place(at), i)
			}
			name := join(at, *f.Name)
			t, err := parseType(f.Type, name, depth+1)
			if err != nil {
				return nil, err
			}
			for key, v := range f.Metadata {
				if v == nil {
					f.Metadata[key] = json.RawMessage("null")
				}
			}
			s.Fields = append(s.Fields, Field{
				Name: *f.Name, Type: t, Metadata: f.Metadata,
				Nullable: f.Nullable == nil || *f.Nullable,
			})
		}
		return s, nil
	case "array":
		e, err := parseType(j.ElementType, join(at, "element"), depth+1)
		if err != nil {
			return nil, err
		}
		return &Array{Element: e, ContainsNull: j.ContainsNull}, nil
	case "map":
		k, err := parseType(j.KeyType, join(at, "key"), depth+1)
		if err != nil {
			return nil, err
		}
		v, err := parseType(j.ValueType, join(at, "value"), depth+1)
		if err != nil {
			return nil, err
		}
		return &Map{Key: k, Value: v, ValueContainsNull: j.ValueContainsNull}, nil
	case string(Variant):
		return Variant, nil
	}
	return nil, fmt.Errorf("%s has the unknown type %q", place(at), j.Type)
}

func place(at string) string {
	if at == "" {
		return "the table"
	}
	return "column " + strconv.Quote(at)
}

func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// ParsePrimitive reads the name of a type without parts, such as long or
// decimal(18,2).
func ParsePrimitive(name string) (Type, error) {
	switch p := Primitive(name); p {
	case String, Long, Integer, Short, Byte, Float, Double, Boolean, Binary, Date, Timestamp, TimestampNTZ, Void, Variant:
		return p, nil
	}
	if name == "decimal" {
		return Decimal{10, 0}, nil // Spark's default
	}
	if args, ok := strings.CutPrefix(name, "decimal("); ok && strings.HasSuffix(args, ")") {
		precision, scale, ok := strings.Cut(strings.TrimSuffix(args, ")"), ",")
		p, perr := strconv.Atoi(strings.TrimSpace(precision))
		s, serr := strconv.Atoi(strings.TrimSpace(scale))
		if !ok {
			s, serr = 0, nil
		}
		if perr == nil && serr == nil && p >= 1 && p <= 38 && s >= 0 && s <= p {
			return Decimal{p, s}, nil
		}
	}
	return nil, fmt.Errorf("unknown type %q", name)
}

// FormatSchema writes a schema in Spark's JSON form.
func FormatSchema(s *Struct) (string, error) {
	raw, err := marshal(encodeType(s))
	if err != nil {
		return "", fmt.Errorf("write schema: %w", err)
	}
	return string(raw), nil
}

// The structs below fix the order of keys to the one that Spark writes.
type (
	structOut struct {
		Type   string     `json:"type"`
		Fields []fieldOut `json:"fields"`
	}
	fieldOut struct {
		Name     string        `json:"name"`
		Type     any           `json:"type"`
		Nullable bool          `json:"nullable"`
		Metadata FieldMetadata `json:"metadata"`
	}
	arrayOut struct {
		Type         string `json:"type"`
		ElementType  any    `json:"elementType"`
		ContainsNull bool   `json:"containsNull"`
	}
	mapOut struct {
		Type              string `json:"type"`
		KeyType           any    `json:"keyType"`
		ValueType         any    `json:"valueType"`
		ValueContainsNull bool   `json:"valueContainsNull"`
	}
)

func encodeType(t Type) any {
	switch t := t.(type) {
	case *Struct:
		out := structOut{Type: "struct", Fields: make([]fieldOut, len(t.Fields))}
		for i, f := range t.Fields {
			m := f.Metadata
			if m == nil {
				m = FieldMetadata{}
			}
			out.Fields[i] = fieldOut{Name: f.Name, Type: encodeType(f.Type), Nullable: f.Nullable, Metadata: m}
		}
		return out
	case *Array:
		return arrayOut{"array", encodeType(t.Element), t.ContainsNull}
	case *Map:
		return mapOut{"map", encodeType(t.Key), encodeType(t.Value), t.ValueContainsNull}
	default:
		return t.String()
	}
}
