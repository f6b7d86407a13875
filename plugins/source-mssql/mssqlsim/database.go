package mssqlsim

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/cdc"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// Table defines a table.
type Table struct {
	Name    string // schema.name; dbo may be left out
	Columns []Column
	Key     []string // primary key; none is a heap
	KeyName string   // default PK_name
}

// Column defines a column.
type Column struct {
	Name      string
	Type      string // "decimal(18,4)", "nvarchar(max)"
	Nullable  bool
	Identity  bool // (1,1)
	Collation string
	Default   any
}

// Capture says how a capture instance is made: see cdc.Capture.
type Capture = cdc.Capture

// Database is one database of a server.
type Database struct {
	server *Server
	model  *cdc.Database
	name   string
}

// Model gives the database as package cdc has it, for replays and workloads.
func (d *Database) Model() *cdc.Database { return d.model }

// Name gives the database's name.
func (d *Database) Name() string { return d.name }

func objectName(full string) tsql.Name {
	if schema, name, ok := strings.Cut(full, "."); ok {
		return tsql.Name{Schema: schema, Object: name}
	}
	return tsql.Name{Schema: "dbo", Object: full}
}

func (c Column) def() (tsql.ColumnDef, error) {
	t, err := sqltype.ParseType(c.Type)
	if err != nil {
		return tsql.ColumnDef{}, fmt.Errorf("column %s: %w", c.Name, err)
	}
	if t.Collation, err = sqltype.CollationName(c.Collation); err != nil {
		return tsql.ColumnDef{}, fmt.Errorf("column %s: %w", c.Name, err)
	}
	def := tsql.ColumnDef{Column: tsql.Column{Name: c.Name, Type: t, Nullable: c.Nullable, Identity: c.Identity}}
	if def.Default, err = ValueOf(c.Default, t); err != nil {
		return def, fmt.Errorf("the default of column %s: %w", c.Name, err)
	}
	return def, nil
}

// CreateTable makes a table.
func (d *Database) CreateTable(t Table) error {
	def := tsql.TableDef{Name: objectName(t.Name), Key: t.Key, KeyName: t.KeyName}
	for _, c := range t.Columns {
		x, err := c.def()
		if err != nil {
			return fmt.Errorf("creating table %s: %w", t.Name, err)
		}
		def.Columns = append(def.Columns, x)
	}
	if err := d.model.CreateTable(def); err != nil {
		return fmt.Errorf("creating table %s: %w", t.Name, err)
	}
	return nil
}

// Exec runs T-SQL as sa and throws results away.
func (d *Database) Exec(ctx context.Context, sql string) error {
	sess, err := d.server.cdc.NewSession("sa", d.name)
	if err != nil {
		return err
	}
	defer sess.Close()
	out := &discard{}
	if err := tsql.Exec(ctx, sess, tsql.Request{SQL: sql}, false, out); err != nil {
		return err
	}
	if out.err != nil {
		return out.err
	}
	return nil
}

// discard is an output nobody reads; it keeps the first error a batch went on after.
type discard struct{ err error }

func (*discard) Columns([]tsql.Column) error        { return nil }
func (*discard) Row(sqltype.Row) error              { return nil }
func (*discard) EndResult()                         {}
func (*discard) Affected(int64, tsql.StatementKind) {}
func (*discard) Done(tsql.StatementKind)            {}
func (*discard) BeginProcedure()                    {}
func (*discard) EndProcedure(int32, bool)           {}
func (*discard) Info(*sqltype.Error)                {}
func (*discard) Warn(*sqltype.Error)                {}
func (*discard) NoCount(bool) bool                  { return false }
func (*discard) Database(string)                    {}
func (*discard) DatabaseAgain(string)               {}
func (*discard) Language(string, string)            {}
func (*discard) Implicit(bool) bool                 { return false }
func (d *discard) Raise(e *sqltype.Error) {
	if d.err == nil {
		d.err = e
	}
}

