package deltalog

import (
	"fmt"
	"strings"
)

// Op is how a comparison compares.
type Op uint8

// The comparisons. All but OpIsNull and OpIsNotNull are never true for NULL.
const (
	OpEq Op = iota + 1
	OpNe
	OpLt
	OpLe
	OpGt
	OpGe
	OpIn
	OpIsNull
	OpIsNotNull
)

var opText = map[Op]string{
	OpEq: "=", OpNe: "<>", OpLt: "<", OpLe: "<=", OpGt: ">", OpGe: ">=",
	OpIn: "in", OpIsNull: "is null", OpIsNotNull: "is not null",
}

func (o Op) String() string { return opText[o] }

// Comparison compares a top-level column with literals: one for most
// operators, any number for OpIn, none for the null tests.
type Comparison struct {
	// Column is a display name.
	Column string
	Op     Op
	Values []Value
}

func (c Comparison) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", c.Column, c.Op)
	switch {
	case c.Op == OpIn:
		b.WriteString(" (")
		for i, v := range c.Values {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(v.String())
		}
		b.WriteByte(')')
	case len(c.Values) == 1:
		b.WriteByte(' ')
		b.WriteString(c.Values[0].String())
	}
	return b.String()
}

// Clause is true when all of its comparisons are; an empty one is true.
type Clause []Comparison

// Predicate is true when any of its clauses is. The zero Predicate is true of
// every row: it restricts nothing.
type Predicate []Clause

// Where is a predicate of one clause.
func Where(all ...Comparison) Predicate { return Predicate{all} }

func (p Predicate) String() string {
	if len(p) == 0 {
		return "true"
	}
	var b strings.Builder
	for i, clause := range p {
		if i > 0 {
			b.WriteString(" or ")
		}
		if len(clause) == 0 {
			b.WriteString("true")
		}
		for j, c := range clause {
			if j > 0 {
				b.WriteString(" and ")
			}
			b.WriteString(c.String())
		}
	}
	return b.String()
}

// validate reports the first comparison that has the wrong number of literals.
func (p Predicate) validate() error {
	for _, clause := range p {
		for _, c := range clause {
			want := 1
			switch c.Op {
			case OpIn:
				continue
			case OpIsNull, OpIsNotNull:
				want = 0
			case OpEq, OpNe, OpLt, OpLe, OpGt, OpGe:
			default:
				return fmt.Errorf("predicate on column %q has no operator", c.Column)
			}
			if len(c.Values) != want {
				return fmt.Errorf("predicate %v has %d literals, not %d", c, len(c.Values), want)
			}
		}
	}
	return nil
}
