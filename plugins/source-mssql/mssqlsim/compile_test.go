package mssqlsim

import (
	"errors"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"
)

// The scope of a variable is its batch, whatever block declares it; DECLARE assigns where it has a value to assign
// (Microsoft: Variables (Transact-SQL), Variable scope; DECLARE @local_variable (Transact-SQL)).
func TestVariablesAreOfTheirBatch(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	runBatches(t, conn, "CREATE PROCEDURE dbo.counts AS DECLARE @i int = 0; WHILE @i < 2 BEGIN DECLARE @n int; SET @n = ISNULL(@n, 0) + 1; SET @i += 1 END; SELECT @n")
	for _, tc := range []struct {
		batch string
		want  []string
	}{
		{"DECLARE @i int = 0; WHILE @i < 2 BEGIN DECLARE @n int; SET @n = ISNULL(@n, 0) + 1; SET @i += 1; SELECT @n END", []string{"1", "2"}},
		{"DECLARE @i int = 0; WHILE @i < 2 BEGIN DECLARE @n int = 5; SET @n += 1; SET @i += 1; SELECT @n END", []string{"6", "6"}},
		{"DECLARE @i int = 0; WHILE @i < 2 BEGIN DECLARE @t TABLE (n int); INSERT @t VALUES (@i); SET @i += 1 END; SELECT COUNT(*) FROM @t", []string{"2"}},
		{"IF 1 = 0 BEGIN DECLARE @y int = 5 END; SELECT @y", []string{"NULL"}},
		{"BEGIN TRY SELECT 1/0; DECLARE @y int = 5 END TRY BEGIN CATCH SELECT @y END CATCH", []string{"NULL"}},
		{"DECLARE @a int = 2, @b int = 3; SELECT @a + @B", []string{"5"}},
		{"EXEC dbo.counts", []string{"2"}},
	} {
		equal(t, queryAll(t, conn, tc.batch), tc.want)
	}
	// A value that does not fit leaves the variable as it was, and the batch goes on.
	runBatches(t, conn, "CREATE TABLE dbo.seen (d decimal(5,1))")
	_, err := conn.ExecContext(t.Context(), "DECLARE @d decimal(3,1) = 99.95; INSERT dbo.seen VALUES (@d)")
	if n := errorNumber(err); n != 8115 {
		t.Errorf("%v", err)
	}
	equal(t, queryAll(t, conn, "SELECT d FROM dbo.seen"), []string{"NULL"})
}

func errorNumber(err error) int32 {
	var e mssql.Error
	if errors.As(err, &e) {
		return e.Number
	}
	return 0
}

