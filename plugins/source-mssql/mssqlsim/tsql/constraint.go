package tsql

import (
	"strconv"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// IndexKind tells what made an index.
type IndexKind uint8

// An index is made by CREATE INDEX or INDEX in CREATE TABLE, or is that of a constraint.
const (
	PlainIndex IndexKind = iota
	UniqueConstraint
	PrimaryKey
)

// IndexDef is an index or the constraint that has one. A name that is "" is left to the server.
type IndexDef struct {
	Name      string
	Kind      IndexKind
	Unique    bool
	Clustered bool
	// Chosen tells that CLUSTERED or NONCLUSTERED was written; a primary key is clustered unless another index is.
	Chosen  bool
	Columns []IndexColumn
	Include []string
	Options IndexOptions
}

// IndexOptions are those that the catalog shows (Microsoft: CREATE INDEX (Transact-SQL), relational_index_option; sys.indexes); nil
// and "" are what was not written.
type IndexOptions struct {
	FillFactor                  *int64
	Padded, RowLocks, PageLocks *bool
	Compression                 string // NONE, ROW or PAGE
}

// IndexColumn is a key column of an index.
type IndexColumn struct {
	Name       string
	Descending bool
}

// CheckDef is a CHECK constraint.
type CheckDef struct {
	Name              string
	Column            string // of a constraint written beside a column
	Condition         *Expression
	NotForReplication bool
	Unchecked         bool // WITH NOCHECK: rows that are there are not looked at
}

// DefaultDef is a DEFAULT constraint.
type DefaultDef struct {
	Name   string
	Column string
	Expr   *Expression
	Value  sqltype.Value // of the expression now
	Type   sqltype.Type  // of Value
	Varies bool          // the expression calls functions: each statement evaluates it
}

// indexOptions reads the options of an index, and refuses what changes what it does. How it is built, and with how many threads, is
// seen nowhere afterwards.
func indexOptions(list []ast.IndexOption) (out IndexOptions) {
	for _, o := range list {
		switch x := o.(type) {
		case *ast.IndexStateOption:
			on := strings.EqualFold(x.OptionState, "on")
			switch x.OptionKind {
			case "PadIndex":
				out.Padded = &on
			case "AllowRowLocks":
				out.RowLocks = &on
			case "AllowPageLocks":
				out.PageLocks = &on
			case "SortInTempDB", "Online":
			default:
				if on {
					unsupported("the index option %s = ON", optionNode(o))
				}
			}
		case *ast.IgnoreDupKeyIndexOption:
			if strings.EqualFold(x.OptionState, "on") {
				unsupported("the index option IGNORE_DUP_KEY = ON")
			}
		case *ast.IndexExpressionOption:
			n, ok := x.Expression.(*ast.IntegerLiteral)
			if x.OptionKind == "MaxDop" {
				continue
			}
			if !ok || x.OptionKind != "FillFactor" {
				unsupported("the index option %s", optionNode(o))
			}
			v, err := strconv.ParseInt(n.Value, 10, 64)
			if err != nil || v < 1 || v > 100 {
				failf(129, "Fillfactor %s is not a valid percentage; fillfactor must be between 1 and 100.", n.Value)
			}
			out.FillFactor = &v
		case *ast.OnlineIndexOption:
		case *ast.DataCompressionOption:
			if len(x.PartitionRanges) > 0 || x.CompressionLevel != "None" && x.CompressionLevel != "Row" && x.CompressionLevel != "Page" {
				unsupported("this DATA_COMPRESSION of an index")
			}
			out.Compression = strings.ToUpper(x.CompressionLevel)
		default:
			unsupported("the index option %s", optionNode(o))
		}
	}
	return out
}

// placed looks where a table or an index is to be. The filegroup of a database is PRIMARY (Microsoft: CREATE TABLE (Transact-SQL),
// ON; error 1921 in sys.messages).
func placed(p *ast.FileGroupOrPartitionScheme) {
	if p == nil {
		return
	}
	if len(p.PartitionSchemeColumns) > 0 {
		unsupported("ON a partition scheme")
	}
	filegroup(nameOf(p.Name))
}

func filegroup(name string) {
	if name != "" && !sqltype.EqualName(name, "PRIMARY") && !sqltype.EqualName(name, "default") {
		failf(1921, "Invalid filegroup '%s' specified.", name)
	}
}

func indexColumns(list []*ast.ColumnWithSortOrder) (out []IndexColumn) {
	for _, c := range list {
		out = append(out, IndexColumn{Name: columnText(c.Column), Descending: c.SortOrder == ast.SortOrderDescending})
	}
	return out
}

func columnTexts(list []*ast.ColumnReferenceExpression) (out []string) {
	for _, c := range list {
		out = append(out, columnText(c))
	}
	return out
}

// indexType reads CLUSTERED and NONCLUSTERED.
func (d *IndexDef) indexType(t *ast.IndexType) {
	if t == nil {
		return
	}
	switch t.IndexTypeKind {
	case "Clustered":
		d.Clustered, d.Chosen = true, true
	case "NonClustered":
		d.Chosen = true
	case "":
	default:
		unsupported("the index type %s", kindWords(t.IndexTypeKind))
	}
}

// keyDef reads PRIMARY KEY and UNIQUE; column is that of a constraint beside a column.
func keyDef(u *ast.UniqueConstraintDefinition, column string) IndexDef {
	if u.IsEnforced != nil && !*u.IsEnforced {
		unsupported("a constraint that is NOT ENFORCED")
	}
	placed(u.OnFileGroupOrPartitionScheme)
	d := IndexDef{Name: constraintName(u.ConstraintIdentifier), Kind: UniqueConstraint, Unique: true, Columns: indexColumns(u.Columns), Options: indexOptions(u.IndexOptions)}
	if u.IsPrimaryKey {
		d.Kind = PrimaryKey
	}
	d.indexType(u.IndexType)
	if u.Clustered {
		d.Clustered, d.Chosen = true, true
	}
	if len(d.Columns) == 0 && column != "" {
		d.Columns = []IndexColumn{{Name: column}}
	}
	return d
}

// constraintName gives the name of a constraint, "" when it has none (see unnamed).
func constraintName(i *ast.Identifier) string { return strings.TrimPrefix(ident(i), "\x01") }

// inlineIndex reads INDEX of CREATE TABLE.
func inlineIndex(i *ast.IndexDefinition, column string) IndexDef {
	if i.FilterPredicate != nil {
		unsupported("a filtered index")
	}
	if i.FileStreamOn != nil {
		unsupported("FILESTREAM_ON")
	}
	placed(i.OnFileGroupOrPartitionScheme)
	d := IndexDef{Name: ident(i.Name), Unique: i.Unique, Columns: indexColumns(i.Columns), Include: columnTexts(i.IncludeColumns), Options: indexOptions(i.IndexOptions)}
	d.indexType(i.IndexType)
	if len(d.Columns) == 0 && column != "" {
		d.Columns = []IndexColumn{{Name: column}}
	}
	return d
}

// tableConstraint reads a constraint that stands by itself.
func (x *executor) tableConstraint(b *binder, c ast.TableConstraint, all *constraints) {
	switch k := c.(type) {
	case *ast.UniqueConstraintDefinition:
		all.indexes = append(all.indexes, keyDef(k, ""))
	case *ast.CheckConstraintDefinition:
		all.checks = append(all.checks, CheckDef{Name: ident(k.ConstraintIdentifier), Condition: x.kept(nil, k.CheckCondition), NotForReplication: k.NotForReplication})
	case *ast.DefaultConstraintDefinition:
		if k.WithValues {
			unsupported("WITH VALUES of a DEFAULT that is added by itself")
		}
		all.defaults = append(all.defaults, x.defaultDef(b, k, ident(k.Column)))
	case *ast.ForeignKeyConstraintDefinition:
		all.foreign = append(all.foreign, foreignKey(k, ""))
	default:
		unsupported("the constraint %s", nodeName(c))
	}
}

// defaultDef reads DEFAULT.
func (x *executor) defaultDef(b *binder, k *ast.DefaultConstraintDefinition, column string) DefaultDef {
	d := DefaultDef{Name: constraintName(k.ConstraintIdentifier), Column: column, Expr: x.kept(k.Expression, nil)}
	if names := d.Expr.Columns(); len(names) > 0 {
		failf(128, "The name \"%s\" is not permitted in this context. Valid expressions are constants, constant expressions, and (in some contexts) variables. Column names are not permitted.", names[0])
	}
	e := b.expr(k.Expression, nil)
	d.Type, d.Value = e.typ, e.eval(&frame{})
	if b.err != nil {
		fail(b.takeErr())
	}
	d.Varies = calls(k.Expression)
	return d
}

// Ordered gives indexes in the order in which a server makes them: those that were written as clustered come before a
// primary key that takes what is left.
func Ordered(defs []IndexDef) (out []IndexDef) {
	for _, clustered := range []bool{true, false} {
		for _, d := range defs {
			if d.Clustered == clustered {
				out = append(out, d)
			}
		}
	}
	return out
}
