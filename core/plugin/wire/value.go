package wire

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"github.com/zclconf/go-cty/cty/msgpack"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/rows"
	pb "github.com/pipectl/pipectl/core/proto/pipectl/plugin/v1"
	"github.com/pipectl/pipectl/core/schema"
)

// valueToProto encodes a value with its type. Marks must be gone: a sensitive
// value crosses as a plain one, and only its owner decides that.
func valueToProto(v cty.Value) (*pb.Value, error) {
	if v == cty.NilVal {
		return nil, nil
	}
	if v.ContainsMarked() {
		return nil, fmt.Errorf("encoding a value for a plugin: marks were not taken off")
	}
	data, err := msgpack.Marshal(v, cty.DynamicPseudoType)
	if err != nil {
		return nil, fmt.Errorf("encoding a value for a plugin: %w", err)
	}
	return &pb.Value{Msgpack: data}, nil
}

func valueFromProto(v *pb.Value) (cty.Value, error) {
	if v == nil {
		return cty.NilVal, nil
	}
	out, err := msgpack.Unmarshal(v.Msgpack, cty.DynamicPseudoType)
	if err != nil {
		return cty.NilVal, fmt.Errorf("decoding a value: %w", err)
	}
	return out, nil
}

func bodyToProto(b schema.Body) (*pb.Body, error) {
	out := &pb.Body{Description: b.Description}
	for _, a := range b.Attributes {
		t, err := ctyjson.MarshalType(a.Type)
		if err != nil {
			return nil, fmt.Errorf("encoding the type of argument %q: %w", a.Name, err)
		}
		standard, err := valueToProto(a.Default)
		if err != nil {
			return nil, fmt.Errorf("encoding the default of argument %q: %w", a.Name, err)
		}
		out.Attributes = append(out.Attributes, &pb.Body_Attribute{
			Name: a.Name, Type: t, Description: a.Description, Required: a.Required, Sensitive: a.Sensitive,
			Default: standard, Values: a.Values, Deprecated: a.Deprecated,
		})
	}
	for _, nested := range b.Blocks {
		body, err := bodyToProto(nested.Body)
		if err != nil {
			return nil, fmt.Errorf("block %q: %w", nested.Name, err)
		}
		out.Blocks = append(out.Blocks, &pb.Body_Block{
			Name: nested.Name, Description: nested.Description, Body: body, Repeated: nested.Repeated, Labeled: nested.Labeled,
		})
	}
	return out, nil
}

// maxNesting bounds the depth of nested blocks that a description may have.
const maxNesting = 16

func bodyFromProto(b *pb.Body, depth int) (schema.Body, error) {
	out := schema.Body{Description: b.GetDescription()}
	if depth > maxNesting {
		return out, fmt.Errorf("blocks are nested more than %d deep", maxNesting)
	}
	for _, a := range b.GetAttributes() {
		t, err := ctyjson.UnmarshalType(a.Type)
		if err != nil {
			return out, fmt.Errorf("decoding the type of argument %q: %w", a.Name, err)
		}
		standard, err := valueFromProto(a.Default)
		if err != nil {
			return out, fmt.Errorf("decoding the default of argument %q: %w", a.Name, err)
		}
		out.Attributes = append(out.Attributes, schema.Attribute{
			Name: a.Name, Type: t, Description: a.Description, Required: a.Required, Sensitive: a.Sensitive,
			Default: standard, Values: a.Values, Deprecated: a.Deprecated,
		})
	}
	for _, nested := range b.GetBlocks() {
		body, err := bodyFromProto(nested.Body, depth+1)
		if err != nil {
			return out, fmt.Errorf("block %q: %w", nested.Name, err)
		}
		out.Blocks = append(out.Blocks, schema.Block{
			Name: nested.Name, Description: nested.Description, Body: body, Repeated: nested.Repeated, Labeled: nested.Labeled,
		})
	}
	return out, nil
}

// schemaToProto encodes an Arrow schema; nil becomes nothing.
func schemaToProto(s *arrow.Schema) []byte {
	if s == nil {
		return nil
	}
	return rows.EncodeSchema(s)
}

func schemaFromProto(data []byte) (*arrow.Schema, error) {
	if len(data) == 0 {
		return nil, nil
	}
	return rows.DecodeSchema(data)
}

