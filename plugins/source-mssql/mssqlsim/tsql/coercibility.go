package tsql

import (
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

// agree gives the collation that two expressions take together.
func agree(x, y expr) (string, coercibility) {
	switch {
	case x.typ.Class() != sqltype.ClassString:
		return y.typ.Collation, y.coll
	case y.typ.Class() != sqltype.ClassString:
		return x.typ.Collation, x.coll
	case x.coll == explicit && y.coll == explicit:
		if !strings.EqualFold(collationName(x), collationName(y)) {
			conflict("concatenate", x, y)
		}
		return x.typ.Collation, explicit
	case x.coll == explicit:
		return x.typ.Collation, explicit
	case y.coll == explicit:
		return y.typ.Collation, explicit
	case x.coll == conflicting || y.coll == conflicting:
		return x.typ.Collation, conflicting
	case x.coll == implicit && y.coll == implicit && !strings.EqualFold(collationName(x), collationName(y)):
		return x.typ.Collation, conflicting
	case y.coll > x.coll:
		return y.typ.Collation, y.coll
	}
	return x.typ.Collation, x.coll
}

func conflict(operation string, x, y expr) {
	failf(468, "Cannot resolve the collation conflict between \"%s\" and \"%s\" in the %s operation.", collationName(x), collationName(y), operation)
}

// agreed gives the collation of an operation that cannot be without one.
func agreed(operation string, x, y expr) string {
	name, c := agree(x, y)
	if c == conflicting {
		conflict(operation, x, y)
	}
	return name
}

func (b *binder) collate(e expr, c *ast.Identifier) expr {
	if c != nil {
		if e.typ.Class() != sqltype.ClassString {
			failf(447, "Expression type %s is invalid for COLLATE clause.", e.typ.Kind)
		}
		t := underCollation(e.typ, c.Value)
		if !sqltype.SamePage(e.typ, t) { // the characters that the other code page lacks are lost
			e = b.cast(e, t, 0)
		}
		e.typ = t
		e.coll, e.ref = explicit, nil
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