// EnableCDC is sys.sp_cdc_enable_db.
func (d *Database) EnableCDC() error { return d.model.Enable() }

// DisableCDC is sys.sp_cdc_disable_db.
func (d *Database) DisableCDC() { d.model.Disable() }

// EnableTable makes a capture instance: the table's first, or its second while it has one.
func (d *Database) EnableTable(table string, c Capture) error { return d.model.EnableTable(table, c) }

// DropInstance removes a capture instance, its change rows and its DDL history.
func (d *Database) DropInstance(name string) error { return d.model.DisableTable(name) }

// Tx runs fn in a transaction; all its changes, of all tables, are one commit. The LSN is zero when nothing that is
// captured changed. An error of fn undoes everything.
func (d *Database) Tx(ctx context.Context, fn func(*Tx) error) (LSN, error) {
	return d.model.Write(ctx, func(w *cdc.Writer) error { return fn(&Tx{w: w, db: d.model}) })
}

// Idle makes capture write an entry without changes.
func (d *Database) Idle() LSN { return d.model.Idle() }

// Freeze stops capture; Resume lets it catch up.
func (d *Database) Freeze() { d.model.Freeze() }

// Resume lets capture go on.
func (d *Database) Resume() { d.model.Resume() }

// SetCaptureLag makes commits visible to readers of changes that much later, by the server's clock.
func (d *Database) SetCaptureLag(lag time.Duration) { d.model.SetLag(lag) }

// RunJobs runs the jobs of this database that are due by the server's clock: see Server.RunJobs.
func (d *Database) RunJobs() time.Time { return d.model.RunJobs() }

// MaxLSN gives the last LSN capture has processed.
func (d *Database) MaxLSN() LSN { return d.model.MaxLSN() }

// Cleanup moves an instance's low watermark to lsn, then deletes change rows below it.
func (d *Database) Cleanup(instance string, lsn LSN) error { return d.model.Cleanup(instance, lsn) }

// CommitBeforeRead queues fn, which may commit transactions. It runs once, just before the next statement reads rows of
// the table (statements that count, seek or take extremes do not count), after that statement began. Of several
// statements that read at the same time exactly one runs it.
func (d *Database) CommitBeforeRead(table string, fn func() error) error {
	return d.model.BeforeRead(table, fn)
}

// AddColumn is ALTER TABLE ADD.
func (d *Database) AddColumn(table string, c Column) error {
	def, err := c.def()
	if err != nil {
		return fmt.Errorf("altering table %s: %w", table, err)
	}
	return d.model.Alter(table, tsql.Alter{Add: []tsql.ColumnDef{def}}, fmt.Sprintf("ALTER TABLE %s ADD %s %s%s", table, c.Name, c.Type, nullText(c.Nullable)), LSN{})
}

// DropColumn is ALTER TABLE DROP COLUMN.
func (d *Database) DropColumn(table, column string) error {
	return d.model.Alter(table, tsql.Alter{Drop: []string{column}}, fmt.Sprintf("ALTER TABLE %s DROP COLUMN %s", table, column), LSN{})
}

