package mssqlsim

import (
	"database/sql"
	"testing"
)

// Microsoft: CREATE TABLE (Transact-SQL), Temporary tables: a local one is seen in its session alone, is dropped when
// the session ends, and needs no permission; sp_reset_connection drops it, too.
func TestTemporaryTablesBelongToTheirSession(t *testing.T) {
	t.Parallel()
	db, pool := newDatabase(t)
	must(t, db.CreateTable(Table{Name: "dbo.kept", Key: []string{"id"}, Columns: []Column{{Name: "id", Type: "int"}}}))
	ctx := t.Context()
	session := func() *sql.Conn {
		c, err := pool.Conn(ctx)
		must(t, err)
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	one, two := session(), session()
	run := func(c *sql.Conn, batch string) error {
		_, err := c.ExecContext(ctx, batch)
		return err
	}
	count := func(c *sql.Conn, from string) (n int) {
		t.Helper()
		must(t, c.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+from).Scan(&n))
		return n
	}
	must(t, run(one, "CREATE TABLE #t (id int NOT NULL PRIMARY KEY, v varchar(5)); INSERT INTO #t VALUES (1, 'a'), (2, 'b')"))
	must(t, run(two, "CREATE TABLE #t (id int); INSERT INTO #t VALUES (7)"))
	if a, b := count(one, "#t"), count(two, "tempdb..#t"); a != 2 || b != 1 {
		t.Errorf("the sessions see %d and %d rows of their #t, want 2 and 1", a, b)
	}
	wantError(t, run(one, "CREATE TABLE #t (id int)"), 2714, "named '#t'")
	if n := count(one, "sys.tables WHERE is_ms_shipped = 0"); n != 1 {
		t.Errorf("sys.tables shows %d tables, want dbo.kept alone: temporary ones are in tempdb", n)
	}
	if n := count(one, "(SELECT OBJECT_ID('tempdb..#t') AS id) AS x WHERE id IS NOT NULL"); n != 1 {
		t.Error("OBJECT_ID does not find #t")
	}
	must(t, run(one, "UPDATE #t SET v = 'c' WHERE id = 1; DELETE FROM #t WHERE id = 2; BEGIN TRAN; INSERT INTO #t VALUES (3, 'd'); ROLLBACK"))
	if n := count(one, "#t WHERE v = 'c'"); n != 1 || count(one, "#t") != 1 {
		t.Error("changes of #t did not take place")
	}
	must(t, run(two, "DROP TABLE #t"))
	wantError(t, run(two, "SELECT id FROM #t"), 208, "'#t'")

	must(t, one.Close()) // the pool resets it for its next user
	again := session()
	wantError(t, run(again, "SELECT id FROM #t"), 208, "'#t'")
	wantError(t, run(again, "CREATE TABLE ##t (id int)"), 50001, "global temporary")

	must(t, run(again, "CREATE LOGIN temporary_small WITH PASSWORD = 'Sm4ll!pw'; CREATE USER temporary_small FOR LOGIN temporary_small"))
	small := as(t, "temporary_small", "Sm4ll!pw")
	c, err := small.Conn(ctx)
	must(t, err)
	must(t, run(c, "CREATE TABLE #mine (id int); INSERT INTO #mine VALUES (1)"))
	if n := count(c, "#mine"); n != 1 {
		t.Errorf("%d rows, want the one of the login without permissions", n)
	}
	must(t, c.Close())
	must(t, small.Close())
	dropLogins(t, pool, "temporary_small")
}
