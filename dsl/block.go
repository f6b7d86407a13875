package dsl

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/nearest"
)

// block is one top-level block whose header has been understood.
type block struct {
	*hclsyntax.Block
	// typ and name are the labels; either may be "".
	typ, name string
}

// header is how messages call the block: table "orders".
func (b block) header() string {
	parts := []string{b.Type}
	for _, l := range b.Labels {
		parts = append(parts, fmt.Sprintf("%q", l))
	}
	return strings.Join(parts, " ")
}

// address is the address of the block; only blocks of the kinds have one.
func (b block) address() addr.Address {
	kind := addr.Kind(b.Type)
	if b.name == "" || !isKind(b.Type) {
		return addr.Address{}
	}
	return addr.New(kind, b.name)
}

// at is the place of the block's header.
func (b block) at() place {
	return place{rng: b.DefRange(), header: b.header(), address: b.address()}
}

// in is a place inside the block.
func (b block) in(rng hcl.Range) place {
	return place{rng: rng, header: b.header(), address: b.address()}
}

func isKind(name string) bool {
	for _, k := range addr.Kinds() {
		if string(k) == name {
			return true
		}
	}
	return false
}

// declarations are the blocks of a configuration, by what they are.
type declarations struct {
	pipectl   *block
	variables map[string]block
	// variableOrder and localOrder keep the order of the text.
	variableOrder []string
	locals        map[string]*hclsyntax.Attribute
	localOrder    []string
	defaults      map[addr.Kind]block
	blocks        map[addr.Kind][]block
	byName        map[addr.Kind]map[string]block
}

func newDeclarations() *declarations {
	d := &declarations{variables: map[string]block{}, locals: map[string]*hclsyntax.Attribute{},
		defaults: map[addr.Kind]block{}, blocks: map[addr.Kind][]block{}, byName: map[addr.Kind]map[string]block{}}
	for _, k := range addr.Kinds() {
		d.byName[k] = map[string]block{}
	}
	return d
}

// names lists the declared blocks of a kind, sorted.
func (d *declarations) names(kind addr.Kind) []string { return sortedKeys(d.byName[kind]) }

// declare sorts the contents of one file into d.
func (d *declarations) declare(body *hclsyntax.Body, r *report) {
	for _, a := range body.Attributes {
		r.error(place{rng: a.SrcRange}, codeArgumentUnknown, fmt.Sprintf("Argument %q stands outside of any block", a.Name),
			"Named values belong into locals { ... }, values from outside into variable blocks.")
	}
	for _, syntax := range body.Blocks {
		d.declareBlock(block{Block: syntax}, r)
	}
}

func (d *declarations) declareBlock(b block, r *report) {
	bt, known := blockType(b.Type)
	if !known {
		var names []string
		for _, t := range blockTypes {
			if !t.Later {
				names = append(names, t.Name)
			}
		}
		r.error(place{rng: b.TypeRange}, codeBlockUnknown, fmt.Sprintf("No kind of block named %q", b.Type),
			sentences("The kinds are "+strings.Join(names, ", ")+".", nearest.DidYouMean(b.Type, "", names)))
		return
	}
	if bt.Later {
		r.error(b.at(), codeNotBuilt, fmt.Sprintf("The block %q is not built yet", b.Type), "The word is reserved for a later release. Remove the block.")
		return
	}
	if len(b.Labels) != len(bt.Labels) {
		want := b.Type
		for _, l := range bt.Labels {
			want += " " + fmt.Sprintf("%q", l)
		}
		r.error(place{rng: b.DefRange()}, codeBlockLabels, fmt.Sprintf("A %s block has %s, not %d", b.Type, count(len(bt.Labels), "label"), len(b.Labels)),
			"Write it as: "+want+" { ... }")
		if bt.Name == "pipectl" && d.pipectl == nil {
			d.pipectl = &b // without it nothing else could be understood
		}
		return
	}
	if n := len(b.Labels); n > 0 {
		b.name = b.Labels[n-1]
		if n > 1 {
			b.typ = b.Labels[0]
		}
		if !addr.ValidName(b.name) {
			r.error(b.in(b.LabelRanges[n-1]), codeBlockName, fmt.Sprintf("The name %q cannot be used in a reference", b.name),
				"A name is a letter or an underscore, then letters, digits, underscores and hyphens.")
			return
		}
	}
	switch b.Type {
	case "pipectl":
		if d.pipectl != nil {
			duplicate(r, b, *d.pipectl)
			return
		}
		d.pipectl = &b
	case "variable":
		if first, ok := d.variables[b.name]; ok {
			duplicate(r, b, first)
			return
		}
		d.variables[b.name] = b
		d.variableOrder = append(d.variableOrder, b.name)
	case "locals":
		for _, nested := range b.Body.Blocks {
			r.error(b.in(nested.DefRange()), codeBlockUnknown, fmt.Sprintf("Block %q cannot stand in locals", nested.Type),
				fmt.Sprintf("A local is an argument: %s = { ... }", nested.Type))
		}
		for _, name := range attributeOrder(b.Body) {
			a := b.Body.Attributes[name]
			if first, ok := d.locals[name]; ok {
				r.error(b.in(a.NameRange), codeBlockDuplicate, fmt.Sprintf("The local %q is declared twice", name),
					"The first one is in "+whereIs(first.SrcRange)+". Rename or remove one of them.")
				continue
			}
			d.locals[name] = a
			d.localOrder = append(d.localOrder, name)
		}
	case "defaults":
		d.declareDefaults(b, r)
	default:
		kind := addr.Kind(b.Type)
		if first, ok := d.byName[kind][b.name]; ok {
			duplicate(r, b, first)
			return
		}
		d.byName[kind][b.name] = b
		d.blocks[kind] = append(d.blocks[kind], b)
	}
}

func (d *declarations) declareDefaults(b block, r *report) {
	if !isKind(b.name) {
		r.error(b.in(b.LabelRanges[0]), codeBlockUnknown, fmt.Sprintf("No kind of block named %q has defaults", b.name),
			sentences("defaults exist for source, sink, table, stream, silver and check.",
				nearest.DidYouMean(b.name, "", []string{"source", "sink", "table", "stream", "silver", "check"})))
		return
	}
	kind := addr.Kind(b.name)
	if kind == addr.Schedule {
		r.error(b.at(), codeNotBuilt, `The block "schedule" is not built yet`, "The word is reserved for a later release. Remove the defaults.")
		return
	}
	if first, ok := d.defaults[kind]; ok {
		duplicate(r, b, first)
		return
	}
	d.defaults[kind] = b
}

func duplicate(r *report, b, first block) {
	what := b.Type + " block"
	if b.name != "" {
		what = fmt.Sprintf("%s named %q", b.Type, b.name)
	}
	where, advice := first.DefRange(), ". Rename or remove one of them."
	if here := b.DefRange(); here.Filename != where.Filename {
		advice = ". The files of a folder are one configuration: rename or remove one of the two, or name the file that you mean behind the command."
	}
	r.error(b.at(), codeBlockDuplicate, "A second "+what, "The first one is in "+whereIs(where)+advice)
}

func whereIs(rng hcl.Range) string { return fmt.Sprintf("%s line %d", rng.Filename, rng.Start.Line) }

func count(n int, noun string) string {
	switch n {
	case 0:
		return "no " + noun
	case 1:
		return "one " + noun
	case 2:
		return "two " + noun + "s"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
