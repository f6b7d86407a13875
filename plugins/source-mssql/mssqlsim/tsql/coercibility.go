package tsql

import (
	"strings"

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
		if !knownCollation(c.Value) {
			failf(448, "Invalid collation '%s'.", c.Value)
		}
		if e.typ.Collation = c.Value; strings.EqualFold(c.Value, "DATABASE_DEFAULT") || strings.EqualFold(c.Value, "CATALOG_DEFAULT") {
			e.typ.Collation = ""
		}
		e.coll, e.ref = explicit, nil
	}
	return e
}

// knownCollation tells whether a name has the form of a collation's.
func knownCollation(s string) bool {
	u := strings.ToUpper(s)
	return u == "DATABASE_DEFAULT" || u == "CATALOG_DEFAULT" || strings.HasSuffix(u, "_BIN") || strings.HasSuffix(u, "_BIN2") || strings.Contains(u, "_CI_") || strings.Contains(u, "_CS_")
}
