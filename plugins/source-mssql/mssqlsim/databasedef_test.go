package mssqlsim

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	mssqldb "github.com/microsoft/go-mssqldb"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/client"
)

// A database is made, changed and dropped by statements. Sources of the numbers: Microsoft, Database engine events and
// errors; of the defaults: Microsoft, ALTER DATABASE SET options, and Recovery models.
func TestDatabasesByStatement(t *testing.T) {
	t.Parallel()
	server, err := Start(t.Context(), Options{})
	must(t, err)
	t.Cleanup(server.Close)
	pool, err := client.Open(server.DSN("master"))
	must(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	c, err := pool.Conn(t.Context())
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	const look = "SELECT CONCAT(snapshot_isolation_state_desc, ' ', is_read_committed_snapshot_on, ' ', recovery_model_desc, ' ', database_id) FROM sys.databases WHERE name = 'shop'"
	for _, step := range []struct{ sql, want string }{
		{"CREATE DATABASE shop", ""},
		{look, "OFF 0 FULL 5"},
		{"CREATE DATABASE SHOP", "1801"},
		{"ALTER DATABASE shop SET ALLOW_SNAPSHOT_ISOLATION ON", ""},
		{"ALTER DATABASE shop SET RECOVERY BULK_LOGGED; ALTER DATABASE shop SET READ_COMMITTED_SNAPSHOT ON", ""},
		{look, "ON 1 BULK_LOGGED 5"},
		{"ALTER DATABASE shop SET AUTO_CLOSE ON", "50001"},
		{"ALTER DATABASE market SET RECOVERY SIMPLE", "5011"},
		{"USE shop; CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1)", ""},
		{"DROP DATABASE shop", "3702"},
		{"ALTER DATABASE CURRENT SET RECOVERY SIMPLE; ALTER DATABASE CURRENT SET ALLOW_SNAPSHOT_ISOLATION OFF", ""},
		{look, "OFF 1 SIMPLE 5"},
		{"USE master; BEGIN TRAN; DROP DATABASE shop", "226"},
		{"CREATE DATABASE other", "226"},
		{"ROLLBACK; DROP DATABASE shop", ""},
		{"SELECT COUNT(*) FROM shop.dbo.t", "911"},
		{"DROP DATABASE shop", "3701"},
		{"DROP DATABASE IF EXISTS shop", ""},
		{"DROP DATABASE msdb", "3708"},
		{"CREATE DATABASE shop", ""},
		{look, "OFF 0 FULL 6"},
	} {
		if got := answer(t.Context(), c, step.sql); got != step.want {
			t.Errorf("%s: %q, want %q", step.sql, got, step.want)
		}
	}
}

// A database in which somebody sits cannot be dropped, until they leave.
func TestADatabaseInUseStays(t *testing.T) {
	t.Parallel()
	server, err := Start(t.Context(), Options{})
	must(t, err)
	t.Cleanup(server.Close)
	server.Database("shop")
	var conns [2]*sql.Conn
	for i, database := range []string{"master", "shop"} {
		pool, err := client.Open(server.DSN(database))
		must(t, err)
		t.Cleanup(func() { _ = pool.Close() })
		conns[i], err = pool.Conn(t.Context())
		must(t, err)
		if got := answer(t.Context(), conns[i], "SELECT 1"); got != "1" {
			t.Fatal(got)
		}
	}
	if got := answer(t.Context(), conns[0], "DROP DATABASE shop"); got != "3702" {
		t.Errorf("in use: %q", got)
	}
	if got := answer(t.Context(), conns[1], "USE master"); got != "" {
		t.Fatal(got)
	}
	if got := answer(t.Context(), conns[0], "DROP DATABASE shop"); got != "" {
		t.Errorf("free: %q", got)
	}
}

// answer is the first value of a batch as text, or the number of its error.
func answer(ctx context.Context, c asked, batch string) string {
	if !strings.HasPrefix(batch, "SELECT") {
		_, err := c.ExecContext(ctx, batch)
		return number(err)
	}
	var v any
	if err := c.QueryRowContext(ctx, batch).Scan(&v); err != nil {
		return number(err)
	}
	return fmt.Sprint(v)
}

// asked is a connection or a pool of them.
type asked interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func number(err error) string {
	var e mssqldb.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return fmt.Sprint(e.Number)
	}
	return err.Error()
}
