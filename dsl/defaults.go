package dsl

import (
	"fmt"
	"slices"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/nearest"
)

// checkDefaults reports what a defaults block says that no block of its kind
// could take. Its values are evaluated in each block that lacks them.
func (ev *evaluator) checkDefaults(kind addr.Kind) {
	b, ok := ev.files.decl.defaults[kind]
	if !ok {
		return
	}
	bt := kindArguments(kind)
	attributes, blocks, complete := ev.defaultNames(kind, bt)
	for _, name := range attributeOrder(b.Body) {
		a := b.Body.Attributes[name]
		arg, core := bt.argument(name)
		switch {
		case name == "for_each":
			ev.report.error(b.in(a.SrcRange), codeArgumentUnknown, "for_each has no default", "Write it into each block that repeats.")
		case core && arg.Later:
			ev.report.error(b.in(a.SrcRange), codeNotBuilt, fmt.Sprintf("%s is not built yet", name), "The word is reserved for a later release. Remove it.")
		case slices.Contains(attributes, name):
		case slices.Contains(blocks, name):
			ev.report.error(b.in(a.SrcRange), codeArgumentType, fmt.Sprintf("%s is a block, not an argument", name), fmt.Sprintf("Write it without the equals sign: %s { ... }", name))
		case complete:
			ev.report.error(b.in(a.SrcRange), codeArgumentUnknown, fmt.Sprintf("No argument named %q in a %s block", name, kind),
				sentences("It has: "+diag.Listed(attributes)+".", nearest.DidYouMean(name, "", attributes)))
		}
	}
	for _, nested := range b.Body.Blocks {
		arg, core := bt.argument(nested.Type)
		switch {
		case core && arg.Later:
			ev.report.error(b.in(nested.DefRange()), codeNotBuilt, fmt.Sprintf("%s is not built yet", nested.Type), "The word is reserved for a later release. Remove it.")
		case slices.Contains(blocks, nested.Type):
		case slices.Contains(attributes, nested.Type):
			ev.report.error(b.in(nested.DefRange()), codeArgumentType, fmt.Sprintf("%s is an argument, not a block", nested.Type), fmt.Sprintf("Write it with an equals sign: %s = ...", nested.Type))
		case complete:
			ev.report.error(b.in(nested.DefRange()), codeBlockUnknown, fmt.Sprintf("No block named %q in a %s block", nested.Type, kind),
				sentences("It has: "+diag.Listed(slices.Concat(attributes, blocks))+".", nearest.DidYouMean(nested.Type, "", blocks)))
		}
	}
}

// defaultNames lists what blocks of the kind may hold. complete is false when
// no plugin of the kind could be asked.
func (ev *evaluator) defaultNames(kind addr.Kind, bt BlockType) (attributes, blocks []string, complete bool) {
	for _, a := range bt.Arguments {
		switch {
		case a.Later || a.Name == "for_each":
		case a.Block:
			blocks = append(blocks, a.Name)
		default:
			attributes = append(attributes, a.Name)
		}
	}
	role := kind
	switch kind {
	case addr.Table:
		role = addr.Source
	case addr.Stream:
		return attributes, blocks, true
	}
	for _, typ := range ev.offers.types(role) {
		for _, c := range ev.offers[role][typ] {
			body := c.body()
			if kind == addr.Table {
				body = c.Object
			}
			for _, a := range body.Attributes {
				attributes = append(attributes, a.Name)
			}
			for _, nested := range body.Blocks {
				blocks = append(blocks, nested.Name)
			}
			complete = true
		}
	}
	return attributes, blocks, complete
}
