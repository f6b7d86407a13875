package tsql

import (
	"cmp"
	"strings"

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
			if s.FileStreamOn != nil || s.FederationScheme != nil {
				return sqltype.Unsupported("FILESTREAM_ON and FEDERATED ON of CREATE TABLE")
			}
			placed(s.OnFileGroupOrPartitionScheme)
			filegroup(nameOf(s.TextImageOn))
			def := x.tableDef(b, objectName(s.SchemaObjectName), s.Definition)
			if strings.HasPrefix(def.Name.Object, "#") {
				x.withoutForeignKeys(&def)
			}
			return x.sess.CreateTable(def)
		})
	case *ast.AlterTableAddTableElementStatement:
		return true, x.scoped(true, func(b *binder) error {
			return x.sess.AlterTable(objectName(s.SchemaObjectName), x.additions(b, s), x.sourceOf(s))
		})
	case *ast.AlterTableDropTableElementStatement:
		return true, x.scoped(true, func(*binder) error {
			return x.sess.AlterTable(objectName(s.SchemaObjectName), removals(s), x.sourceOf(s))
		})
	case *ast.AlterTableAlterColumnStatement:
		return true, x.scoped(true, func(b *binder) error {
			return x.sess.AlterTable(objectName(s.SchemaObjectName), b.columnChange(s), x.sourceOf(s))
		})
	case *ast.AlterTableConstraintModificationStatement:
		return true, x.scoped(true, func(*binder) error {
			return x.sess.AlterTable(objectName(s.SchemaObjectName), enforcement(s), x.sourceOf(s))
		})
	case *ast.DropTableStatement:
		return true, x.scoped(true, func(b *binder) error {
			for _, o := range s.Objects {
				noVariable(o)
				if err := x.sess.DropTable(objectName(o), s.IsIfExists); err != nil {
					return err
				}
			}
			return nil
		})
	case *ast.TruncateTableStatement:
		return true, x.scoped(true, func(b *binder) error {
			if len(s.PartitionRanges) > 0 {
				return sqltype.Unsupported("TRUNCATE of partitions")
			}
			noVariable(s.TableName)
			return x.sess.Truncate(objectName(s.TableName))
		})
	case *ast.CreateSchemaStatement:
		return true, x.scoped(true, func(b *binder) error {
			if s.StatementList != nil && len(s.StatementList.Statements) > 0 {
				return sqltype.Unsupported("statements within CREATE SCHEMA")
			}
			name := ident(s.Name)
			if name == "" {
				name = required(s.Owner)
			}
			return x.sess.CreateSchema(name, ident(s.Owner))
		})
	case *ast.DropSchemaStatement:
		if s.DropBehavior != "" && s.DropBehavior != "None" {
			return true, sqltype.Unsupported("DROP SCHEMA ... %s", strings.ToUpper(s.DropBehavior))
		}
		return true, x.scoped(true, func(*binder) error { return x.sess.DropSchema(objectName(s.Schema).Object, s.IsIfExists) })
	case *ast.AlterSchemaStatement:
		return true, x.scoped(true, func(*binder) error {
			if k := lower(s.ObjectKind); k != "" && k != "object" && k != "notspecified" {
				return sqltype.Unsupported("TRANSFER of %s", kindWords(s.ObjectKind))
			}
			return x.sess.Transfer(required(s.Name), objectName(s.ObjectName))
		})
	case *ast.CreateIndexStatement:
		return true, x.scoped(true, func(*binder) error {
			if s.FilterPredicate != nil {
				unsupported("a filtered index")
			}
			if s.FileStreamOn != nil {
				unsupported("FILESTREAM_ON")
			}
			placed(s.OnFileGroupOrPartitionScheme)
			d := IndexDef{Name: required(s.Name), Unique: s.Unique, Columns: indexColumns(s.Columns), Include: columnTexts(s.IncludeColumns), Options: indexOptions(s.IndexOptions)}
			if s.Clustered != nil {
				d.Clustered, d.Chosen = *s.Clustered, true
			}
			return x.sess.CreateIndex(objectName(s.OnName), d)
		})
	case *ast.DropIndexStatement:
		return true, x.scoped(true, func(*binder) error {
			for _, c := range s.DropIndexClauses {
				dropOptions(c.Options)
				var n Name
				var index string
				if l := c.LegacyIndex; l != nil { // table.index, schema.table.index
					n, index = Name{Schema: ident(l.DatabaseIdentifier), Object: ident(l.SchemaIdentifier)}, ident(l.BaseIdentifier)
				} else {
					n, index = objectName(c.Object), required(c.Index)
				}
				if err := x.sess.DropIndex(n, index, s.IsIfExists); err != nil {
					return err
				}
			}
			return nil
		})
	case *ast.SetIdentityInsertStatement:
		return true, x.scoped(false, func(*binder) error { return x.sess.IdentityInsert(objectName(s.Table), s.IsOn) })
	case *ast.DbccStatement:
		return true, x.dbcc(s)
	}
	return false, nil
}

