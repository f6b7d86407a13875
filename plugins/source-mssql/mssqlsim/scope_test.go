package mssqlsim

import (
	"database/sql"
	"strings"
	"testing"
)

// Microsoft: CREATE TABLE (Transact-SQL), Temporary tables: one that a procedure made ends with it, is seen by the procedures that
// it calls and not by who called it, and may have the name of an outer one (the page's example); INF: Scoping of Temporary
// Objects with EXEC (Q131913): EXEC of a text is a scope as a procedure is. sp_executesql (Transact-SQL): so is its text.
func TestTemporaryTablesEndWithTheirScope(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	runBatches(t, conn,
		"CREATE PROCEDURE dbo.mk AS BEGIN CREATE TABLE #y (b int); INSERT #y VALUES (1); SELECT b FROM #y END",
		"CREATE PROCEDURE dbo.reads AS SELECT x FROM #t",
		"CREATE PROCEDURE dbo.adds AS INSERT #t VALUES (7)",
		"CREATE PROCEDURE dbo.inner_one AS CREATE TABLE #t (x int PRIMARY KEY); INSERT #t VALUES (2); SELECT x FROM #t; EXEC dbo.reads",
		"CREATE PROCEDURE dbo.outer_one AS CREATE TABLE #t (x int PRIMARY KEY); INSERT #t VALUES (1); SELECT x FROM #t; EXEC dbo.inner_one; EXEC dbo.adds; SELECT x FROM #t ORDER BY x",
		"CREATE PROCEDURE dbo.fails AS CREATE TABLE #f (x int); SELECT 1/0; THROW 50123, 'no', 1")
	for _, c := range []struct{ batch, want string }{
		{"EXEC dbo.mk; EXEC dbo.mk", "1 1"},
		{"EXEC('CREATE TABLE #y (b int)'); EXEC('CREATE TABLE #y (c int)'); EXEC sp_executesql N'CREATE TABLE #y (d int); SELECT name FROM tempdb.sys.columns WHERE object_id = OBJECT_ID(''tempdb..#y'')'; SELECT OBJECT_ID('tempdb..#y'), (SELECT COUNT(*) FROM tempdb.sys.tables WHERE name LIKE '#y%')", "d NULL|0"},
		{"CREATE TABLE #t (x int PRIMARY KEY); INSERT #t VALUES (99); EXEC dbo.outer_one; SELECT x FROM #t", "1 2 2 1 7 99"},
		{"CREATE TABLE #t (x int); INSERT #t VALUES (3); EXEC dbo.adds; EXEC('INSERT #t VALUES (8); EXEC(''INSERT #t VALUES (9)'')'); SELECT x FROM #t; EXEC('DROP TABLE #t'); SELECT OBJECT_ID('tempdb..#t')", "3 7 8 9 NULL"},
		{"SELECT 5 AS x INTO #t; EXEC('SELECT 6 AS x INTO #t; SELECT x FROM #t'); SELECT x FROM #t", "6 5"},
		{"BEGIN TRAN; EXEC('CREATE TABLE #t (x int); INSERT #t VALUES (4); SELECT x FROM #t'); ROLLBACK; CREATE TABLE #t (z int); SELECT COUNT(*) FROM #t", "4 0"},
		{"BEGIN TRY EXEC dbo.fails END TRY BEGIN CATCH SELECT OBJECT_ID('tempdb..#f') END CATCH", "NULL"},
	} {
		if got := strings.Join(queryAll(t, conn, c.batch), " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.batch, got, c.want)
		}
	}
	for batch, name := range map[string]string{
		"EXEC dbo.mk; SELECT b FROM #y":                                     "#y",
		"EXEC('CREATE TABLE #y (b int)'); SELECT b FROM #y":                 "#y",
		"EXEC sp_executesql N'CREATE TABLE #y3 (b int)'; SELECT b FROM #y3": "#y3",
		"EXEC('EXEC(''CREATE TABLE #z (b int)''); SELECT b FROM #z')":       "#z",
	} {
		_, err := conn.Exec(batch)
		wantError(t, err, 208, "'"+name+"'")
	}
	_, err := conn.Exec("EXEC('CREATE TABLE #y (b int); CREATE TABLE #y (b int)')")
	wantError(t, err, 2714, "'#y'")

	c, err := conn.Conn(t.Context())
	must(t, err)
	defer c.Close()
	_, err = c.ExecContext(t.Context(), "CREATE TABLE #p (n int); INSERT #p VALUES (@p1)", 1) // sp_executesql as a call
	must(t, err)
	_, err = c.ExecContext(t.Context(), "SELECT n FROM #p")
	wantError(t, err, 208, "'#p'")
}

