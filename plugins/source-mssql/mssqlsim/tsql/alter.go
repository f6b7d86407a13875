package tsql

import (
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// additions reads ALTER TABLE ... ADD.
func (x *executor) additions(b *binder, s *ast.AlterTableAddTableElementStatement) (a Alter) {
	var k constraints
	a.Add = x.columnDefs(b, s.Definition, &k)
	for _, c := range s.Definition.TableConstraints {
		x.tableConstraint(b, c, &k)
	}
	if s.ExistingRowsCheckEnforcement == "NoCheck" {
		k.unchecked()
	}
	a.Indexes, a.Checks, a.Defaults, a.ForeignKeys = k.indexes, k.checks, k.defaults, k.foreign
	for _, i := range s.Definition.Indexes {
		a.Indexes = append(a.Indexes, inlineIndex(i, ""))
	}
	if s.Definition.SystemTimePeriod != nil {
		unsupported("ALTER TABLE ADD of a period")
	}
	return a
}

// removals reads ALTER TABLE ... DROP. A kind that is not written is that of the element before it, or a constraint.
func removals(s *ast.AlterTableDropTableElementStatement) (a Alter) {
	kind := "Constraint"
	for _, e := range s.AlterTableDropTableElements {
		if e.TableElementType != "NotSpecified" && e.TableElementType != "" {
			kind = e.TableElementType
		}
		a.IfExists = a.IfExists || e.IsIfExists
		switch kind {
		case "Column":
			a.Drop = append(a.Drop, ident(e.Name))
		case "Constraint":
			for _, o := range e.DropClusteredConstraintOptions {
				if _, moves := o.(*ast.DropClusteredConstraintMoveOption); moves {
					unsupported("MOVE TO of ALTER TABLE DROP CONSTRAINT")
				}
			}
			a.DropConstraints = append(a.DropConstraints, ident(e.Name))
		default:
			unsupported("ALTER TABLE DROP %s", kindWords(kind))
		}
	}
	return a
}

// columnChange reads ALTER TABLE ... ALTER COLUMN. A column for which neither NULL nor NOT NULL is written allows NULL,
// as it is with ANSI_NULL_DEFAULT on (Microsoft: ALTER TABLE (Transact-SQL), NULL | NOT NULL).
func (b *binder) columnChange(s *ast.AlterTableAlterColumnStatement) Alter {
	def := &ColumnDef{Column: Column{Name: ident(s.ColumnIdentifier), Nullable: s.AlterTableAlterColumnOption != "NotNull"}}
	if s.Encryption != nil || s.IsMasked || s.GeneratedAlways != "" || s.StorageOptions != nil || s.IsHidden || s.MaskingFunction != nil {
		unsupported("the options of ALTER COLUMN")
	}
	switch s.AlterTableAlterColumnOption {
	case "AddSparse", "DropSparse":
		on := s.AlterTableAlterColumnOption == "AddSparse"
		return Alter{Change: def, Sparse: &on}
	case "NoOptionDefined", "Null", "NotNull", "":
	default:
		unsupported("ALTER COLUMN %s", kindWords(s.AlterTableAlterColumnOption))
	}
	def.Type = b.declaredType(s.DataType, "column", def.Name, 1)
	if s.Collation != nil {
		def.Type = underCollation(def.Type, s.Collation.Value)
	}
	if def.Type.Kind == sqltype.RowVersion {
		failf(4927, "Cannot alter column '%s' to be data type timestamp.", def.Name)
	}
	return Alter{Change: def}
}
