package mssqlsim

import (
	"fmt"
	"testing"
)

// @@ROWCOUNT behind statements that read no rows (Microsoft: @@ROWCOUNT (Transact-SQL); of DECLARE, IF and WHILE: Variables and control
// flow of sql-server-simulator).
func TestRowCountBehindWhatReadsNoRows(t *testing.T) {
	t.Parallel()
	c := connected(t)
	for _, tc := range []struct {
		sql  string
		want int
	}{
		{"", 2},
		{"SET NOCOUNT OFF", 0},
		{"SET TRANSACTION ISOLATION LEVEL READ COMMITTED", 0},
		{"PRINT 'x'", 0},
		{"RAISERROR('x', 1, 1)", 0},
		{"BEGIN TRAN", 0},
		{"BEGIN TRAN; SELECT 1; COMMIT", 0},
		{"DECLARE @a int", 2},
		{"DECLARE @a int = 7", 1},
		{"DECLARE @t TABLE (a int)", 2},
		{"DECLARE @a int; SET @a = 7", 1},
		{"DECLARE @a int; SELECT @a = id FROM dbo.k WHERE id > 99", 0},
		{"DECLARE cc CURSOR LOCAL FOR SELECT id FROM dbo.k", 1},
		{"DECLARE cc CURSOR LOCAL FOR SELECT id FROM dbo.k; OPEN cc; FETCH cc", 1},
		{"DECLARE cc CURSOR LOCAL FOR SELECT id FROM dbo.k; OPEN cc; CLOSE cc", 0},
		{"DECLARE cc CURSOR LOCAL FOR SELECT id FROM dbo.k; DEALLOCATE cc", 0},
		{"EXEC('DECLARE @b int')", 2},
		{"EXEC sp_executesql N'SELECT id FROM dbo.k WHERE id = 1'", 1},
		{"EXEC dbo.one 1", 1},
		{"IF 1 = 0 SELECT 1", 0},
		{"IF 1 = 1 SELECT 1", 1},
		{"WHILE 1 = 0 SELECT 1", 0},
		{"CREATE TABLE #made (a int)", 0},
		{"BEGIN TRY DECLARE @a int END TRY BEGIN CATCH END CATCH", 2},
		{"USE tempdb", 0}, // the last: the next ones would be there
	} {
		var n int
		_, err := c.ExecContext(t.Context(), "IF @@TRANCOUNT > 0 ROLLBACK; DROP TABLE IF EXISTS #got; SELECT 1 UNION ALL SELECT 2; "+tc.sql+"; SELECT @@ROWCOUNT AS n INTO #got")
		must(t, err)
		must(t, c.QueryRowContext(t.Context(), "SELECT n FROM #got").Scan(&n))
		if n != tc.want {
			t.Errorf("%s: %d, want %d", tc.sql, n, tc.want)
		}
	}
}

// Errors in their own words (Microsoft: Database engine events and errors 0 to 999, 1000 to 1999, 2000 to 2999, 4000 to 4999; WITH
// common_table_expression (Transact-SQL); COALESCE (Transact-SQL): more than one expression), and what is not built by its name.
func TestWrongStatementsInTheirOwnWords(t *testing.T) {
	t.Parallel()
	c := connected(t)
	for _, tc := range []struct {
		sql    string
		number int32
		part   string
	}{
		{"SELECT NTILE(0) OVER (ORDER BY id) FROM dbo.k", 4116, "The function 'ntile' takes only a positive int"},
		{"SELECT COALESCE(1)", 102, "near ')'"},
		{"WITH c AS (SELECT id FROM c) SELECT * FROM c", 252, "'c' does not contain a top-level UNION ALL"},
		{"WITH c AS (SELECT 1 a UNION SELECT a FROM c) SELECT * FROM c", 252, "'c'"},
		{"SELECT * FROM dbo.k a JOIN dbo.k b ON SUM(a.id) = 1", 1015, "ON clause"},
		{"SELECT * FROM dbo.k WHERE SUM(id) = 1", 147, "WHERE clause"},
		{"DECLARE @t TABLE (a int); DROP TABLE @t", 102, "near '@t'"},
		{"DECLARE @t TABLE (a int); TRUNCATE TABLE @t", 102, "near '@t'"},
		{"DROP TABLE [@t]", 3701, "'@t'"},
		{"DECLARE @t TABLE (a int PRIMARY KEY); INSERT @t VALUES (7), (7)", 2627, "Violation of PRIMARY KEY constraint 'PK__#"},
		{"DECLARE @t TABLE (a int UNIQUE); INSERT @t VALUES (7), (7)", 2627, "in object 'dbo.@t'. The duplicate key value is (7)."},
		{"DECLARE @t TABLE (a int UNIQUE); INSERT @t VALUES (NULL), (NULL)", 2627, "The duplicate key value is (<NULL>)."},
		{"WITH c AS (SELECT id, v FROM dbo.k) INSERT c VALUES (1, 1)", 50001, "through the common table expression c"},
		{"WITH c AS (SELECT id, v FROM dbo.k) MERGE c USING (VALUES (1)) s(id) ON c.id = s.id WHEN MATCHED THEN DELETE;", 50001, "through the common table expression c"},
		{"SELECT * FROM OPENROWSET('a', 'b', 'c')", 50001, "OPENROWSET"},
		{"SELECT * FROM OPENROWSET(BULK 'x', SINGLE_CLOB) AS x", 50001, "OPENROWSET"},
		{"SELECT * FROM OPENQUERY(srv, 'select 1')", 50001, "OPENQUERY"},
		{"INSERT INTO OPENQUERY(srv, 'select 1') VALUES (1)", 50001, "OPENQUERY"},
		{"SELECT * FROM OPENDATASOURCE('a', 'b').d.e.f", 50001, "OPENDATASOURCE"},
		{"DBCC CLONEDATABASE", 50001, "DBCC CLONEDATABASE"},
		{"EXEC sp_who @@SPID", 0, ""},
		{"EXEC dbo.one @a = @@TRANCOUNT", 0, ""},
		{"WITH k AS (SELECT id FROM dbo.k) SELECT id FROM k", 0, ""},
		{"WITH k AS (SELECT id FROM dbo.k) UPDATE k SET id = 1", 0, ""},
	} {
		_, err := c.ExecContext(t.Context(), tc.sql)
		if n := errorNumber(err); n != tc.number {
			t.Errorf("%s: %v, want %d", tc.sql, err, tc.number)
		} else if n != 0 {
			wantError(t, fmt.Errorf("%s: %w", tc.sql, err), n, tc.part)
		}
	}
}
