package sdk

import (
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/gocty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/schema"
)

// SchemaBuilder builds the schema of a block body argument by argument:
//
//	sdk.NewSchema("How to reach the database.").
//		Attribute("host", cty.String, "Name or address.", sdk.Required()).
//		Attribute("password", cty.String, "Of the user.", sdk.Sensitive()).
//		Attribute("encrypt", cty.String, "Of the connection.", sdk.OneOf("true", "false", "strict"), sdk.Default(cty.StringVal("true"))).
//		Body()
type SchemaBuilder struct{ body schema.Body }

// NewSchema starts a body with its description.
func NewSchema(description string) *SchemaBuilder {
	return &SchemaBuilder{body: schema.Body{Description: description}}
}

// AttributeOption says more of an argument.
type AttributeOption func(*schema.Attribute)

// Required arguments must be written.
func Required() AttributeOption { return func(a *schema.Attribute) { a.Required = true } }

// Sensitive arguments are never written to a plan, state, log or message.
func Sensitive() AttributeOption { return func(a *schema.Attribute) { a.Sensitive = true } }

// Default is the value of an argument that is left out; it has the argument's type.
func Default(v cty.Value) AttributeOption { return func(a *schema.Attribute) { a.Default = v } }

// OneOf lists the only strings that are allowed.
func OneOf(values ...string) AttributeOption {
	return func(a *schema.Attribute) { a.Values = values }
}

// Deprecated says what to use instead.
func Deprecated(instead string) AttributeOption {
	return func(a *schema.Attribute) { a.Deprecated = instead }
}

// Attribute adds an argument.
func (b *SchemaBuilder) Attribute(name string, t cty.Type, description string, options ...AttributeOption) *SchemaBuilder {
	a := schema.Attribute{Name: name, Type: t, Description: description}
	for _, o := range options {
		o(&a)
	}
	b.body.Attributes = append(b.body.Attributes, a)
	return b
}

// Block adds a block that may stand once.
func (b *SchemaBuilder) Block(name string, body schema.Body) *SchemaBuilder {
	return b.add(schema.Block{Name: name, Description: body.Description, Body: body})
}

// Blocks adds a block that may stand any number of times: a list.
func (b *SchemaBuilder) Blocks(name string, body schema.Body) *SchemaBuilder {
	return b.add(schema.Block{Name: name, Description: body.Description, Body: body, Repeated: true})
}

// LabeledBlocks adds a block with one label that may stand any number of
// times: a map.
func (b *SchemaBuilder) LabeledBlocks(name string, body schema.Body) *SchemaBuilder {
	return b.add(schema.Block{Name: name, Description: body.Description, Body: body, Repeated: true, Labeled: true})
}

func (b *SchemaBuilder) add(block schema.Block) *SchemaBuilder {
	b.body.Blocks = append(b.body.Blocks, block)
	return b
}

// Body is the schema built so far.
func (b *SchemaBuilder) Body() schema.Body { return b.body }

// Int reads a whole number from a body that was decoded against the plugin's
// schema. A value that is none, or is null, is an error that points at the
// argument.
func Int(body cty.Value, name string) (int64, error) {
	var n int64
	if err := gocty.FromCtyValue(body.GetAttr(name), &n); err != nil {
		return 0, diag.Errorf(diag.KindConfiguration, "argument.value", "", "%s is a whole number: %v", name, err).At(name).Err()
	}
	return n, nil
}
