package tsql

import (
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// ReferentialAction is what happens to rows whose key is deleted or changed in the table that they reference.
type ReferentialAction uint8

// The actions, with their numbers in sys.foreign_keys.
const (
	NoAction ReferentialAction = iota
	Cascade
	SetNull
	SetDefault
)

// String writes an action as REFERENTIAL_CONSTRAINTS shows it.
func (a ReferentialAction) String() string {
	return [...]string{"NO ACTION", "CASCADE", "SET NULL", "SET DEFAULT"}[a]
}

// ForeignKeyDef is a FOREIGN KEY constraint.
type ForeignKeyDef struct {
	Name    string
	Columns []string
	// Table is the one that is referenced, References its columns; without any it is the primary key.
	Table      Name
	References []string
	OnDelete   ReferentialAction
	OnUpdate   ReferentialAction
	Unchecked  bool // WITH NOCHECK: rows that are there are not looked at
	// NotForReplication changes nothing but what the catalog shows.
	NotForReplication bool
}

// Enforcement is ALTER TABLE ... CHECK or NOCHECK CONSTRAINT.
type Enforcement struct {
	On    bool
	Check bool // WITH CHECK: rows that are there are looked at
	All   bool
	Names []string
}

// constraints are those that the columns and the elements of a definition bring along.
type constraints struct {
	indexes  []IndexDef
	checks   []CheckDef
	defaults []DefaultDef
	foreign  []ForeignKeyDef
}

// unchecked makes all of them WITH NOCHECK.
func (k *constraints) unchecked() {
	for i := range k.checks {
		k.checks[i].Unchecked = true
	}
	for i := range k.foreign {
		k.foreign[i].Unchecked = true
	}
}

// foreignKey reads FOREIGN KEY ... REFERENCES; column is that of a constraint beside a column.
func foreignKey(k *ast.ForeignKeyConstraintDefinition, column string) ForeignKeyDef {
	if k.IsEnforced != nil && !*k.IsEnforced {
		unsupported("a constraint that is NOT ENFORCED")
	}
	d := ForeignKeyDef{Name: constraintName(k.ConstraintIdentifier), Table: objectName(k.ReferenceTableName), Columns: idents(k.Columns), References: idents(k.ReferencedColumns), NotForReplication: k.NotForReplication}
	if len(d.Columns) == 0 && column != "" {
		d.Columns = []string{column}
	}
	d.OnDelete, d.OnUpdate = referentialAction(k.DeleteAction), referentialAction(k.UpdateAction)
	return d
}

func idents(list []*ast.Identifier) (out []string) {
	for _, i := range list {
		out = append(out, ident(i))
	}
	return out
}

func referentialAction(word string) ReferentialAction {
	switch word {
	case "", "NotSpecified", "NoAction":
		return NoAction
	case "Cascade":
		return Cascade
	case "SetNull":
		return SetNull
	case "SetDefault":
		return SetDefault
	}
	unsupported("the referential action %s", word)
	return NoAction
}

// withoutForeignKeys takes the foreign keys of a temporary table away, which are not enforced, and says so (Microsoft:
// Database engine events and errors, 1756).
func (x *executor) withoutForeignKeys(def *TableDef) {
	for _, k := range def.ForeignKeys {
		x.out.Info(&sqltype.Error{Number: 1756, State: 0, Class: 10, Message: "Skipping FOREIGN KEY constraint '" + k.Name + "' definition for temporary table. FOREIGN KEY constraints are not enforced on local or global temporary tables."})
	}
	def.ForeignKeys = nil
}

// enforcement reads ALTER TABLE ... CHECK or NOCHECK CONSTRAINT. A constraint that is switched on again is not trusted unless
// WITH CHECK is written (Microsoft: ALTER TABLE (Transact-SQL), WITH CHECK | WITH NOCHECK).
func enforcement(s *ast.AlterTableConstraintModificationStatement) Alter {
	return Alter{Enforce: &Enforcement{On: s.ConstraintEnforcement == "Check", Check: s.ExistingRowsCheckEnforcement == "Check", All: s.All, Names: idents(s.ConstraintNames)}}
}
