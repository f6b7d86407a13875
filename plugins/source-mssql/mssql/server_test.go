package mssql

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/lsn"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/client"
)

// serverVariable names a SQL Server for the tests that need nothing but T-SQL:
// sqlserver://LOGIN:PASSWORD@HOST:PORT?encrypt=..., of a login that may make
// databases and enable CDC. Each test then makes a database and drops it.
// Without it they use the simulator, as all other tests do.
const serverVariable = "PIPECTL_TEST_MSSQL_DSN"

// database is what such a test needs of its server. A *mssqlsim.Database is
// one, and so is a *realDatabase.
type database interface {
	Name() string
	CreateTable(t mssqlsim.Table) error
	EnableTable(table string, c mssqlsim.Capture) error
	DropInstance(name string) error
	AddColumn(table string, c mssqlsim.Column) error
	DropColumn(table, column string) error
	AlterColumn(table string, c mssqlsim.Column) error
	Exec(ctx context.Context, sql string) error
}

// writer is one transaction.
type writer interface {
	Insert(table string, values ...any) error
	Update(table string, set map[string]any, key ...any) error
	Delete(table string, key ...any) error
}

// wireDatabase makes a captured database: on the server of the environment,
// else on the simulator.
func wireDatabase(t testing.TB) database {
	t.Helper()
	text := os.Getenv(serverVariable)
	if text == "" {
		return newDatabase(t)
	}
	master, err := url.Parse(text)
	must(t, err)
	name := "pipectl_test_" + strings.ToLower(rand.Text()[:12])
	admin := connect(t, master, "master")
	defer func() { must(t, admin.Close()) }()
	_, err = admin.ExecContext(ctx, "CREATE DATABASE ["+name+"]")
	must(t, err)
	db := &realDatabase{name: name, dsn: withDatabase(master, name), job: true, tables: map[string]mssqlsim.Table{}, instances: map[string]string{}}
	t.Cleanup(func() {
		must(t, db.sql.Close())
		admin := connect(t, master, "master")
		_, err := admin.ExecContext(context.Background(), "ALTER DATABASE ["+name+"] SET SINGLE_USER WITH ROLLBACK IMMEDIATE; DROP DATABASE ["+name+"]")
		must(t, errors.Join(err, admin.Close()))
	})
	db.sql = connect(t, master, name)
	must(t, db.Exec(ctx, "EXEC sys.sp_cdc_enable_db"))
	return db
}

func withDatabase(server *url.URL, name string) string {
	u, query := *server, server.Query()
	query.Set("database", name)
	u.RawQuery = query.Encode()
	return u.String()
}

func connect(t testing.TB, server *url.URL, name string) *sql.DB {
	t.Helper()
	db, err := client.Open(withDatabase(server, name))
	must(t, err)
	return db
}

// dsn is how a session reaches a database.
func dsn(db database) string {
	if r, ok := db.(*realDatabase); ok {
		return r.dsn
	}
	return server.DSN(db.Name())
}

// write is one transaction, captured when it returns; it answers its LSN.
func write(db database, fn func(writer) error) (lsn.LSN, error) {
	if r, ok := db.(*realDatabase); ok {
		return r.write(fn)
	}
	l, err := db.(*mssqlsim.Database).Tx(ctx, func(tx *mssqlsim.Tx) error { return fn(tx) })
	if err != nil {
		return lsn.LSN{}, err
	}
	return lsn.Parse(l.String())
}

// realDatabase is a database of a real server. Its capture job is stopped, and
// the log is scanned after each transaction, so that no test waits (Microsoft:
// sys.sp_cdc_stop_job, sys.sp_cdc_scan).
type realDatabase struct {
	name, dsn string
	sql       *sql.DB
	// job is true where capture is a job that stands still; the simulator
	// captures each commit.
	job bool

	mu     sync.Mutex
	tables map[string]mssqlsim.Table
	// instances are the tables of capture instances, by names in lower case.
	instances map[string]string
}

