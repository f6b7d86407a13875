package dsl

import (
	"cmp"
	"slices"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/schema"
)

// Schemas says what the declared plugins offer.
type Schemas interface {
	// Components lists every component of every plugin that the configuration
	// declares, in any order.
	Components() []Component
}

// Component is one thing that a declared plugin offers.
type Component struct {
	// Plugin is the plugin's name in required_plugins.
	Plugin string
	// PluginVersion is the plugin's own version, "" when it is not known.
	PluginVersion string
	// Role is addr.Source, addr.Sink, addr.Silver or addr.Check.
	Role addr.Kind
	// Type is the first label of the blocks it rules: "mssql".
	Type string
	// Connection is the body of a source or sink block.
	Connection schema.Body
	// Object is the plugin-ruled body of a table (for a source), of a silver
	// or of a check block.
	Object schema.Body
	// Read is the body of the read block of a stream (for a source).
	Read schema.Body
}

// Components is the simplest Schemas: a list.
type Components []Component

// Components returns the list itself.
func (c Components) Components() []Component { return c }

// body is the schema of the component's own block.
func (c Component) body() schema.Body {
	if c.Role == addr.Source || c.Role == addr.Sink {
		return c.Connection
	}
	return c.Object
}

// offers indexes components by role and type.
type offers map[addr.Kind]map[string][]Component

func newOffers(list []Component) offers {
	o := offers{}
	for _, c := range list {
		if o[c.Role] == nil {
			o[c.Role] = map[string][]Component{}
		}
		o[c.Role][c.Type] = append(o[c.Role][c.Type], c)
	}
	for _, types := range o {
		for _, cs := range types {
			slices.SortFunc(cs, func(a, b Component) int { return cmp.Compare(a.Plugin, b.Plugin) })
		}
	}
	return o
}

// types lists the types that a role has, sorted.
func (o offers) types(role addr.Kind) []string { return sortedKeys(o[role]) }
