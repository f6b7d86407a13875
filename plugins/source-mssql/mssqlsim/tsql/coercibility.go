package tsql

import (
	"fmt"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/collation"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// coercibility is the label of an expression's collation (Microsoft: Collation precedence).
type coercibility uint8

const (
	coercible   coercibility = iota // of a constant, a variable, a function: it gives way
	implicit                        // of a column
	explicit                        // by COLLATE
	conflicting                     // of columns that do not agree
)

func collationName(e expr) string {
	if e.typ.Collation == "" || strings.EqualFold(e.typ.Collation, "DATABASE_DEFAULT") {
		return sqltype.DefaultCollation
	}
	return e.typ.Collation
}

func sameCollation(x, y sqltype.Type) bool {
	return strings.EqualFold(collationName(expr{typ: x}), collationName(expr{typ: y}))
}

// label is the collation of an expression as far as others have to know it: its name, its rank, and where it has none the
// operation that left it without.
type label struct {
	collation string
	rank      coercibility
	clash     *clash
}

// clash is where an expression lost its collation: of two operands whose collations do not agree.
type clash struct{ operation, earlier, later string }

func (c *clash) String() string {
	return fmt.Sprintf("conflict between \"%s\" and \"%s\" in %s operator", c.later, c.earlier, c.operation)
}

func (e expr) label() label { return label{e.typ.Collation, e.coll, e.clash} }

// labelled gives an expression the label of what it was made of.
func (e expr) labelled(l label) expr {
	e.typ.Collation, e.coll, e.clash = l.collation, l.rank, l.clash
	return e
}

// agree gives the label that two expressions take together in an operation.
func agree(operation string, x, y expr) label {
	switch {
	case x.typ.Class() != sqltype.ClassString:
		return y.label()
	case y.typ.Class() != sqltype.ClassString:
		return x.label()
	case x.coll == explicit && y.coll == explicit:
		if !strings.EqualFold(collationName(x), collationName(y)) {
			conflict(operation, x, y)
		}
		return x.label()
	case x.coll == explicit:
		return x.label()
	case y.coll == explicit:
		return y.label()
	case x.coll == conflicting:
		return x.label()
	case y.coll == conflicting:
		return y.label()
	case x.coll == implicit && y.coll == implicit && !strings.EqualFold(collationName(x), collationName(y)):
		return label{x.typ.Collation, conflicting, &clash{operation: operation, earlier: collationName(x), later: collationName(y)}}
	case y.coll > x.coll:
		return y.label()
	}
	return x.label()
}

// conflict is the error of two collations, of which the later operand's is named first (Microsoft: Collation precedence, Collation
// Conflict and Error; Microsoft: Database engine events and errors 0 to 999, 468).
func conflict(operation string, x, y expr) {
	failf(468, "Cannot resolve the collation conflict between \"%s\" and \"%s\" in the %s operation.", collationName(y), collationName(x), operation)
}

// agreed gives the collation of an operation that cannot be without one.
func agreed(operation string, x, y expr) string {
	l := agree(operation, x, y)
	if l.rank == conflicting {
		if x.coll != conflicting && y.coll != conflicting {
			conflict(operation, x, y)
		}
		l.needed(operation)
	}
	return l.collation
}

// needed fails where an operation gets text without a collation (Microsoft: Database engine events and errors 4000 to 4999, 4191).
func (l label) needed(operation string) {
	if l.rank == conflicting {
		failf(4191, "Cannot resolve collation conflict for %s operation.", operation)
	}
}

// settled is the label that an operation gives its result, which fails where that is text of a code page that nobody can tell; Unicode
// has none, so that it may be without a collation (Microsoft: Database engine events and errors 0 to 999, 456, 457).
func (l label) settled(t sqltype.Type, operands ...expr) label {
	if l.rank != conflicting || t.Class() != sqltype.ClassString || t.Unicode() {
		return l
	}
	for _, e := range operands {
		if e.coll == conflicting {
			l.converted(e.typ, t)
		}
	}
	for _, e := range operands {
		if e.typ.Class() == sqltype.ClassString {
			failf(457, "Implicit conversion of %s value to %s cannot be performed because the collation of the value is unresolved due to a collation %s.", e.typ.Kind, t.Kind, l.clash)
		}
	}
	return l
}

// converted fails where text of a code page that nobody can tell becomes other text unasked.
func (l label) converted(from, to sqltype.Type) {
	if l.rank == conflicting && from.Class() == sqltype.ClassString && !from.Unicode() && to.Class() == sqltype.ClassString {
		failf(456, "Implicit conversion of %s value to %s cannot be performed because the resulting collation is unresolved due to collation %s.", from.Kind, to.Kind, l.clash)
	}
}

// named fails where text without a collation is a column of a result, a group or an order, which has to have one (Microsoft: Collation
// precedence, No-Collation Labels).
func (l label) named(clause string, at int) {
	if l.rank == conflicting {
		failf(451, "Cannot resolve collation %s occurring in %s statement column %d.", l.clash, clause, at)
	}
}

// namedAll is named for all columns of a result.
func namedAll(cols []Column) {
	for i, c := range cols {
		if c.label != nil {
			c.label.named("SELECT", i+1)
		}
	}
}

func (b *binder) collate(e expr, c *ast.Identifier) expr {
	if c != nil {
		if e.typ.Class() != sqltype.ClassString {
			failf(447, "Expression type %s is invalid for COLLATE clause.", e.typ.Kind)
		}
		switch {
		case e.coll == explicit: // not valid, but with which error is not known (Microsoft: Collation precedence, Collation Rules)
			unsupported("COLLATE of an expression that has a COLLATE already")
		case e.coll == conflicting && !e.typ.Unicode():
			failf(446, "Cannot resolve collation conflict for COLLATE operation.")
		}
		t := underCollation(e.typ, c.Value)
		if !sqltype.SamePage(e.typ, t) { // the characters that the other code page lacks are lost
			e = b.cast(e, t, 0)
		}
		e.typ = t
		e.coll, e.clash, e.ref = explicit, nil, nil
	}
	return e
}

// underCollation gives a character type a collation, by whatever case its name is in (Microsoft: COLLATE (Transact-SQL)).
func underCollation(t sqltype.Type, name string) sqltype.Type {
	if u := strings.ToUpper(name); u == "DATABASE_DEFAULT" || u == "CATALOG_DEFAULT" {
		t.Collation = ""
		return t
	}
	c, ok := collation.Find(name)
	if !ok && collation.Hidden(name) {
		unsupported("the collation %s", name)
	}
	if !ok {
		failf(448, "Invalid collation '%s'.", name)
	}
	t.Collation = c.Name
	hasPage(t)
	return t
}

// hasPage fails where char, varchar or text would have a collation that is for Unicode alone.
func hasPage(t sqltype.Type) {
	if c, ok := collation.Find(t.Collation); ok && c.Page == collation.Unicode && !t.Unicode() {
		failf(459, "Collation '%s' is supported on Unicode data types only and cannot be applied to char, varchar or text data types.", c.Name)
	}
}
