package dsl

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/pipectl/pipectl/core/addr"
)

// demands are what the expressions of a configuration read, by where it comes
// from. An attribute of a for_each row has no declared type, so this is what it
// is held against. They are found in the text: every expression is followed down
// to the locals, variables and rows that its result is made of, through what
// leaves names as they are, such as merge, try, conditions and for.
type demands struct {
	decl *declarations
	of   map[any][]demand
	// objects are the object constructors that were met.
	objects map[*hclsyntax.ObjectConsExpr]object
	// left bounds the steps; below 0 not everything was followed.
	left int
}

// demand is one path below what something comes from, and what becomes of the
// value there.
type demand struct {
	path []string
	use  use
}

// Steps of a path that are no names: any of the members, as an expression
// chooses, and every one of them.
const (
	someStep  = "\x00some"
	everyStep = "\x00every"
)

// use says what becomes of a value that is read.
type use struct {
	how how
	// at is the expression that hides what it looks at.
	at hcl.Range
}

type how int

const (
	// looked: only whether it is there matters.
	looked how = iota
	// listed: its names go into an argument.
	listed
	// named: its names are looked at, which of them the text does not show.
	named
	// opaque: something looks at it in a way that the text does not show.
	opaque
	// taken: it goes into an argument as it is, which knows its own names.
	taken
	// traced: nothing becomes of it; only where it comes from is asked.
	traced
)

// Bounds of what is followed, far above what a configuration of thousands of
// blocks needs.
const (
	mostSteps   = 1_000_000
	longestPath = 30
)

func newDemands(decl *declarations) *demands {
	d := &demands{decl: decl, of: map[any][]demand{}, objects: map[*hclsyntax.ObjectConsExpr]object{}, left: mostSteps}
	r := &reader{demands: d, found: d.record}
	for _, name := range decl.localOrder {
		r.read(decl.locals[name].Expr, nil, use{how: looked}, nil)
	}
	for _, b := range decl.variables {
		for _, nested := range b.Body.Blocks {
			r.body(nested.Body, use{how: opaque, at: nested.DefRange()})
		}
	}
	if decl.pipectl != nil {
		r.body(decl.pipectl.Body, use{how: taken})
	}
	for _, kind := range addr.Kinds() {
		for _, b := range decl.blocks[kind] {
			r.block(b, decl.defaults[kind])
		}
	}
	return d
}

// record adds a demand; false when it was known. Of several expressions that use
// a value in one way the first is told.
func (d *demands) record(root any, path []string, u use) bool {
	for _, other := range d.of[root] {
		if other.use.how == u.how && slices.Equal(other.path, path) {
			return false
		}
	}
	d.of[root] = append(d.of[root], demand{slices.Clone(path), u})
	return true
}

// hidden is the use of what an expression looks at in its own way.
func hidden(by hclsyntax.Expression) use { return use{how: opaque, at: by.Range()} }

// by is the use with the place of an expression that may choose among members.
func (u use) by(expr hclsyntax.Expression) use {
	if u.at.Filename == "" {
		u.at = expr.Range()
	}
	return u
}

// names is the use of a value whose names alone go where u says.
func (u use) names(at hcl.Range) use {
	switch u.how {
	case looked:
		return u
	case taken, listed:
		return use{how: listed}
	}
	return use{how: named, at: at}
}

// below is the use of the members of a value that is used as u: the names alone
// say nothing of them.
func (u use) below(path []string) use {
	if len(path) == 0 && (u.how == listed || u.how == named) {
		return use{how: looked}
	}
	return u
}