// A batch with an error of compilation does not begin (Microsoft: SQL Server Utilities Statements - GO; Batches: a compile
// error prevents the compilation of the execution plan, so no statements in the batch are executed).
func TestABatchThatDoesNotCompileDoesNotBegin(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	runBatches(t, conn, "CREATE TABLE dbo.seen (n int)")
	for _, tc := range []struct {
		batch  string
		number int32
	}{
		{"SELECT @x", 137},
		{"IF 1 = 0 SELECT @x", 137},
		{"SELECT @x; DECLARE @x int", 137},
		{"SET @x = 1", 137},
		{"SELECT * FROM @t", 1087},
		{"INSERT @t VALUES (1)", 1087},
		{"DECLARE @r int; EXEC @q = dbo.nope", 137},
		{"DECLARE @x int DECLARE @X int", 134},
		{"DECLARE @x int, @x int", 134},
		{"DECLARE @x int; DECLARE @x TABLE (n int)", 134},
		{"IF 1 = 0 BEGIN DECLARE @x int END ELSE BEGIN DECLARE @x int END", 134},
		{"BREAK", 135},
		{"IF 1 = 0 BREAK", 135},
		{"CONTINUE", 136},
		{"BEGIN SELECT 1", 102},
		{"IF 1 = 1 BEGIN BEGIN SELECT 1 END", 102},
		{"SELECT CASE 1 WHEN 1 THEN 2 END; BEGIN SELECT 1", 102},
		{"BEGIN TRY SELECT 1 END TRY", 102},
		{"BEGIN TRY SELECT 1 END TRY SELECT 2 BEGIN CATCH SELECT 3 END CATCH", 156},
		{"BEGIN TRY SELECT 1 END BEGIN CATCH SELECT 3 END CATCH", 156},
		{"CREATE SCHEMA late", 111},
		{"CREATE PROCEDURE dbo.late AS SELECT 1", 111},
		{"IF 1 = 1 EXEC('CREATE TABLE dbo.made (n int)'); CREATE SCHEMA late", 111},
		{"DECLARE @x varchar(5) COLLATE Latin1_General_CI_AS", 156},
		{"DECLARE @x varchar(5) COLLATE Latin1_General_CI_AS = 'a'", 156},
	} {
		_, err := conn.ExecContext(t.Context(), "INSERT dbo.seen VALUES (1); "+tc.batch)
		if n := errorNumber(err); n != tc.number {
			t.Errorf("%s: %v, want %d", tc.batch, err, tc.number)
		}
		equal(t, queryAll(t, conn, "SELECT COUNT(*) FROM dbo.seen"), []string{"0"})
		runBatches(t, conn, "TRUNCATE TABLE dbo.seen")
	}
	for _, tc := range []struct {
		batch  string
		number int32
	}{
		{"CREATE PROCEDURE dbo.p AS SELECT @x", 137},
		{"CREATE PROCEDURE dbo.p @x int AS DECLARE @x int", 134},
		{"CREATE PROCEDURE dbo.p AS BREAK", 135},
		{"IF 1 = 1 CREATE PROCEDURE dbo.p AS SELECT 1", 156},
		{"BEGIN CREATE SCHEMA late END", 156},
		{"EXEC('SELECT @x')", 137},
		{"EXEC sp_executesql N'DECLARE @x int', N'@x int', 1", 134},
	} {
		_, err := conn.ExecContext(t.Context(), tc.batch)
		if n := errorNumber(err); n != tc.number {
			t.Errorf("%s: %v, want %d", tc.batch, err, tc.number)
		}
	}
	for _, batch := range []string{
		"DECLARE @i int = 0; WHILE @i < 5 BEGIN SET @i += 1; IF @i = 2 CONTINUE; IF @i = 3 BREAK END",
		"DECLARE @b varchar(9) = 'BEGIN'; SELECT CASE @b WHEN 'BEGIN' THEN 1 END -- BEGIN",
		"BEGIN TRAN; COMMIT TRAN; BEGIN TRANSACTION t1; COMMIT",
		"BEGIN TRY; SELECT 1; END TRY BEGIN CATCH; END CATCH;",
		"DECLARE @a varchar(9) = 'x' COLLATE Latin1_General_BIN2; SELECT @a COLLATE Latin1_General_CI_AS",
		"DECLARE @c CURSOR; SET @c = CURSOR FOR SELECT n FROM dbo.seen; OPEN @c; FETCH NEXT FROM @c; CLOSE @c; DEALLOCATE @c",
		"EXEC sp_executesql @stmt = N'SELECT @p', @params = N'@p int', @p = 3",
	} {
		if _, err := conn.ExecContext(t.Context(), batch); err != nil {
			t.Errorf("%s: %v", batch, err)
		}
	}
}

// TRY does not see that a name means nothing in a statement of its own level, and does for what it calls
// (Microsoft: TRY...CATCH (Transact-SQL), Errors unaffected by a TRY...CATCH construct).
func TestTryAndNamesThatMeanNothing(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	runBatches(t, conn, "CREATE TABLE dbo.k (n int)", "CREATE PROCEDURE dbo.bad AS SELECT * FROM dbo.nope")
	for _, tc := range []struct {
		body   string
		number int32
	}{
		{"SELECT * FROM dbo.nope", 208},
		{"SELECT nope FROM dbo.k", 207},
		{"SELECT q.n FROM dbo.k", 4104},
		{"BEGIN TRY INSERT dbo.nope VALUES (1) END TRY BEGIN CATCH SELECT 'inner' END CATCH", 208},
		{"IF 1 = 1 BEGIN DELETE dbo.nope END", 208},
		{"EXEC('SELECT * FROM dbo.nope')", 0},
		{"EXEC('SELECT nope FROM dbo.k')", 0},
		{"EXEC sp_executesql N'SELECT * FROM dbo.nope'", 0},
		{"EXEC dbo.bad", 0},
		{"EXEC('BEGIN TRY SELECT * FROM dbo.nope END TRY BEGIN CATCH SELECT ''inner'' END CATCH')", 0},
		{"EXEC('INSERT dbo.nope VALUES (1)')", 0},
		{"BEGIN TRY EXEC dbo.bad END TRY BEGIN CATCH BEGIN TRY EXEC('SELECT * FROM dbo.nope') END TRY BEGIN CATCH SET @n = 2 END CATCH; THROW; END CATCH", 0},
		{"SELECT 1/0", 0},
		{"EXEC dbo.nope", 0},
	} {
		batch := "DECLARE @n int; BEGIN TRY " + tc.body + " END TRY BEGIN CATCH INSERT dbo.k VALUES (ERROR_NUMBER()) END CATCH"
		_, err := conn.ExecContext(t.Context(), batch)
		if n := errorNumber(err); n != tc.number {
			t.Errorf("%s: %v, want %d", tc.body, err, tc.number)
		}
		want := "1"
		if tc.number != 0 {
			want = "0"
		}
		equal(t, queryAll(t, conn, "SELECT COUNT(*) FROM dbo.k"), []string{want})
		runBatches(t, conn, "TRUNCATE TABLE dbo.k")
	}
}

