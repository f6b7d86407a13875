package tsql

import (
	"fmt"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// define carries out statements that change the shape of the database.
func (x *executor) define(st ast.Statement) (bool, error) {
	switch s := st.(type) {
	case *ast.CreateTableStatement:
		return true, x.scoped(true, func(b *binder) error {
			if s.SelectStatement != nil || s.AsEdge || s.AsFileTable || s.AsNode || len(s.Options) > 0 {
				return sqltype.Unsupported("this form of CREATE TABLE")
			}
			return x.sess.CreateTable(b.tableDef(objectName(s.SchemaObjectName), s.Definition))
		})
	case *ast.AlterTableAddTableElementStatement:
		return true, x.scoped(true, func(b *binder) error {
			n := objectName(s.SchemaObjectName)
			if len(s.Definition.TableConstraints) > 0 {
				return sqltype.Unsupported("ALTER TABLE ADD of a constraint")
			}
			defs := b.columnDefs(s.Definition)
			text := "ALTER TABLE " + n.String() + " ADD " + defText(defs[0])
			return x.sess.AlterTable(n, Alter{Add: defs}, text)
		})
	case *ast.AlterTableDropTableElementStatement:
		return true, x.scoped(true, func(b *binder) error {
			n := objectName(s.SchemaObjectName)
			var a Alter
			for _, e := range s.AlterTableDropTableElements {
				if e.TableElementType != "Column" && len(a.Drop) == 0 {
					return sqltype.Unsupported("ALTER TABLE DROP %s", e.TableElementType)
				}
				a.Drop = append(a.Drop, e.Name.Value)
			}
			return x.sess.AlterTable(n, a, "ALTER TABLE "+n.String()+" DROP COLUMN "+a.Drop[0])
		})
	case *ast.AlterTableAlterColumnStatement:
		return true, x.scoped(true, func(b *binder) error {
			n := objectName(s.SchemaObjectName)
			def := &ColumnDef{Column: Column{Name: s.ColumnIdentifier.Value, Type: b.dataType(s.DataType, 1), Nullable: s.AlterTableAlterColumnOption != "NotNull"}}
			if s.Collation != nil {
				def.Type.Collation = s.Collation.Value
			}
			return x.sess.AlterTable(n, Alter{Change: def}, "ALTER TABLE "+n.String()+" ALTER COLUMN "+defText(*def))
		})
	case *ast.DropTableStatement:
		return true, x.scoped(true, func(b *binder) error {
			for _, o := range s.Objects {
				if err := x.sess.DropTable(objectName(o), s.IsIfExists); err != nil {
					return err
				}
			}
			return nil
		})
	case *ast.TruncateTableStatement:
		return true, x.scoped(true, func(b *binder) error { return x.sess.Truncate(objectName(s.TableName)) })
	case *ast.CreateSchemaStatement:
		return true, x.scoped(true, func(b *binder) error { return x.sess.CreateSchema(s.Name.Value) })
	}
	return false, nil
}

func defText(d ColumnDef) string {
	null := "NULL"
	if !d.Nullable {
		null = "NOT NULL"
	}
	return fmt.Sprintf("%s %s %s", d.Name, d.Type, null)
}

func (b *binder) tableDef(n Name, d *ast.TableDefinition) TableDef {
	def := TableDef{Name: n, Columns: b.columnDefs(d)}
	key := func(u *ast.UniqueConstraintDefinition, col string) {
		if !u.IsPrimaryKey {
			unsupported("UNIQUE constraints")
		}
		if def.Key != nil {
			failf(8110, "Cannot add multiple PRIMARY KEY constraints to table '%s'.", n)
		}
		def.KeyName = ident(u.ConstraintIdentifier)
		if col != "" {
			def.Key = []string{col}
		}
		for _, c := range u.Columns {
			if c.SortOrder == ast.SortOrderDescending {
				unsupported("a descending key column")
			}
			def.Key = append(def.Key, columnText(c.Column))
		}
	}
	for _, c := range d.ColumnDefinitions {
		for _, k := range c.Constraints {
			if u, ok := k.(*ast.UniqueConstraintDefinition); ok {
				key(u, c.ColumnIdentifier.Value)
			}
		}
	}
	for _, c := range d.TableConstraints {
		u, ok := c.(*ast.UniqueConstraintDefinition)
		if !ok {
			unsupported("the constraint %s", nodeName(c))
		}
		key(u, "")
	}
	for _, k := range def.Key {
		i := -1
		for j := range def.Columns {
			if sqltype.EqualName(def.Columns[j].Name, k) {
				i = j
			}
		}
		if i < 0 {
			failf(1911, "Column name '%s' does not exist in the target table or view.", k)
		}
		def.Columns[i].Nullable = false
	}
	if len(d.Indexes) > 0 || d.SystemTimePeriod != nil {
		unsupported("indexes and periods in CREATE TABLE")
	}
	return def
}

func (b *binder) columnDefs(d *ast.TableDefinition) (out []ColumnDef) {
	for _, c := range d.ColumnDefinitions {
		name := ident(c.ColumnIdentifier)
		switch {
		case c.GeneratedAlways != "" || c.Encryption != nil || c.Index != nil || c.IsMasked:
			unsupported("the options of column %s", name)
		}
		def := ColumnDef{Column: Column{Name: name, Nullable: true}}
		if c.ComputedColumnExpression != nil {
			b.computed(&def, c.ComputedColumnExpression, out)
			out = append(out, def)
			continue
		}
		def.Type = b.dataType(c.DataType, 1)
		if c.Collation != nil {
			if !knownCollation(c.Collation.Value) {
				failf(448, "Invalid collation '%s'.", c.Collation.Value)
			}
			def.Type.Collation = c.Collation.Value
		}
		if def.Type.Kind == sqltype.RowVersion {
			def.Nullable = false
		}
		if c.Nullable != nil {
			def.Nullable = c.Nullable.Nullable
		}
		for _, k := range c.Constraints {
			switch x := k.(type) {
			case *ast.NullableConstraintDefinition:
				def.Nullable = x.Nullable
			case *ast.UniqueConstraintDefinition:
				def.Nullable = false
			case *ast.DefaultConstraintDefinition:
				def.Default = b.valueOf(x.Expression, def.Type)
			default:
				unsupported("the constraint %s", nodeName(k))
			}
		}
		if c.DefaultConstraint != nil {
			def.Default = b.valueOf(c.DefaultConstraint.Expression, def.Type)
		}
		if c.IdentityOptions != nil {
			def.Identity, def.Nullable = true, false
			for _, o := range []ast.ScalarExpression{c.IdentityOptions.IdentitySeed, c.IdentityOptions.IdentityIncrement} {
				if o != nil && b.valueOf(o, sqltype.Of(sqltype.BigInt)).Int() != 1 {
					unsupported("an IDENTITY other than (1,1)")
				}
			}
		}
		out = append(out, def)
	}
	return out
}

// computed binds a computed column over the columns before it.
func (b *binder) computed(def *ColumnDef, x ast.ScalarExpression, before []ColumnDef) {
	sc := &scope{}
	cols := make([]Column, len(before))
	for i, d := range before {
		cols[i] = d.Column
	}
	sc.add("", "", cols, false)
	e := b.expr(x, sc)
	def.Type, def.Computed = e.typ, true
	r := b.run
	def.Compute = func(row sqltype.Row) (sqltype.Value, error) {
		v := e.eval(&frame{seg: []sqltype.Row{row}})
		return v, r.takeErr()
	}
}