// noVariable refuses a table variable where a table is to be named.
func noVariable(n *ast.SchemaObjectName) {
	if o := n.BaseIdentifier; o != nil && strings.HasPrefix(o.Value, "@") && o.QuoteType == "NotQuoted" {
		failf(102, "Incorrect syntax near '%s'.", o.Value)
	}
}

// dropOptions refuses what DROP INDEX would move.
func dropOptions(list []ast.DropIndexOption) {
	for _, o := range list {
		switch o.(type) {
		case *ast.OnlineIndexOption, *ast.IndexExpressionOption:
		default:
			unsupported("the option %s of DROP INDEX", optionNode(o))
		}
	}
}

// dbcc carries out DBCC CHECKIDENT and USEROPTIONS.
func (x *executor) dbcc(s *ast.DbccStatement) error {
	if s.Command == "UserOptions" {
		return x.userOptions(s)
	}
	if s.Command != "CheckIdent" {
		return sqltype.Unsupported("DBCC %s", strings.ToUpper(cmp.Or(s.DllName, s.Command)))
	}
	return x.scoped(true, func(b *binder) error {
		table, reseed := "", false
		var value *int64
		for i, l := range s.Literals {
			if l.Name != "" {
				unsupported("the argument %s = of DBCC CHECKIDENT", l.Name)
			}
			word := ""
			if c, ok := l.Value.(*ast.ColumnReferenceExpression); ok {
				word = columnText(c)
			}
			switch {
			case i == 0 && word != "":
				table = word
			case i == 0:
				table = b.valueOf(l.Value, sqltype.SysName).Str()
			case sqltype.EqualName(word, "RESEED"):
				reseed = true
			case sqltype.EqualName(word, "NORESEED"):
			case reseed && word == "":
				n := b.valueOf(l.Value, sqltype.Of(sqltype.BigInt)).Int()
				value = &n
			default:
				unsupported("this form of DBCC CHECKIDENT")
			}
		}
		text, err := x.sess.CheckIdentity(table, reseed || len(s.Literals) == 1, value)
		if err != nil {
			return err
		}
		quiet := false
		for _, o := range s.Options {
			quiet = quiet || sqltype.EqualName(o.OptionKind, "NoInfoMessages")
		}
		if !quiet {
			x.out.Info(&sqltype.Error{Number: 7998, State: 1, Message: text})
		}
		return nil
	})
}

func (x *executor) tableDef(b *binder, n Name, d *ast.TableDefinition) TableDef {
	def := TableDef{Name: n}
	var k constraints
	if len(d.ColumnDefinitions) == 0 {
		failf(102, "Incorrect syntax near ')'.")
	}
	def.Columns = x.columnDefs(b, d, &k)
	for _, c := range d.TableConstraints {
		x.tableConstraint(b, c, &k)
	}
	def.Indexes, def.Checks, def.ForeignKeys = k.indexes, k.checks, k.foreign
	if len(k.defaults) > 0 {
		unsupported("a DEFAULT that stands by itself in CREATE TABLE")
	}
	for _, i := range d.Indexes {
		def.Indexes = append(def.Indexes, inlineIndex(i, ""))
	}
	if d.SystemTimePeriod != nil {
		unsupported("periods in CREATE TABLE")
	}
	keys := 0
	for i := range def.Indexes {
		if def.Indexes[i].Kind != PrimaryKey {
			continue
		}
		if keys++; keys > 1 {
			failf(8110, "Cannot add multiple PRIMARY KEY constraints to table '%s'.", n)
		}
		for _, k := range def.Indexes[i].Columns {
			c := &def.Columns[columnOf(def.Columns, k.Name)]
			if c.Null {
				e := sqltype.Errorf(1750, "Could not create constraint or index. See previous errors.")
				e.First = sqltype.Errorf(8111, "Cannot define PRIMARY KEY constraint on nullable column in table '%s'.", n.Object)
				fail(e)
			}
			c.Nullable = false
		}
	}
	return def
}

func columnOf(defs []ColumnDef, name string) int {
	for i := range defs {
		if sqltype.EqualName(defs[i].Name, name) {
			return i
		}
	}
	failf(1911, "Column name '%s' does not exist in the target table or view.", name)
	return -1
}