// Microsoft: EXECUTE (Transact-SQL), sp_executesql (Transact-SQL): a change of the database lasts until the end of the
// statement; the client is told that it is in the first again.
func TestUseEndsWithTheExecutedText(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	name := query(t, conn, "SELECT DB_NAME()")[0]
	for _, c := range []struct{ batch, want string }{
		{"EXEC('USE master; SELECT DB_NAME()'); SELECT DB_NAME()", "master " + name},
		{"EXEC sp_executesql N'USE tempdb; EXEC(''USE master; SELECT DB_NAME()''); SELECT DB_NAME()'; SELECT DB_NAME()", "master tempdb " + name},
		{"BEGIN TRY EXEC('USE master; SELECT 1/0') END TRY BEGIN CATCH SELECT DB_NAME() END CATCH", name},
		{"EXEC('USE master; CREATE TABLE #m (n int); INSERT #m VALUES (6); SELECT n FROM #m'); CREATE TABLE #m (k int); SELECT COUNT(*) FROM #m", "6 0"},
	} {
		if got := strings.Join(queryAll(t, conn, c.batch), " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.batch, got, c.want)
		}
	}
	one, err := conn.Conn(t.Context())
	must(t, err)
	defer one.Close()
	_, err = one.ExecContext(t.Context(), "USE master; SELECT @p1", 1)
	must(t, err)
	var now string
	must(t, one.QueryRowContext(t.Context(), "SELECT DB_NAME()").Scan(&now))
	if now != name {
		t.Errorf("behind a call of sp_executesql the session is in %s", now)
	}
	_, err = one.ExecContext(t.Context(), "EXEC('USE master; DROP DATABASE ["+name+"]')") // its own session still uses it
	wantError(t, err, 3702, name)
}

// Microsoft: SET Statements (Transact-SQL), Considerations when you use the SET statements; SET TRANSACTION ISOLATION LEVEL
// (Transact-SQL): what a procedure or an executed text set holds until it ends. CONTEXT_INFO is of the session (SET
// CONTEXT_INFO (Transact-SQL)). IDENTITY_INSERT: What is the scope of SET IDENTITY_INSERT xyz ON? (an answer at Stack Overflow).
func TestSetEndsWithItsScope(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	const sets = "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; SET LOCK_TIMEOUT 77; SET DEADLOCK_PRIORITY HIGH; SET NOCOUNT ON; SET IMPLICIT_TRANSACTIONS ON; SET XACT_ABORT ON; SET DATEFIRST 3; SET ROWCOUNT 9; SET TEXTSIZE 5000; SET LANGUAGE French; SET CONTEXT_INFO 0x1234"
	runBatches(t, conn, "CREATE PROCEDURE dbo.sets AS "+sets)
	const state = "SELECT transaction_isolation_level, lock_timeout, deadlock_priority, date_first, text_size, language, @@OPTIONS FROM sys.dm_exec_sessions WHERE session_id = @@SPID"
	for _, call := range []string{"EXEC dbo.sets", "EXEC('" + sets + "')", "EXEC sp_executesql N'" + sets + "'"} {
		c, err := conn.Conn(t.Context())
		must(t, err)
		row := func() []string {
			rows, err := c.QueryContext(t.Context(), state)
			must(t, err)
			defer rows.Close()
			return scanned(t, rows)
		}
		before := row()
		_, err = c.ExecContext(t.Context(), call+"; SELECT n INTO #n FROM (VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10)) AS v (n); IF @@ROWCOUNT < 10 THROW 50123, 'ROWCOUNT is still set', 1; IF @@TRANCOUNT > 0 THROW 50123, 'IMPLICIT_TRANSACTIONS is still set', 1; DROP TABLE #n")
		must(t, err)
		equal(t, row(), before)
		var info string
		must(t, c.QueryRowContext(t.Context(), "SELECT CONVERT(varchar(10), SUBSTRING(CONTEXT_INFO(), 1, 2), 1)").Scan(&info))
		if info != "0x1234" {
			t.Errorf("%s: CONTEXT_INFO is %s", call, info)
		}
		must(t, c.Close())
	}
	exec(t, conn, "CREATE TABLE dbo.tst (c int IDENTITY)")
	_, err := conn.Exec("EXEC('SET IDENTITY_INSERT dbo.tst ON'); INSERT INTO dbo.tst (c) VALUES (1)")
	wantError(t, err, 544, "tst")
	exec(t, conn, "SET IDENTITY_INSERT dbo.tst ON; EXEC('INSERT INTO dbo.tst (c) VALUES (5)'); SET IDENTITY_INSERT dbo.tst OFF")
}

