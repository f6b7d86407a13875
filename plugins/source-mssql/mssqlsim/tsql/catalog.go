package tsql

import (
	"context"
	"errors"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// Column describes a column of a relation or a result.
type Column struct {
	Name     string
	Type     sqltype.Type
	Nullable bool
	Identity bool
	Computed bool
	label    *label
	Base     Name // the table that it is a column of, wholly qualified; empty of what is computed
}

// Name is the name of an object; empty parts were not written.
type Name struct{ Database, Schema, Object string }

func (n Name) String() string {
	s := n.Object
	if n.Schema != "" || n.Database != "" {
		s = n.Schema + "." + s
	}
	if n.Database != "" {
		s = n.Database + "." + s
	}
	return s
}

// Relation is anything a FROM clause can read.
type Relation interface {
	Columns() []Column
	// Orders lists column orders that Scan delivers, ascending with NULL first; Scan can seek along the first of them.
	// Unique tells that no two rows agree in all columns of the first order.
	Orders() (orders [][]int, unique bool)
	Scan(ctx context.Context, req ScanRequest) (Cursor, error)
}

// RowID is the column number that asks a writable relation for its rows' identity.
const RowID = -1

// ScanRequest says which rows and columns a scan must deliver. It may deliver more rows than the range, never fewer.
type ScanRequest struct {
	Columns []int           // wanted columns, in the order the cursor's rows hold them
	Prefix  []sqltype.Value // equalities on the first columns of the first order; NULL equals NULL here
	Low     *Bound          // on the column after the prefix
	High    *Bound
	Reverse bool // deliver in descending order
	Rows    bool // the rows themselves are the result, not something computed over them
	Write   bool // the rows will be changed
}

// Watched is a session that others watch: it is told of each statement before it runs.
type Watched interface {
	// Runs gives the kind of the statement, such as SELECT or CREATE TABLE.
	Runs(command string)
}

// Unfinished is a relation that has more columns in SQL Server. A query that uses one of them, or all of the relation's, is
// refused.
type Unfinished interface {
	Relation
	Unbuilt() []string
}

// ExactRelation is a relation whose scans deliver no row outside a range of some columns, so that conditions on them
// need not be looked at again. Such a column is never NULL.
type ExactRelation interface {
	Relation
	// Exact tells whether a scan keeps to the request's prefix or bounds on a column of the first order.
	Exact(column int) bool
}

// Bound is one end of a range.
type Bound struct {
	Value     sqltype.Value
	Inclusive bool
}

// Cursor delivers rows. The row is valid until the next call; nil is the end.
type Cursor interface {
	Next() (sqltype.Row, error)
	Close()
}

// CountedCursor is a cursor that knows how many rows are left.
type CountedCursor interface {
	Cursor
	Len() int
}

// Writable is a relation that INSERT, UPDATE and DELETE can change. Rows hold all columns in order. A statement
// collects its changes and hands them over in one call, which does all or nothing.
type Writable interface {
	Relation
	Write(ctx context.Context, changes []Change) error
	// Defaults gives what is put into columns that an INSERT does not name; identity columns are filled by Write, which
	// also completes the rows of its changes.
	Defaults() []Default
}

// ErrStale is what Write returns when a row was changed by another transaction after the statement read it. The
// statement is run again.
var ErrStale = errors.New("a row changed between its read and its write")

// Change is one row before and after a statement. Old is nil for an insert, New for a delete.
type Change struct {
	ID  sqltype.Value // of the old row, as RowID gave it
	Old sqltype.Row
	New sqltype.Row
}

// Function is a scalar function of a schema.
type Function struct {
	Params  []sqltype.Type
	Returns sqltype.Type
	Call    func(args []sqltype.Value) (sqltype.Value, error)
}

// TableFunction is a function in FROM.
type TableFunction struct {
	Params  []sqltype.Type
	Columns []Column
	Call    func(ctx context.Context, args []sqltype.Value) (Cursor, error)
}

// Param is a parameter of a procedure.
type Param struct {
	Name     string // with its @
	Type     sqltype.Type
	Optional bool
}

// Procedure is a stored procedure. Arguments it was not given are absent from args, whose keys are the names of
// Params.
type Procedure struct {
	Params []Param
	Call   func(ctx context.Context, args map[string]sqltype.Value) (*Rows, error)
}

// Isolation is a transaction isolation level.
type Isolation uint8

// The isolation levels, with the numbers of sys.dm_exec_sessions.
const (
	ReadUncommitted Isolation = iota + 1
	ReadCommitted
	RepeatableRead
	Serializable
	Snapshot
)

// Session is one connection's view of a server: what names mean, and its transaction.
type Session interface {
	// Statement begins a statement; done ends it. A write outside a transaction commits when err is nil.
	Statement(ctx context.Context, write bool) (done func(err error) error, err error)
	// Relation finds a table or view; nil without an error is one that does not exist.
	Relation(n Name) (Relation, error)
	TableFunction(n Name) (*TableFunction, error)
	Function(n Name) (*Function, error)
	Procedure(n Name) (*Procedure, error)
	// System gives the value of a system function without arguments or with constant ones, such as @@SERVERNAME or
	// SERVERPROPERTY; ok is false when there is none of that name.
	System(name string, args []sqltype.Value) (v sqltype.Value, t sqltype.Type, ok bool, err error)

	// Release is that of the server.
	Release() Release
	Use(database string) error
	SetIsolation(Isolation) error
	SetLockTimeout(ms int64)
	SetDeadlockPriority(n int8)
	// Reconfigure installs the values that sp_configure has set.
	Reconfigure() error
	Begin() error
	// NameTransaction gives the outermost transaction the name by which it may be rolled back.
	NameTransaction(name string)
	Commit() error
	// Rollback undoes the transaction, or what followed a savepoint when name is one. A name that is neither is error 6401.
	Rollback(name string) error
	Save(name string) error
	// TranCount is @@TRANCOUNT.
	TranCount() int
	// Identified tells the session of the identity of the last row that was inserted into a table which it does not have, that of a
	// variable: SCOPE_IDENTITY and @@IDENTITY are of any table.
	Identified(v sqltype.Value)
	// Stamp is another number after each change of rows that the session may see.
	Stamp() uint64

	// CreateDatabase makes a database; one of that name that is there is error 1801.
	CreateDatabase(name string) error
	// AlterDatabase sets options of a database, of the current one when name is "". It waits for transactions where an option
	// needs that.
	AlterDatabase(ctx context.Context, name string, o DatabaseOptions) error
	// DropDatabase removes a database that no session is in: error 3702 when one is, 3701 when there is no database of
	// that name, which ifExists allows.
	DropDatabase(name string, ifExists bool) error
	CreateTable(def TableDef) error
	AlterTable(n Name, alter Alter, text string) error
	DropTable(n Name, ifExists bool) error
	Truncate(n Name) error
	ShapeSession
	StateSession
	RoutineSession
	// Settings are the SET options of the session; UserOptions are those that are set, as DBCC USEROPTIONS shows them.
	Settings() *Settings
	UserOptions() *Rows
	SecuritySession
}

// Rows is a result or relation held in memory.
type Rows struct {
	Cols []Column // none when it is only messages
	Data []sqltype.Row
	// Messages are sent before the rows.
	Messages []*sqltype.Error
	// More are results that follow.
	More []*Rows
}

// Columns gives the columns.
func (r *Rows) Columns() []Column { return r.Cols }

// Orders gives no order.
func (r *Rows) Orders() ([][]int, bool) { return nil, false }

// Scan delivers all rows.
func (r *Rows) Scan(_ context.Context, req ScanRequest) (Cursor, error) {
	return &rowsCursor{data: r.Data, cols: req.Columns, out: make(sqltype.Row, len(req.Columns))}, nil
}

// Cursor delivers the rows as they are.
func (r *Rows) Cursor() Cursor { return &rowsCursor{data: r.Data} }

type rowsCursor struct {
	data []sqltype.Row
	cols []int
	out  sqltype.Row
	at   int
}

func (c *rowsCursor) Next() (sqltype.Row, error) {
	if c.at >= len(c.data) {
		return nil, nil
	}
	row := c.data[c.at]
	c.at++
	if c.cols == nil {
		return row, nil
	}
	for i, k := range c.cols {
		c.out[i] = row[k]
	}
	return c.out, nil
}

func (c *rowsCursor) Close() {}
