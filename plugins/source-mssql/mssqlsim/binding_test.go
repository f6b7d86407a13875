package mssqlsim

import (
	"strings"
	"testing"
)

// What a batch names is looked up before it begins: columns of tables that are there, functions, types. Nothing of the batch is
// done then, where the statement is never reached either (Microsoft: Batches; Autocommit Transactions, Compile and Run-time
// Errors).
func TestNamesAreLookedUpBeforeABatchBegins(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	runBatches(t, conn, "CREATE TABLE dbo.seen (n int)", "CREATE TABLE dbo.k (id int NOT NULL, name nvarchar(10) NULL, d date NULL)")
	for _, tc := range []struct {
		batch  string
		number int32
	}{
		{"SELECT nope FROM dbo.k", 207},
		{"IF 1 = 0 SELECT nope", 207},
		{"IF 1 = 0 SELECT nope FROM dbo.k", 207},
		{"IF EXISTS (SELECT nope FROM dbo.k) SELECT 1", 207},
		{"WHILE 1 = 0 DELETE dbo.k WHERE nope = 1", 207},
		{"BEGIN TRY SELECT nope FROM dbo.k END TRY BEGIN CATCH SELECT 1 END CATCH", 207},
		{"SELECT q.id FROM dbo.k", 4104},
		{"SELECT id, COUNT(*) FROM dbo.k", 8120},
		{"SELECT id FROM dbo.k WHERE COUNT(*) > 1", 147},
		{"SELECT id FROM (SELECT id FROM dbo.k ORDER BY id) x", 1033},
		{"SELECT * FROM (SELECT 1) x", 8155},
		{"SELECT nofunction(1)", 195},
		{"SELECT LEN()", 174},
		{"SELECT CAST(d AS int) FROM dbo.k", 529},
		{"SELECT a.id FROM dbo.k a, dbo.k b WHERE id = 1", 209},
		{"INSERT dbo.k (id, nope) VALUES (1, 2)", 207},
		{"INSERT dbo.k VALUES (1)", 213},
		{"INSERT dbo.k (id, d) VALUES (1, 2)", 206},
		{"INSERT dbo.k (id) SELECT d FROM dbo.k", 206},
		{"UPDATE dbo.k SET nope = 1", 207},
		{"UPDATE dbo.k SET id = 1, id = 2", 264},
		{"DELETE dbo.k WHERE nope = 1", 207},
		{"MERGE dbo.k USING (SELECT 1 AS id) s ON k.nope = s.id WHEN MATCHED THEN DELETE;", 207},
		{"DECLARE @x int = (SELECT nope FROM dbo.k)", 207},
		{"DECLARE @x int; SET @x = (SELECT nope FROM dbo.k)", 207},
		{"DECLARE @x int; SELECT @x = nope FROM dbo.k", 207},
		{"DECLARE c CURSOR FOR SELECT nope FROM dbo.k", 207},
		{"DECLARE @t TABLE (a int); SELECT b FROM @t", 207},
		{"SELECT 1 WHERE EXISTS (SELECT 1 FROM dbo.k WHERE nope = 1)", 207},
		{"SELECT nope INTO #made FROM dbo.k", 207},
		{"PRINT nofunction(1)", 195},
		// The columns of a batch are those that its tables have when it begins (Microsoft: Batches, Rules for using batches).
		{"ALTER TABLE dbo.k ADD late int; UPDATE dbo.k SET late = 1", 207},
		{"EXEC sp_rename 'dbo.k.name', 'late', 'COLUMN'; SELECT late FROM dbo.k", 207},
		{"USE master; SELECT nope FROM sys.tables", 207},
		{"USE nope", 911},
	} {
		_, err := conn.ExecContext(t.Context(), "INSERT dbo.seen VALUES (1); "+tc.batch)
		if n := errorNumber(err); n != tc.number {
			t.Errorf("%s: %v, want %d", tc.batch, err, tc.number)
		}
		equal(t, queryAll(t, conn, "SELECT COUNT(*) FROM dbo.seen"), []string{"0"})
		runBatches(t, conn, "TRUNCATE TABLE dbo.seen")
	}
	equal(t, queryAll(t, conn, "SELECT COUNT(*) FROM sys.columns WHERE object_id = OBJECT_ID('dbo.k')"), []string{"3"})
}

