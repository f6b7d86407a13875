package mssqlsim

import (
	"database/sql"
	"fmt"
	"testing"
)

// after runs a batch and tells whether what is behind it was carried out, and how many transactions are open then.
func after(t *testing.T, c *sql.Conn, text string, number int32) string {
	t.Helper()
	_, _ = c.ExecContext(t.Context(), "SET XACT_ABORT OFF; IF @@TRANCOUNT > 0 ROLLBACK; TRUNCATE TABLE #seen")
	_, err := c.ExecContext(t.Context(), text+"; INSERT INTO #seen VALUES (1)")
	if n := errorNumber(err); n != number {
		t.Errorf("%s: %v, want %d", text, err, number)
	}
	var seen, open int
	must(t, c.QueryRowContext(t.Context(), "SELECT (SELECT COUNT(*) FROM #seen), @@TRANCOUNT").Scan(&seen, &open))
	if seen > 0 {
		return fmt.Sprint("goes on ", open)
	}
	return fmt.Sprint("ends ", open)
}

func connected(t *testing.T) *sql.Conn {
	t.Helper()
	_, conn := newDatabase(t)
	c, err := conn.Conn(t.Context())
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	for _, text := range []string{
		"CREATE TABLE #seen (n int); CREATE TABLE dbo.k (id int NOT NULL PRIMARY KEY, v tinyint CHECK (v < 100)); INSERT dbo.k VALUES (1, 1)",
		"CREATE TABLE dbo.ident (id tinyint IDENTITY(255, 1), a int); INSERT dbo.ident (a) VALUES (1)",
		"CREATE TABLE dbo.child (id int REFERENCES dbo.k (id))",
		"CREATE PROCEDURE dbo.one @a int AS RETURN 3",
		"CREATE PROCEDURE dbo.late AS SELECT * FROM dbo.nope; INSERT #seen VALUES (2)",
		"CREATE PROCEDURE dbo.throws AS BEGIN THROW 51000, 'x', 1 END",
		"CREATE PROCEDURE dbo.converts AS SELECT CAST('x' AS int); INSERT #seen VALUES (2)",
		"CREATE PROCEDURE dbo.divides AS SELECT 1/0; RETURN 3",
	} {
		_, err = c.ExecContext(t.Context(), text)
		must(t, err)
	}
	return c
}