// AlterColumn is ALTER TABLE ALTER COLUMN.
func (d *Database) AlterColumn(table string, c Column) error {
	def, err := c.def()
	if err != nil {
		return fmt.Errorf("altering table %s: %w", table, err)
	}
	return d.model.Alter(table, tsql.Alter{Change: &def}, fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s %s%s", table, c.Name, c.Type, nullText(c.Nullable)), LSN{})
}

func nullText(nullable bool) string {
	if nullable {
		return " NULL"
	}
	return " NOT NULL"
}

// Rows delivers the committed rows of a table in key order, as Go values (see GoValue), until fn returns false. The row
// is valid during the call.
func (d *Database) Rows(table string, fn func(row []any) bool) error {
	cols, err := d.model.Columns(table)
	if err != nil {
		return err
	}
	out := make([]any, len(cols))
	_, err = d.model.Rows(table, func(row sqltype.Row) bool {
		for i, v := range row {
			out[i] = GoValue(v, cols[i].Type)
		}
		return fn(out)
	})
	return err
}

// Count gives the number of committed rows of a table.
func (d *Database) Count(table string) (int, error) { return d.model.Count(table) }

// Restore sets the log back to lsn, as a restore of an older backup in place does.
func (d *Database) Restore(lsn LSN) { d.model.Restore(lsn) }

// Replace gives the database another identity under the same name.
func (d *Database) Replace() { d.model.Replace() }

// JoinGroup makes the database one of an availability group, under the id that all its replicas have.
func (d *Database) JoinGroup(id [16]byte) { d.model.JoinGroup(id) }

// BeSecondary makes the database a readable secondary, or a primary again: its Updateability is READ_ONLY then. What a
// redo of the primary's log would write still may be written.
func (d *Database) BeSecondary(on bool) { d.model.BeSecondary(on) }

// LeaveGroup makes it a database of no group again.
func (d *Database) LeaveGroup() { d.model.LeaveGroup() }

// AllowSnapshot sets ALLOW_SNAPSHOT_ISOLATION, which is on in a new database.
func (d *Database) AllowSnapshot(on bool) { d.model.AllowSnapshot(on) }

// Tx changes tables in one transaction. Values are those ValueOf takes.
type Tx struct {
	w  *cdc.Writer
	db *cdc.Database
}

// Insert adds a row: a value for each column in order.
func (tx *Tx) Insert(table string, values ...any) error {
	row, err := tx.row(table, values)
	if err != nil {
		return fmt.Errorf("inserting into %s: %w", table, err)
	}
	return tx.w.Insert(table, row)
}

func (tx *Tx) row(table string, values []any) (sqltype.Row, error) {
	cols, err := tx.db.Columns(table)
	if err != nil {
		return nil, err
	}
	if len(values) != len(cols) {
		return nil, fmt.Errorf("a row needs %d values, not %d", len(cols), len(values))
	}
	row := make(sqltype.Row, len(cols))
	for i, v := range values {
		if row[i], err = ValueOf(v, cols[i].Type); err != nil {
			return nil, fmt.Errorf("column %s: %w", cols[i].Name, err)
		}
	}
	return row, nil
}

func (tx *Tx) key(table string, values []any) ([]sqltype.Value, error) {
	types, err := tx.db.KeyTypes(table)
	if err != nil {
		return nil, err
	}
	if len(values) != len(types) {
		return nil, fmt.Errorf("the key of %s has %d columns, not %d", table, len(types), len(values))
	}
	key := make([]sqltype.Value, len(types))
	for i, v := range values {
		if key[i], err = ValueOf(v, types[i]); err != nil {
			return nil, fmt.Errorf("key column %d: %w", i+1, err)
		}
	}
	return key, nil
}

// Update sets columns of the row with a key; setting a key column moves the row.
func (tx *Tx) Update(table string, set map[string]any, key ...any) error {
	k, err := tx.key(table, key)
	if err != nil {
		return err
	}
	row, err := tx.w.Get(table, k)
	if err != nil {
		return err
	}
	if row == nil {
		return fmt.Errorf("updating %s: %w", table, cdc.ErrNoRow)
	}
	cols, err := tx.db.Columns(table)
	if err != nil {
		return err
	}
	for name, v := range set {
		found := false
		for i, c := range cols {
			if strings.EqualFold(c.Name, name) {
				found = true
				if row[i], err = ValueOf(v, c.Type); err != nil {
					return fmt.Errorf("updating %s, column %s: %w", table, name, err)
				}
			}
		}
		if !found {
			return sqltype.Errorf(207, "Invalid column name '%s'.", name)
		}
	}
	return tx.w.Update(table, k, row)
}

// Delete removes the row with a key.
func (tx *Tx) Delete(table string, key ...any) error {
	k, err := tx.key(table, key)
	if err != nil {
		return err
	}
	return tx.w.Delete(table, k)
}