// typeToProto encodes one Arrow type as a schema with one field.
func typeToProto(t arrow.DataType) []byte {
	if t == nil {
		return nil
	}
	return rows.EncodeSchema(arrow.NewSchema([]arrow.Field{{Name: "type", Type: t, Nullable: true}}, nil))
}

func typeFromProto(data []byte) (arrow.DataType, error) {
	s, err := rows.DecodeSchema(data)
	if err != nil {
		return nil, err
	}
	if s.NumFields() != 1 {
		return nil, fmt.Errorf("a type is a schema of one field, not of %d", s.NumFields())
	}
	return s.Field(0).Type, nil
}

func positionToProto(p plugin.Position) *pb.Position {
	if p == (plugin.Position{}) {
		return nil
	}
	out := &pb.Position{Text: p.Text}
	if p.HasCommit {
		out.CommitUs = &p.CommitMicros
	}
	return out
}

func positionFromProto(p *pb.Position) plugin.Position {
	out := plugin.Position{Text: p.GetText()}
	if p != nil && p.CommitUs != nil {
		out.CommitMicros, out.HasCommit = *p.CommitUs, true
	}
	return out
}

// columnsToProto keeps nil (all) apart from an empty list.
func columnsToProto(names []string) *pb.Columns {
	if names == nil {
		return nil
	}
	return &pb.Columns{Names: names}
}

func columnsFromProto(c *pb.Columns) []string {
	if c == nil {
		return nil
	}
	if c.Names == nil {
		return []string{}
	}
	return c.Names
}

func literalToProto(l plugin.Literal) (*pb.Literal, error) {
	switch l.Type {
	case plugin.LiteralBool:
		return &pb.Literal{Value: &pb.Literal_Bool{Bool: l.Bool}}, nil
	case plugin.LiteralInt:
		return &pb.Literal{Value: &pb.Literal_Int{Int: l.Int}}, nil
	case plugin.LiteralFloat:
		return &pb.Literal{Value: &pb.Literal_Float{Float: l.Float}}, nil
	case plugin.LiteralDecimal:
		return &pb.Literal{Value: &pb.Literal_Decimal{Decimal: l.Text}}, nil
	case plugin.LiteralString:
		return &pb.Literal{Value: &pb.Literal_String_{String_: l.Text}}, nil
	case plugin.LiteralBinary:
		return &pb.Literal{Value: &pb.Literal_Binary{Binary: l.Bytes}}, nil
	case plugin.LiteralDate:
		return &pb.Literal{Value: &pb.Literal_Date{Date: l.Int}}, nil
	case plugin.LiteralTimestamp:
		return &pb.Literal{Value: &pb.Literal_Timestamp{Timestamp: l.Int}}, nil
	case plugin.LiteralTimestampNTZ:
		return &pb.Literal{Value: &pb.Literal_TimestampNtz{TimestampNtz: l.Int}}, nil
	}
	return nil, fmt.Errorf("there is no literal type %q", l.Type)
}

func literalFromProto(l *pb.Literal) (plugin.Literal, error) {
	switch v := l.GetValue().(type) {
	case *pb.Literal_Bool:
		return plugin.Literal{Type: plugin.LiteralBool, Bool: v.Bool}, nil
	case *pb.Literal_Int:
		return plugin.Literal{Type: plugin.LiteralInt, Int: v.Int}, nil
	case *pb.Literal_Float:
		return plugin.Literal{Type: plugin.LiteralFloat, Float: v.Float}, nil
	case *pb.Literal_Decimal:
		return plugin.Literal{Type: plugin.LiteralDecimal, Text: v.Decimal}, nil
	case *pb.Literal_String_:
		return plugin.Literal{Type: plugin.LiteralString, Text: v.String_}, nil
	case *pb.Literal_Binary:
		return plugin.Literal{Type: plugin.LiteralBinary, Bytes: v.Binary}, nil
	case *pb.Literal_Date:
		return plugin.Literal{Type: plugin.LiteralDate, Int: v.Date}, nil
	case *pb.Literal_Timestamp:
		return plugin.Literal{Type: plugin.LiteralTimestamp, Int: v.Timestamp}, nil
	case *pb.Literal_TimestampNtz:
		return plugin.Literal{Type: plugin.LiteralTimestampNTZ, Int: v.TimestampNtz}, nil
	}
	return plugin.Literal{}, fmt.Errorf("this version knows no literal such as %v", l)
}