// What an error ends (Microsoft: SET XACT_ABORT (Transact-SQL), SET ARITHABORT (Transact-SQL), TRY...CATCH (Transact-SQL), THROW
// (Transact-SQL), CREATE PROCEDURE (Transact-SQL), Deferred Name Resolution; what was seen of servers: err_handler.c of Babelfish for
// PostgreSQL, SET XACT_ABORT in transactions.md of sql-server-simulator).
func TestWhatErrorsEnd(t *testing.T) {
	t.Parallel()
	c := connected(t)
	const on, ended, rolled = "goes on 1", "ends 1", "ends 0"
	for _, tc := range []struct {
		sql    string
		number int32
		want   string
	}{
		{"SELECT 1/0", 8134, on},
		{"DECLARE @i int = 2147483647; SET @i += 1", 8115, on},
		{"SELECT CAST(300 AS tinyint)", 220, on},
		{"SELECT CAST(1e10 AS int)", 232, on},
		{"SELECT (SELECT v.a FROM (VALUES (1), (2)) AS v(a))", 512, on},
		{"COMMIT; COMMIT; BEGIN TRAN", 3902, on},
		{"SELECT CONVERT(datetime, '2021-18-32')", 242, on},
		{"SELECT CONVERT(int, '99999999999')", 248, on},
		{"SELECT DATEADD(year, 9000, GETDATE())", 517, on},
		{"SELECT DATEDIFF(millisecond, '19000101', '20200101')", 535, on},
		{"SELECT LEFT('a', v - 9) FROM dbo.k", 537, on},
		{"WITH c AS (SELECT 1 n UNION ALL SELECT n + 1 FROM c) SELECT n FROM c", 530, on},
		{"INSERT dbo.k VALUES (1, 1)", 2627, on},
		{"INSERT dbo.k VALUES (2, 200)", 547, on},
		{"INSERT dbo.k VALUES (NULL, 1)", 515, on},
		{"INSERT dbo.ident (id, a) VALUES (1, 1)", 544, on},
		{"ROLLBACK TRANSACTION nothing", 6401, on},
		// What is not there, and calls.
		{"DROP TABLE dbo.nope", 3701, on},
		{"DROP INDEX nope ON dbo.k", 3701, on},
		{"EXEC dbo.nope", 2812, on},
		{"EXEC dbo.one", 201, on},
		{"EXEC dbo.one 1, 2", 8144, on},
		{"EXEC dbo.one @b = 1", 8145, on},
		{"EXEC dbo.one 'x'", 8114, on},
		{"EXEC sp_executesql N'SELECT @i', N'@i int', 'x'", 8114, on},
		{"EXEC sp_rename 'dbo.k', 'x', @newname = 'y'", 8143, on},
		{"EXEC sys.sp_cdc_scan @maxtrans = 'x'", 8114, on},
		{"EXEC sp_helptext 'a', 'b', 'c'", 8144, on},
		{"EXEC sp_helptext @nope = 'a'", 8145, on},
		{"EXEC dbo.divides", 8134, on},
		{"EXEC('SELECT 1/0')", 8134, on},
		{"EXEC dbo.late", 208, on},
		{"EXEC('SELECT * FROM dbo.nope; INSERT #seen VALUES (2)')", 208, on},
		{"EXEC('SELECT nope FROM dbo.k')", 207, on},
		{"EXEC('SELEC 1')", 2812, on},
		{"EXEC('SELECT FROM')", 156, on},
		{"EXEC sp_executesql N'SELECT * FROM dbo.nope'", 208, on},
		{"INSERT #seen EXEC sp_helptext 'nope'", 15009, on},
		// Cursors, sessions, logins and users.
		{"FETCH NEXT FROM nothing", 16916, on},
		{"DECLARE cc CURSOR FOR SELECT id FROM dbo.k; FETCH NEXT FROM cc", 16917, on},
		{"CLOSE nothing", 16916, on},
		{"DECLARE d CURSOR FOR SELECT id FROM dbo.k; OPEN d; OPEN d", 16905, on},
		{"DROP USER nowhere_known", 15151, on},
		{"CREATE USER dbo WITHOUT LOGIN", 15023, on},
		{"RAISERROR('x', 19, 1)", 2754, on},
		{"RAISERROR(60000, 16, 1)", 18054, on},
		{"RAISERROR('x', 16, 1)", 50000, on},
		{"CREATE DATABASE elsewhere", 226, on},
		// Of the level: it ends, and so does the batch.
		{"SELECT * FROM dbo.nope", 208, ended},
		{"INSERT dbo.nope EXEC sp_who", 208, ended},
		{"THROW 51000, 'x', 1", 51000, ended},
		{"EXEC dbo.throws", 51000, ended},
		{"EXEC('EXEC dbo.throws')", 51000, ended},
		{"BEGIN TRY SELECT 1/0 END TRY BEGIN CATCH THROW END CATCH", 8134, ended},
		{"ALTER TABLE dbo.nope ADD a int", 4902, ended},
		{"CREATE TABLE nowhere.t (a int)", 2760, ended},
		// The transaction ends with the batch.
		{"SELECT CAST('a' AS int)", 245, rolled},
		{"SELECT CAST('a' AS decimal(5, 1))", 8114, rolled},
		{"SELECT CONVERT(datetime, 'x')", 241, rolled},
		{"SELECT CAST('x' AS uniqueidentifier)", 8169, rolled},
		{"EXEC dbo.converts", 245, rolled},
		{"EXEC('SELECT CAST(''a'' AS int)')", 245, rolled},
		{"SELECT DATEFROMPARTS(2020, 13, 1)", 289, rolled},
		{"SELECT LOG(v - 1) FROM dbo.k", 3623, rolled},
		{"CREATE TABLE dbo.k (id int)", 2714, rolled},
		{"SELECT 1 AS a INTO dbo.k", 2714, rolled},
		{"INSERT dbo.ident (a) VALUES (2)", 8115, rolled},
		{"SET IDENTITY_INSERT dbo.k ON", 8106, rolled},
		{"MERGE dbo.k AS t USING (VALUES (1), (1)) AS s(id) ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 2;", 8672, rolled},
		{"ALTER TABLE dbo.k DROP COLUMN nope", 4924, rolled},
		{"ALTER TABLE dbo.k WITH CHECK ADD CHECK (v > 5)", 547, rolled},
		{"DROP TABLE dbo.k", 3726, rolled},
		{"TRUNCATE TABLE dbo.k", 4712, rolled},
		{"CREATE UNIQUE INDEX i ON dbo.nope (id)", 1088, rolled},
		// In blocks.
		{"IF 1 = 1 SELECT 1/0", 8134, on},
		{"IF 1 = 1 BEGIN SELECT 1/0; INSERT #seen VALUES (5) END", 8134, on},
		{"DECLARE @w int = 0; WHILE @w < 2 BEGIN SET @w += 1; SELECT 1/0 END", 8134, on},
		{"BEGIN TRY SELECT 1/0 END TRY BEGIN CATCH SELECT 1/0; INSERT #seen VALUES (5) END CATCH", 8134, on},
		{"BEGIN TRY SELECT 1/0; INSERT #seen VALUES (5) END TRY BEGIN CATCH END CATCH", 0, on},
		{"BEGIN TRY EXEC dbo.late END TRY BEGIN CATCH END CATCH", 0, on},
	} {
		if got := after(t, c, "BEGIN TRAN; "+tc.sql, tc.number); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.sql, got, tc.want)
		}
	}
	for sql, number := range map[string]int32{
		"CREATE DATABASE master": 1801, "KILL 32000": 6106, "KILL @@SPID": 6104, "DROP LOGIN nowhere_known": 15151, "CREATE LOGIN sa WITH PASSWORD = 'Str0ng!pass'": 15025, "DROP PROCEDURE dbo.nope": 3701,
		"RESTORE DATABASE elsewhere FROM DISK = 'nothing'": 3013, "DROP DATABASE nothing": 3701, "ALTER DATABASE nothing SET ALLOW_SNAPSHOT_ISOLATION ON": 5011,
	} {
		if got := after(t, c, sql, number); got != "goes on 0" {
			t.Errorf("%s: %s", sql, got)
		}
	}
}