// columnDefs reads the columns of a definition, with the indexes and checks written beside them.
func (x *executor) columnDefs(b *binder, d *ast.TableDefinition, all *constraints) (out []ColumnDef) {
	for _, c := range d.ColumnDefinitions {
		name := required(c.ColumnIdentifier)
		if c.GeneratedAlways != "" || c.Encryption != nil || c.IsMasked || c.IsHidden {
			unsupported("the options of column %s", name)
		}
		def := ColumnDef{Column: Column{Name: name, Nullable: true}, RowGUID: c.IsRowGuidCol}
		if c.ComputedColumnExpression != nil {
			def.Computed, def.Persisted, def.Computation = true, c.IsPersisted, x.kept(c.ComputedColumnExpression, nil)
		} else {
			if c.DataType == nil {
				if !sqltype.EqualName(name, "timestamp") {
					failf(173, "The definition for column '%s' must include a data type.", name)
				}
				if c.ColumnIdentifier.QuoteType != "NotQuoted" {
					unsupported("a column [timestamp] without a type")
				}
				def.Name, def.Type = "timestamp", sqltype.Of(sqltype.RowVersion) // which names itself (Microsoft: rowversion (Transact-SQL))
			} else {
				def.Type = b.declaredType(c.DataType, "column", name, len(out)+1)
			}
		}
		if c.Collation != nil {
			def.Type = underCollation(def.Type, c.Collation.Value)
		}
		if def.Type.Kind == sqltype.RowVersion {
			def.Nullable = false
		} else if !def.Computed {
			def.Nullable = x.nullByDefault()
		}
		if o := c.StorageOptions; o != nil {
			if o.IsFileStream || o.SparseOption != "Sparse" && o.SparseOption != "None" && o.SparseOption != "" {
				unsupported("the storage options of column %s", name)
			}
			def.Sparse = o.SparseOption == "Sparse"
		}
		if c.Nullable != nil {
			def.Nullable, def.Null = c.Nullable.Nullable, c.Nullable.Nullable
		}
		if c.DefaultConstraint != nil {
			x.columnDefault(b, &def, c.DefaultConstraint)
		}
		for _, k := range c.Constraints {
			switch k := k.(type) {
			case *ast.NullableConstraintDefinition:
				def.Nullable, def.Null = k.Nullable, k.Nullable
			case *ast.UniqueConstraintDefinition:
				all.indexes = append(all.indexes, keyDef(k, name))
				def.Nullable = def.Nullable && !k.IsPrimaryKey
			case *ast.DefaultConstraintDefinition:
				x.columnDefault(b, &def, k)
			case *ast.CheckConstraintDefinition:
				all.checks = append(all.checks, CheckDef{Name: ident(k.ConstraintIdentifier), Column: name, Condition: x.kept(nil, k.CheckCondition), NotForReplication: k.NotForReplication})
			case *ast.ForeignKeyConstraintDefinition:
				all.foreign = append(all.foreign, foreignKey(k, name))
			default:
				unsupported("the constraint %s", nodeName(k))
			}
		}
		if c.Index != nil {
			all.indexes = append(all.indexes, inlineIndex(c.Index, name))
		}
		if o := c.IdentityOptions; o != nil {
			def.Identity, def.Nullable, def.Seed, def.Step, def.NotForReplication = true, false, 1, 1, o.NotForReplication
			if o.IdentitySeed != nil {
				def.Seed = b.valueOf(o.IdentitySeed, sqltype.Of(sqltype.BigInt)).Int()
			}
			if o.IdentityIncrement != nil {
				def.Step = b.valueOf(o.IdentityIncrement, sqltype.Of(sqltype.BigInt)).Int()
			}
			identityType(&def)
		}
		if def.Sparse && (def.RowGUID || !def.Nullable || def.Identity || def.Named != nil || def.Type.LOB() && def.Type.Len != sqltype.Max && def.Type.Kind != sqltype.XML) {
			failf(1731, "Cannot create the sparse column '%s' in the table because an option or data type specified is not valid. A sparse column must be nullable and cannot have the ROWGUIDCOL, IDENTITY, or FILESTREAM properties. A sparse column cannot be of the following data types: text, ntext, image, geometry, geography, or user-defined type.", name)
		}
		out = append(out, def)
	}
	return out
}

// identityType checks what an identity column may be (Microsoft: CREATE TABLE (Transact-SQL) IDENTITY (Property)).
func identityType(def *ColumnDef) {
	c := def.Type.Class()
	if c != sqltype.ClassInt && (c != sqltype.ClassDecimal || def.Type.Kind == sqltype.Money || def.Type.Kind == sqltype.SmallMoney || def.Type.Scale != 0) {
		failf(2749, "Identity column '%s' must be of data type int, bigint, smallint, tinyint, or decimal or numeric with a scale of 0, unencrypted, and constrained to be nonnullable.", def.Name)
	}
	if def.Step == 0 {
		failf(2753, "Identity column '%s' contains invalid INCREMENT.", def.Name)
	}
	if def.Named != nil {
		failf(1754, "Defaults cannot be created on columns with an IDENTITY attribute. Table '', column '%s'.", def.Name)
	}
}

func (x *executor) columnDefault(b *binder, def *ColumnDef, k *ast.DefaultConstraintDefinition) {
	d := x.defaultDef(b, k, def.Name)
	e := b.cast(b.expr(k.Expression, nil), def.Type, 0)
	def.Named, def.WithValues = &d, k.WithValues
	def.Default = b.valueOf(k.Expression, def.Type)
	def.Each = func() (sqltype.Value, error) {
		v := e.eval(&frame{})
		return v, b.takeErr()
	}
}