// scanned gives the columns of the first row.
func scanned(t testing.TB, rows *sql.Rows) (out []string) {
	t.Helper()
	columns, err := rows.Columns()
	must(t, err)
	values, places := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		places[i] = &values[i]
	}
	if !rows.Next() {
		t.Fatal("no row")
	}
	must(t, rows.Scan(places...))
	for _, v := range values {
		out = append(out, show(v))
	}
	return out
}

// Microsoft: OBJECT_ID (Transact-SQL), Remarks: the name of a temporary table needs that of its database unless the session is in
// tempdb.
func TestObjectIDOfATemporaryTable(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	for expr, want := range map[string]string{
		"OBJECT_ID('#t')": "false", "OBJECT_ID('dbo.#t')": "false", "OBJECT_ID('master..#t')": "false", "OBJECT_ID('tempdb..#t', 'P')": "false",
		"OBJECT_ID('tempdb..#t')": "true", "OBJECT_ID('[tempdb].dbo.[#t]', 'U')": "true",
	} {
		if got := query(t, conn, "CREATE TABLE #t (i int); SELECT CAST(IIF("+expr+" IS NULL, 0, 1) AS bit)"); got[0] != want {
			t.Errorf("%s is there: %v, want %s", expr, got, want)
		}
	}
	equal(t, queryAll(t, conn, "CREATE TABLE #t (i int); EXEC('USE tempdb; SELECT IIF(OBJECT_ID(''#t'') IS NULL, 0, 1)')"), []string{"1"})
}

// Microsoft: ALTER DATABASE SCOPED CONFIGURATION (Transact-SQL), VERBOSE_TRUNCATION_WARNINGS: 2628 names the table. Illogical
// errors in SQL Server (sqlblog.org): that of a temporary one is in tempdb.
func TestErrorsOfATemporaryTableNameTempdb(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	for batch, want := range map[string]struct {
		number int32
		part   string
	}{
		"CREATE TABLE #t (a varchar(5)); INSERT #t VALUES ('toolong')":                 {2628, "table 'tempdb.dbo.#t___"},
		"CREATE TABLE #t (a int NOT NULL); INSERT #t VALUES (NULL)":                    {515, "table 'tempdb.dbo.#t___"},
		"CREATE TABLE #t (a int CONSTRAINT above CHECK (a > 0)); INSERT #t VALUES (0)": {547, "database \"tempdb\", table \"dbo.#t___"},
	} {
		_, err := conn.Exec(batch)
		wantError(t, err, want.number, want.part)
	}
}