// A statement on what is not there is compiled when it is reached, and ends the batch then. What was done before it stays
// (Microsoft: CREATE PROCEDURE (Transact-SQL), Deferred Name Resolution; Batches).
func TestWhatIsNotThereIsLookedUpWhenItIsReached(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	runBatches(t, conn, "CREATE TABLE dbo.seen (n int)", "CREATE TABLE dbo.k (id int NOT NULL)")
	for _, tc := range []struct {
		batch  string
		number int32
		seen   string
	}{
		{"INSERT dbo.seen VALUES (1); SELECT * FROM dbo.nope; INSERT dbo.seen VALUES (2)", 208, "1"},
		{"INSERT dbo.seen VALUES (1); SELECT nope FROM dbo.k JOIN dbo.nope n ON n.id = k.id", 208, "1"},
		{"IF 1 = 0 SELECT * FROM dbo.nope; INSERT dbo.seen VALUES (1)", 0, "1"},
		{"IF 1 = 0 SELECT * FROM dbo.nothing(1); INSERT dbo.seen VALUES (1)", 0, "1"},
		{"INSERT dbo.seen VALUES (1); BEGIN TRY SELECT * FROM dbo.nope END TRY BEGIN CATCH INSERT dbo.seen VALUES (2) END CATCH", 208, "1"},
		{"CREATE TABLE dbo.t3 (a int); INSERT dbo.t3 VALUES (1); INSERT dbo.seen VALUES (1); INSERT dbo.t3 VALUES (1, 1); INSERT dbo.seen VALUES (1)", 213, "1"},
		{"CREATE TABLE #t (a int); ALTER TABLE #t ADD b int; INSERT #t VALUES (1, 2); INSERT dbo.seen SELECT b FROM #t; DROP TABLE #t", 0, "1"},
		{"SELECT 7 AS a INTO #u; INSERT dbo.seen SELECT a FROM #u; DROP TABLE #u", 0, "1"},
		{"IF OBJECT_ID('dbo.lazy') IS NULL CREATE TABLE dbo.lazy (a int); INSERT dbo.lazy VALUES (1); INSERT dbo.seen SELECT a FROM dbo.lazy", 0, "1"},
		{"WITH c AS (SELECT n FROM dbo.seen) SELECT n FROM c; UPDATE a SET n = 1 FROM dbo.seen a; INSERT dbo.seen VALUES (1)", 0, "1"},
		// Values and rows are no matter of compilation, nor is what SET changes.
		{"INSERT dbo.seen VALUES (1); SELECT 1/0", 8134, "1"},
		{"INSERT dbo.seen VALUES (1); SELECT CAST('x' AS int)", 245, "1"},
		{"INSERT dbo.seen VALUES (1); IF 1 = 0 SELECT 1/0", 0, "1"},
		{"DECLARE @n int; SET @n = 1; DELETE TOP (@n) dbo.k; SELECT TOP (@n) * FROM dbo.k; INSERT dbo.seen VALUES (1)", 0, "1"},
		{"DECLARE @s int; SET @s = 120; INSERT dbo.seen VALUES (1); SELECT CONVERT(varchar(30), GETDATE(), @s)", 0, "1"},
		{"EXEC('INSERT dbo.seen VALUES (1); SELECT nope FROM dbo.k')", 207, "0"},
		{"EXEC('INSERT dbo.seen VALUES (1); SELECT nope FROM dbo.nope')", 208, "1"},
		{"EXEC sp_executesql N'INSERT dbo.seen VALUES (1); SELECT nope FROM dbo.k'", 207, "0"},
		{"BEGIN TRY EXEC('INSERT dbo.seen VALUES (1); SELECT nope FROM dbo.k') END TRY BEGIN CATCH INSERT dbo.seen VALUES (ERROR_NUMBER()) END CATCH", 0, "1"},
	} {
		_, err := conn.ExecContext(t.Context(), tc.batch)
		if n := errorNumber(err); n != tc.number {
			t.Errorf("%s: %v, want %d", tc.batch, err, tc.number)
		}
		if got := queryAll(t, conn, "SELECT COUNT(*) FROM dbo.seen"); strings.Join(got, "") != tc.seen {
			t.Errorf("%s: %v rows, want %s", tc.batch, got, tc.seen)
		}
		runBatches(t, conn, "TRUNCATE TABLE dbo.seen")
	}
}

// A procedure with a column that a table has not is not made, one with a table that is not there is; it is compiled again
// before it runs (Microsoft: CREATE PROCEDURE (Transact-SQL), Deferred Name Resolution).
func TestProceduresAreCompiled(t *testing.T) {
	t.Parallel()
	conn := newEmpty(t)
	play(t, conn, []step{
		{sql: "CREATE TABLE dbo.seen (n int)\nGO\nCREATE TABLE dbo.k (id int NOT NULL)"},
		{sql: "CREATE PROCEDURE dbo.p AS SELECT nope FROM dbo.k", err: 207, part: "Invalid column name 'nope'."},
		{sql: "CREATE PROCEDURE dbo.p AS IF 1 = 0 SELECT nofunction(1)", err: 195},
		{sql: "CREATE PROCEDURE dbo.p @a int AS UPDATE dbo.k SET id = @a WHERE nope = @a", err: 207},
		{sql: "EXEC dbo.p", err: 2812},
		{sql: "CREATE PROCEDURE dbo.p AS INSERT dbo.seen VALUES (1); SELECT nope FROM dbo.later"},
		{sql: "EXEC dbo.p", err: 208},
		{name: "what came before it was done", sql: "SELECT COUNT(*) FROM dbo.seen", rows: []string{"1"}},
		{sql: "CREATE TABLE dbo.later (id int)\nGO\nEXEC dbo.p", err: 207},
		{name: "nothing was done", sql: "SELECT COUNT(*) FROM dbo.seen", rows: []string{"1"}},
		{sql: "ALTER TABLE dbo.later ADD nope int\nGO\nINSERT dbo.later VALUES (1, 2)\nGO\nEXEC dbo.p", rows: []string{"2"}},
		{sql: "CREATE PROCEDURE dbo.temporary AS CREATE TABLE #t (a int); INSERT #t VALUES (3); SELECT a FROM #t\nGO\nEXEC dbo.temporary", rows: []string{"3"}},
	})
}

// While another session changes the shape of the database, a batch that does not need it goes on.
func TestABatchDoesNotWaitToBeCompiled(t *testing.T) {
	t.Parallel()
	conn := newEmpty(t)
	conn.SetMaxOpenConns(2)
	_, err := conn.Exec("CREATE TABLE dbo.k (id int)")
	must(t, err)
	tx, err := conn.Begin()
	must(t, err)
	_, err = tx.Exec("ALTER TABLE dbo.k ADD late int")
	must(t, err)
	_, err = conn.Exec("SET LOCK_TIMEOUT 0; DECLARE @n int; SET NOCOUNT ON; IF 1 = 0 SELECT late FROM dbo.k; SELECT late FROM dbo.k")
	wantError(t, err, 1222, "")
	must(t, tx.Commit())
}