// With XACT_ABORT every error of a statement that runs ends the batch and its transaction (Microsoft: SET XACT_ABORT (Transact-SQL)), but
// for RAISERROR, compiling, and what is not there to be dropped; one that CATCH sees leaves a transaction that cannot be committed,
// RAISERROR's too (transactions.md of sql-server-simulator).
func TestWhatErrorsEndWithXactAbort(t *testing.T) {
	t.Parallel()
	c := connected(t)
	const state = " END TRY BEGIN CATCH IF XACT_STATE() = -1 ROLLBACK END CATCH"
	for _, tc := range []struct {
		sql    string
		number int32
		want   string
	}{
		{"SELECT 1/0", 8134, "ends 0"},
		{"EXEC dbo.divides", 8134, "ends 0"},
		{"EXEC dbo.nope", 2812, "ends 0"},
		{"EXEC dbo.late", 208, "ends 0"},
		{"SELECT * FROM dbo.nope", 208, "ends 0"},
		{"INSERT dbo.k VALUES (1, 1)", 2627, "ends 0"},
		{"THROW 51000, 'x', 1", 51000, "ends 0"},
		{"BEGIN TRY SELECT * FROM dbo.nope END TRY BEGIN CATCH END CATCH", 208, "ends 0"},
		{"EXEC('SELECT FROM')", 156, "goes on 1"},
		{"DROP TABLE dbo.nope", 3701, "goes on 1"},
		{"RAISERROR('x', 16, 1)", 50000, "goes on 1"},
		{"EXEC sp_helptext 'nope'", 15009, "goes on 1"},
		{"INSERT #seen EXEC sp_helptext 'nope'", 15009, "goes on 1"},
		{"BEGIN TRY SELECT 1/0" + state, 0, "goes on 0"},
		{"BEGIN TRY RAISERROR('x', 16, 1)" + state, 0, "goes on 0"},
		{"BEGIN TRY EXEC('RAISERROR(''x'', 16, 1)')" + state, 0, "goes on 0"},
		{"BEGIN TRY DROP TABLE dbo.nope" + state, 0, "goes on 0"},
		{"BEGIN TRY EXEC dbo.late" + state, 0, "goes on 0"},
		{"BEGIN TRY SELECT 1/0 END TRY BEGIN CATCH THROW END CATCH", 8134, "ends 0"},
	} {
		if got := after(t, c, "SET XACT_ABORT ON; BEGIN TRAN; "+tc.sql, tc.number); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.sql, got, tc.want)
		}
	}
}

// Behind an error that ended a statement @@ERROR is its number and @@ROWCOUNT 0; one of compiling leaves @@ROWCOUNT (Microsoft: @@ERROR
// (Transact-SQL); transactions.md of sql-server-simulator). A client gets the results behind it.
func TestWhatComesBehindAnError(t *testing.T) {
	t.Parallel()
	c := connected(t)
	_, err := c.ExecContext(t.Context(), "CREATE TABLE #said (s varchar(20))")
	must(t, err)
	for _, tc := range []struct{ sql, want string }{
		{"DROP TABLE dbo.nope", "3701 0"},
		{"EXEC dbo.one", "201 0"},
		{"SELECT CONVERT(datetime, '2021-18-32')", "242 0"},
		{"EXEC('SELECT * FROM dbo.nope')", "208 2"},
		{"EXEC('SELECT 1; SELECT * FROM dbo.nope')", "208 1"},
		{"EXEC('SELECT FROM')", "156 2"},
		{"EXEC dbo.late", "208 2"},
	} {
		_, err := c.ExecContext(t.Context(), "TRUNCATE TABLE #said")
		must(t, err)
		_, _ = c.ExecContext(t.Context(), "SELECT 1 UNION ALL SELECT 2; "+tc.sql+"; INSERT #said SELECT CONCAT(@@ERROR, ' ', @@ROWCOUNT)")
		var got string
		must(t, c.QueryRowContext(t.Context(), "SELECT MAX(s) FROM #said").Scan(&got))
		if got != tc.want {
			t.Errorf("%s: %q, want %q", tc.sql, got, tc.want)
		}
	}
}