// Names of a FROM clause, of columns and of common table expressions are there once (Microsoft: Database engine events and
// errors 1000 to 1999, 1011 to 1013; 8000 to 8999, 8156; 0 to 999, 239; FROM clause plus JOIN, APPLY, PIVOT (Transact-SQL)).
func TestNamesThatAreThereTwice(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	runBatches(t, conn, "CREATE TABLE dbo.p (n int); INSERT dbo.p VALUES (1)", "CREATE SCHEMA other", "CREATE TABLE other.p (n int); INSERT other.p VALUES (2)")
	for _, tc := range []struct {
		batch  string
		number int32
	}{
		{"SELECT 1 FROM dbo.p, dbo.p", 1013},
		{"SELECT 1 FROM p JOIN dbo.p ON 1 = 1", 1013},
		{"SELECT 1 FROM p x, p X", 1011},
		{"SELECT 1 FROM p x JOIN (SELECT 1 AS n) x ON 1 = 1", 1011},
		{"SELECT 1 FROM p CROSS JOIN other.p AS p", 1012},
		{"SELECT * FROM (SELECT 1 a, 2 A) x", 8156},
		{"SELECT * FROM (SELECT 1, 2) x (a, a)", 8156},
		{"WITH c AS (SELECT 1 a, 2 a) SELECT * FROM c", 8156},
		{"WITH c AS (SELECT 1 a), C AS (SELECT 2 a) SELECT * FROM c", 239},
		{"SELECT dbo.p.n, other.p.n FROM dbo.p, other.p", 0},
		{"SELECT p.n FROM dbo.p WHERE EXISTS (SELECT 1 FROM dbo.p)", 0},
		{"UPDATE p SET n = 1 FROM dbo.p", 0},
		{"DELETE p FROM dbo.p WHERE n = 7", 0},
		{"SELECT p.n FROM dbo.p JOIN dbo.p q ON q.n = p.n", 0},
	} {
		_, err := conn.ExecContext(t.Context(), tc.batch)
		if n := errorNumber(err); n != tc.number {
			t.Errorf("%s: %v, want %d", tc.batch, err, tc.number)
		}
	}
}

// A database has the collation that it was asked for, or is not made (Microsoft: CREATE DATABASE, ALTER DATABASE
// (Transact-SQL), COLLATE).
func TestCollationsOfDatabases(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	for _, tc := range []struct {
		batch  string
		number int32
	}{
		{"CREATE DATABASE mine COLLATE Latin1_General_CS_AS", 50001},
		{"CREATE DATABASE [mine] COLLATE SQL_Latin1_General_CP1_CI_AS", 0},
		{"ALTER DATABASE mine COLLATE Latin1_General_CS_AS", 50001},
		{"ALTER DATABASE CURRENT COLLATE Latin1_General_CS_AS", 50001},
	} {
		_, err := conn.ExecContext(t.Context(), tc.batch)
		if n := errorNumber(err); n != tc.number {
			t.Errorf("%s: %v, want %d", tc.batch, err, tc.number)
		}
	}
	equal(t, queryAll(t, conn, "SELECT name FROM sys.databases WHERE name IN ('mine', 'MSSQLSIM_COLLATE')"), []string{"mine"})
}
