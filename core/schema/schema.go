// Package schema is the shape of a block body that a plugin rules: attribute
// names, cty types and flags. The language decodes HCL against it; it knows
// no HCL and no plugin.
package schema

import (
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"
)

// Body describes the arguments and nested blocks of one block body.
type Body struct {
	Description string
	Attributes  []Attribute
	Blocks      []Block
}

// Attribute is one argument.
type Attribute struct {
	Name        string
	Type        cty.Type
	Description string
	Required    bool
	// Sensitive values are never written to a plan, state, log or message.
	Sensitive bool
	// Default is used when the argument is left out; cty.NilVal is null.
	Default cty.Value
	// Values lists the allowed strings, when only these are allowed.
	Values []string
	// Deprecated, when not "", says what to use instead.
	Deprecated string
}

// Block is a nested block that may stand at most once (Repeated false) or any
// number of times.
type Block struct {
	Name        string
	Description string
	Body        Body
	Repeated    bool
	// Labeled blocks carry one label, the key of a map.
	Labeled bool
}

// ImpliedType is the object type that a value of the body has: every
// attribute of its type, every block as an object, a list of objects
// (Repeated) or a map of objects (Labeled).
func (b Body) ImpliedType() cty.Type {
	attrs := map[string]cty.Type{}
	for _, a := range b.Attributes {
		attrs[a.Name] = a.Type
	}
	for _, nb := range b.Blocks {
		t := nb.Body.ImpliedType()
		switch {
		case nb.Labeled:
			t = cty.Map(t)
		case nb.Repeated:
			t = cty.List(t)
		}
		attrs[nb.Name] = t
	}
	return cty.Object(attrs)
}

// EmptyValue is the value of a body in which nothing was written: defaults
// where there are any, nulls elsewhere.
func (b Body) EmptyValue() cty.Value {
	attrs := map[string]cty.Value{}
	for _, a := range b.Attributes {
		attrs[a.Name] = cty.NullVal(a.Type)
		if a.Default != cty.NilVal {
			attrs[a.Name] = a.Default
		}
	}
	for _, nb := range b.Blocks {
		t := nb.Body.ImpliedType()
		switch {
		case nb.Labeled:
			attrs[nb.Name] = cty.MapValEmpty(t)
		case nb.Repeated:
			attrs[nb.Name] = cty.ListValEmpty(t)
		default:
			attrs[nb.Name] = cty.NullVal(t)
		}
	}
	return cty.ObjectVal(attrs)
}

// Attribute returns the named attribute.
func (b Body) Attribute(name string) (Attribute, bool) {
	for _, a := range b.Attributes {
		if a.Name == name {
			return a, true
		}
	}
	return Attribute{}, false
}

// Names lists all attribute and block names, sorted.
func (b Body) Names() []string {
	var names []string
	for _, a := range b.Attributes {
		names = append(names, a.Name)
	}
	for _, nb := range b.Blocks {
		names = append(names, nb.Name)
	}
	slices.Sort(names)
	return names
}

// Check reports a schema that cannot be used: a name twice, a name that is
// reserved, a missing type, or a default of another type. The core calls it
// on what a plugin's Describe returned.
func (b Body) Check(reserved []string) error {
	seen := map[string]bool{}
	use := func(name string) error {
		switch {
		case name == "":
			return fmt.Errorf("a schema has an argument without a name")
		case seen[name]:
			return fmt.Errorf("a schema names %q twice", name)
		case slices.Contains(reserved, name):
			return fmt.Errorf("the name %q is reserved for the core language", name)
		}
		seen[name] = true
		return nil
	}
	for _, a := range b.Attributes {
		if err := use(a.Name); err != nil {
			return err
		}
		if a.Type == cty.NilType {
			return fmt.Errorf("argument %q has no type", a.Name)
		}
		if a.Default != cty.NilVal && !a.Default.Type().Equals(a.Type) {
			return fmt.Errorf("the default of %q is %s, not %s", a.Name, a.Default.Type().FriendlyName(), a.Type.FriendlyName())
		}
	}
	for _, nb := range b.Blocks {
		if err := use(nb.Name); err != nil {
			return err
		}
		if err := nb.Body.Check(nil); err != nil {
			return fmt.Errorf("block %q: %w", nb.Name, err)
		}
	}
	return nil
}