func (d *realDatabase) Name() string { return d.name }

func (d *realDatabase) Exec(ctx context.Context, text string) error {
	if _, err := d.sql.ExecContext(ctx, text); err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	return nil
}

func bracket(name string) string { return "[" + strings.ReplaceAll(name, "]", "]]") + "]" }

// literal is a text in T-SQL.
func literal(text string) string { return "N'" + strings.ReplaceAll(text, "'", "''") + "'" }

// split takes schema and name apart at the first dot; dbo may be left out.
func split(table string) (schema, name string) {
	schema, name, dotted := strings.Cut(table, ".")
	if !dotted {
		return "dbo", table
	}
	return schema, name
}

func objectName(table string) string {
	schema, name := split(table)
	return bracket(schema) + "." + bracket(name)
}

func definition(c mssqlsim.Column) string {
	text := bracket(c.Name) + " " + c.Type
	if c.Collation != "" {
		text += " COLLATE " + c.Collation
	}
	if c.Nullable {
		return text + " NULL"
	}
	return text + " NOT NULL"
}

func (d *realDatabase) CreateTable(t mssqlsim.Table) error {
	var parts []string
	for _, c := range t.Columns {
		parts = append(parts, definition(c))
	}
	if len(t.Key) > 0 {
		var key []string
		for _, k := range t.Key {
			key = append(key, bracket(k))
		}
		parts = append(parts, "PRIMARY KEY ("+strings.Join(key, ", ")+")")
	}
	d.mu.Lock()
	d.tables[t.Name] = t
	d.mu.Unlock()
	return d.Exec(ctx, "CREATE TABLE "+objectName(t.Name)+" ("+strings.Join(parts, ", ")+")")
}

func (d *realDatabase) EnableTable(table string, c mssqlsim.Capture) error {
	schema, name := split(table)
	d.mu.Lock()
	d.instances[strings.ToLower(cmp.Or(c.Name, schema+"_"+name))] = table
	d.mu.Unlock()
	text := fmt.Sprintf("EXEC sys.sp_cdc_enable_table @source_schema = %s, @source_name = %s, @role_name = %s", literal(schema), literal(name), cmp.Or(nullable(c.Role), "NULL"))
	if c.Name != "" {
		text += ", @capture_instance = " + literal(c.Name)
	}
	if len(c.Columns) > 0 {
		var list []string
		for _, col := range c.Columns {
			list = append(list, bracket(col))
		}
		text += ", @captured_column_list = " + literal(strings.Join(list, ","))
	}
	if err := d.Exec(ctx, text); err != nil || !d.job {
		return err
	}
	// The first instance starts the job where SQL Server Agent runs; without
	// Agent there is none to stop.
	if err := d.Exec(ctx, "BEGIN TRY EXEC sys.sp_cdc_stop_job @job_type = N'capture' END TRY BEGIN CATCH END CATCH"); err != nil {
		return err
	}
	return d.scan()
}

func nullable(text string) string {
	if text == "" {
		return ""
	}
	return literal(text)
}

// scan captures what the log holds.
func (d *realDatabase) scan() error {
	if !d.job {
		return nil
	}
	return d.Exec(ctx, "EXEC sys.sp_cdc_scan @continuous = 0")
}

func (d *realDatabase) DropInstance(name string) error {
	d.mu.Lock()
	schema, table := split(d.instances[strings.ToLower(name)])
	d.mu.Unlock()
	return d.Exec(ctx, fmt.Sprintf("EXEC sys.sp_cdc_disable_table @source_schema = %s, @source_name = %s, @capture_instance = %s", literal(schema), literal(table), literal(name)))
}

// altered runs DDL and keeps what columns the table has.
func (d *realDatabase) altered(table, text string, change func([]mssqlsim.Column) []mssqlsim.Column) error {
	if err := d.Exec(ctx, "ALTER TABLE "+objectName(table)+" "+text); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.tables[table]
	t.Columns = change(slices.Clone(t.Columns))
	d.tables[table] = t
	return nil
}

