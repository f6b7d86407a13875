package tsql

import (
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// ShapeSession is what a session does to the shape of its database besides tables.
type ShapeSession interface {
	// Steady tells that no transaction of another session is changing the shape of the database.
	Steady() bool
	CreateSchema(name, owner string) error
	DropSchema(name string, ifExists bool) error
	// Transfer moves an object to another schema.
	Transfer(schema string, n Name) error
	CreateIndex(n Name, def IndexDef) error
	DropIndex(n Name, index string, ifExists bool) error
	// MaintainIndex looks whether a table that is put in order is there (1088), and its index (2727) unless that is "", which is all
	// of them, and keeps the options that are written.
	MaintainIndex(n Name, index string, o IndexOptions) error
	// IdentityInsert sets IDENTITY_INSERT of a table.
	IdentityInsert(n Name, on bool) error
	// CheckIdentity is DBCC CHECKIDENT; it answers what DBCC prints.
	CheckIdentity(table string, reseed bool, value *int64) (string, error)
	// Describe gives columns as sp_describe_first_result_set does.
	Describe(cols []Column) *Rows
	// Scope begins the scope of a procedure or of a text, which leave ends: of SCOPE_IDENTITY, of temporary tables, of the
	// current database, and of what SET keeps elsewhere than in Settings. It gives the name of the database that is current
	// again, "" when no other was.
	Scope() (leave func() (again string))
}

// TableDef is a CREATE TABLE. Key is a primary key with the server's choices, for definitions in Go; those in T-SQL have
// theirs among the indexes.
type TableDef struct {
	Name    Name
	Columns []ColumnDef
	KeyName string
	Key     []string
	Indexes []IndexDef
	Checks  []CheckDef
	// ForeignKeys without the schema of the table that they reference mean one that the session would find.
	ForeignKeys []ForeignKeyDef
}

// ColumnDef is a column of a CREATE TABLE or ADD.
type ColumnDef struct {
	Column
	Null   bool // NULL was written
	Sparse bool
	// RowGUID is ROWGUIDCOL; NotForReplication that of IDENTITY.
	RowGUID, NotForReplication bool
	Default                    sqltype.Value // NULL without a DEFAULT
	Named                      *DefaultDef   // the DEFAULT as a constraint; nil for definitions in Go
	Seed                       int64         // of an identity column; Step 0 is (1,1)
	Step                       int64
	Persisted                  bool
	// Computation is that of a computed column.
	Computation *Expression
	// WithValues gives rows that are there the DEFAULT of a column that is added, also when it allows NULL.
	WithValues bool
	// Each evaluates the DEFAULT for one row of a table to which the column is added; nil is Default for all.
	Each func() (sqltype.Value, error)
}

// Alter is one ALTER TABLE.
type Alter struct {
	Add      []ColumnDef
	Drop     []string
	IfExists bool // of what is dropped
	// Change is an ALTER COLUMN; its Nullable is what was written, or as it was when KeepNull is set.
	Change   *ColumnDef
	KeepNull bool
	// Sparse is ALTER COLUMN ... ADD or DROP SPARSE of the column that Change names; its type then does not count.
	Sparse *bool

	Indexes         []IndexDef
	Checks          []CheckDef
	Defaults        []DefaultDef
	ForeignKeys     []ForeignKeyDef
	Enforce         *Enforcement
	DropConstraints []string
}

// EachInsert gives what an INSERT puts into the column when it does not name it.
func (d *ColumnDef) EachInsert() Default {
	if d.Named != nil && d.Named.Varies {
		return Default{Expr: d.Named.Expr}
	}
	return Default{Value: d.Default}
}