func (d *realDatabase) AddColumn(table string, c mssqlsim.Column) error {
	return d.altered(table, "ADD "+definition(c), func(list []mssqlsim.Column) []mssqlsim.Column { return append(list, c) })
}

func (d *realDatabase) DropColumn(table, column string) error {
	return d.altered(table, "DROP COLUMN "+bracket(column), func(list []mssqlsim.Column) []mssqlsim.Column {
		return slices.DeleteFunc(list, func(c mssqlsim.Column) bool { return c.Name == column })
	})
}

func (d *realDatabase) AlterColumn(table string, c mssqlsim.Column) error {
	return d.altered(table, "ALTER COLUMN "+definition(c), func(list []mssqlsim.Column) []mssqlsim.Column {
		list[slices.IndexFunc(list, func(have mssqlsim.Column) bool { return have.Name == c.Name })] = c
		return list
	})
}

func (d *realDatabase) write(fn func(writer) error) (lsn.LSN, error) {
	tx, err := d.sql.BeginTx(ctx, nil)
	if err != nil {
		return lsn.LSN{}, err
	}
	if err := fn(realWriter{d, tx}); err != nil {
		return lsn.LSN{}, errors.Join(err, tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return lsn.LSN{}, err
	}
	if err := d.scan(); err != nil {
		return lsn.LSN{}, err
	}
	var text string
	if err := d.sql.QueryRowContext(ctx, "SELECT CONVERT(varchar(22), sys.fn_cdc_get_max_lsn(), 1)").Scan(&text); err != nil {
		return lsn.LSN{}, err
	}
	return lsn.Parse(text)
}

// realWriter is one transaction on a real server.
type realWriter struct {
	db *realDatabase
	tx *sql.Tx
}

// value is a parameter as the column's type. Texts are left to the column, for
// its collation; other types are cast, since some, like money, take no text.
func value(c mssqlsim.Column, n int) string {
	for _, text := range []string{"char", "text", "xml"} {
		if strings.Contains(c.Type, text) {
			return fmt.Sprintf("@p%d", n)
		}
	}
	return fmt.Sprintf("CAST(@p%d AS %s)", n, c.Type)
}

func (w realWriter) table(name string) mssqlsim.Table {
	w.db.mu.Lock()
	defer w.db.mu.Unlock()
	return w.db.tables[name]
}

func (w realWriter) column(t mssqlsim.Table, name string) mssqlsim.Column {
	return t.Columns[slices.IndexFunc(t.Columns, func(c mssqlsim.Column) bool { return c.Name == name })]
}

func (w realWriter) exec(text string, args []any) error {
	if _, err := w.tx.ExecContext(ctx, text, args...); err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	return nil
}

func (w realWriter) Insert(table string, values ...any) error {
	t := w.table(table)
	var parts []string
	for i := range values {
		parts = append(parts, value(t.Columns[i], i+1))
	}
	return w.exec("INSERT INTO "+objectName(table)+" VALUES ("+strings.Join(parts, ", ")+")", values)
}

func (w realWriter) Update(table string, set map[string]any, key ...any) error {
	t := w.table(table)
	var parts []string
	var args []any
	for name, v := range set {
		args = append(args, v)
		parts = append(parts, bracket(name)+" = "+value(w.column(t, name), len(args)))
	}
	where, args := w.where(t, key, args)
	return w.exec("UPDATE "+objectName(table)+" SET "+strings.Join(parts, ", ")+where, args)
}

func (w realWriter) Delete(table string, key ...any) error {
	where, args := w.where(w.table(table), key, nil)
	return w.exec("DELETE FROM "+objectName(table)+where, args)
}

func (w realWriter) where(t mssqlsim.Table, key, args []any) (string, []any) {
	var parts []string
	for i, k := range key {
		args = append(args, k)
		parts = append(parts, bracket(t.Key[i])+" = "+value(w.column(t, t.Key[i]), len(args)))
	}
	return " WHERE " + strings.Join(parts, " AND "), args
}

// What the tests send to a real server, sent to the simulator, so that it is
// T-SQL at least. It has no capture job, and a database is there at once.
func TestADatabaseOverTheWire(t *testing.T) {
	t.Parallel()
	own := newDatabase(t)
	address, err := url.Parse(server.DSN(own.Name()))
	must(t, err)
	db := &realDatabase{name: own.Name(), dsn: server.DSN(own.Name()), sql: connect(t, address, own.Name()), tables: map[string]mssqlsim.Table{}, instances: map[string]string{}}
	t.Cleanup(func() { must(t, db.sql.Close()) })
	must(t, db.CreateTable(mssqlsim.Table{Name: "dbo.a$b c", Key: []string{"the id", "x]y"}, Columns: []mssqlsim.Column{{Name: "the id", Type: "int"}, {Name: "x]y", Type: "varchar(8)", Collation: "Greek_CI_AS"},
		{Name: "m", Type: "money", Nullable: true}, {Name: "b", Type: "varbinary(8)", Nullable: true}, {Name: "t", Type: "text", Nullable: true}, {Name: "left out", Type: "int", Nullable: true}}}))
	must(t, db.EnableTable("dbo.a$b c", mssqlsim.Capture{Name: "dbo_Café", Columns: []string{"the id", "x]y", "m", "b", "t"}}))
	commit(t, db, func(tx writer) error { return tx.Insert("dbo.a$b c", 1, "α", "1.5", []byte{7}, "old", nil) })
	commit(t, db, func(tx writer) error { return tx.Update("dbo.a$b c", map[string]any{"m": "2"}, 1, "α") })
	commit(t, db, func(tx writer) error { return tx.Delete("dbo.a$b c", 1, "α") })
	if _, err := write(db, func(tx writer) error {
		return errors.Join(tx.Insert("dbo.a$b c", 2, "β", nil, nil, nil, nil), errors.New("no"))
	}); err == nil {
		t.Error("a transaction that failed was committed")
	}
	s := open(t, db, nil)
	tab := table(written{"object": str("[dbo].[a$b c]")})
	from := start(t, s, tab, "earliest")
	lines, _ := readRanges(t, s, tab, plan(t, s, tab, from, latest(t, s, tab, from)))
	equal(t, short(lines), []string{"2|1|α|1.5000|07|old", "3|1|α|1.5000|07|NULL", "4|1|α|2.0000|07|old", "1|1|α|2.0000|07|NULL"})

	orders(t, db)
	must(t, db.AddColumn("dbo.orders", mssqlsim.Column{Name: "region", Type: "varchar(8)", Nullable: true}))
	must(t, db.AlterColumn("dbo.orders", mssqlsim.Column{Name: "note", Type: "nvarchar(80)", Nullable: true}))
	must(t, db.DropColumn("dbo.orders", "amount"))
	commit(t, db, func(tx writer) error { return tx.Insert("dbo.orders", 1, "a", "north") })
	must(t, db.EnableTable("dbo.orders", mssqlsim.Capture{Name: "second", Role: "readers"}))
	must(t, db.DropInstance("dbo_orders"))
	last := commit(t, db, func(tx writer) error { return tx.Update("dbo.orders", map[string]any{"region": "south"}, 1) })
	s, tab = open(t, db, nil), table()
	from = start(t, s, tab, "earliest")
	to := latest(t, s, tab, from)
	lines, _ = readRanges(t, s, tab, plan(t, s, tab, from, to))
	equal(t, short(lines), []string{"3|1|a|north", "4|1|a|south"})
	if to.Text != last.String() {
		t.Errorf("the end is %s, the last commit %s", to.Text, last)
	}
}
