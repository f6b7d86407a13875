package mssqlsim

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// What would fill the memory or the stack is refused, before it does.
func TestStatementsHaveLimits(t *testing.T) {
	t.Parallel()
	db := testServer.Database(t.Name())
	must(t, db.Exec(t.Context(), "CREATE PROC dbo.r AS EXEC dbo.r"))
	for _, tc := range []struct {
		what, sql string
		number    int32
	}{
		{"a long value", "SELECT REPLICATE(CAST('x' AS varchar(max)), 2147483647)", 50001},
		{"one that is cut", "SELECT REPLICATE('xyz', 2147483647)", 0},
		{"doubling", "DECLARE @x nvarchar(max) = N'abcdefgh' WHILE 1 = 1 SET @x = @x + @x", 50001},
		{"doubling of bytes", "DECLARE @x varbinary(max) = 0x0102 WHILE 1 = 1 SET @x = @x + @x", 50001},
		{"concatenation", "DECLARE @x nvarchar(max) = N'abcdefgh' WHILE 1 = 1 SET @x = CONCAT(@x, @x)", 50001},
		{"replacement", "SELECT REPLACE(REPLICATE(CAST('a' AS varchar(max)), 1000000), 'a', REPLICATE(CAST('b' AS varchar(max)), 1000000))", 50001},
		{"parentheses", "SELECT " + strings.Repeat("(", 1_000_000) + "1", 191},
		{"signs", "SELECT " + strings.Repeat("- ", 1_000_000) + "1", 191},
		{"operators", "SELECT 1" + strings.Repeat(" + 1", 1_000_000), 191},
		{"negations", "SELECT 1 WHERE " + strings.Repeat("NOT ", 1_000_000) + "1 = 1", 191},
		{"cases", "SELECT " + strings.Repeat("CASE WHEN 1 = 1 THEN ", 100_000) + "1", 191},
		{"conditions", strings.Repeat("IF 1 = 1 ", 100_000) + "SELECT 1", 191},
		{"blocks", strings.Repeat("BEGIN ", 100_000) + "SELECT 1", 191},
		{"unions", "SELECT 1" + strings.Repeat(" UNION SELECT 1", 100_000), 191},
		{"many statements that are not deep", strings.Repeat("IF 1 = 1 SET NOCOUNT ON; SELECT 1 + 1 SELECT CASE WHEN 1 = 1 THEN (2) END ", 3000), 0},
		{"many transactions", strings.Repeat("BEGIN TRAN COMMIT ", 5000), 0},
		{"procedures", "EXEC dbo.r", 217},
		{"text that runs itself", "DECLARE @s nvarchar(max) = N'EXEC sp_executesql @s, N''@s nvarchar(max)'', @s' EXEC sp_executesql @s, N'@s nvarchar(max)', @s", 217},
		{"dates", "SELECT DATEADD(year, 2147483647, GETDATE())", 517},
		{"weeks", "SELECT DATEADD(week, 2147483647, SYSDATETIME())", 517},
		{"before the calendar of datetime", "SELECT DATEADD(year, -300, GETDATE())", 517},
		{"behind that of smalldatetime", "SELECT DATEADD(year, 100, CAST('2000-01-01' AS smalldatetime))", 517},
	} {
		err := db.Exec(t.Context(), tc.sql)
		var e *sqltype.Error
		if number := int32(0); errors.As(err, &e) {
			number = e.Number
			if number != tc.number {
				t.Errorf("%s: %v", tc.what, err)
			}
		} else if err != nil || tc.number != 0 {
			t.Errorf("%s: %v", tc.what, err)
		}
	}
}

// Whatever a statement is busy with, it ends when it is cancelled. One that does not would keep this test for ever.
func TestEveryStatementCanBeCancelled(t *testing.T) {
	t.Parallel()
	db := testServer.Database(t.Name())
	must(t, db.Exec(t.Context(), "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, a nvarchar(max) NULL) DECLARE @i int = 0 WHILE @i < 1000 BEGIN INSERT dbo.t VALUES (@i, N'x') SET @i = @i + 1 END"))
	for _, sql := range []string{
		"WHILE 1 = 1 SELECT 1", "WHILE 1 = 1 BEGIN CONTINUE END", "WAITFOR DELAY '23:00:00'",
		"SELECT COUNT(*) FROM dbo.t a, dbo.t b, dbo.t c, dbo.t d",
		"SELECT a.id FROM dbo.t a, dbo.t b, dbo.t c, dbo.t d UNION SELECT 1",
		"SELECT a.id FROM dbo.t a, dbo.t b, dbo.t c, dbo.t d WHERE a.id + b.id + c.id + d.id = -1",
		"SELECT DISTINCT a.id FROM dbo.t a JOIN dbo.t b ON a.a = b.a JOIN dbo.t c ON b.a = c.a JOIN dbo.t d ON c.a = d.a",
		"SELECT TOP (1) a.id FROM dbo.t a, dbo.t b, dbo.t c, dbo.t d ORDER BY a.id + b.id",
		"SELECT ROW_NUMBER() OVER (ORDER BY b.id) FROM dbo.t a, dbo.t b, dbo.t c, dbo.t d",
		"SELECT 1 FROM dbo.t a, dbo.t b, dbo.t c, dbo.t d GROUP BY a.id, b.id",
		"INSERT dbo.t (id) SELECT -1 FROM dbo.t a, dbo.t b, dbo.t c, dbo.t d WHERE a.id + b.id + c.id + d.id = -1",
		"UPDATE dbo.t SET id = id WHERE NOT EXISTS (SELECT 1 FROM dbo.t a, dbo.t b, dbo.t c WHERE a.id + b.id + c.id = -1)",
		"DELETE dbo.t WHERE id = (SELECT COUNT(*) FROM dbo.t a, dbo.t b, dbo.t c, dbo.t d)",
		"WITH c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c) SELECT COUNT(*) FROM c OPTION (MAXRECURSION 0)",
		"WITH c AS (SELECT 1 AS n UNION ALL SELECT 1 FROM c, dbo.t) SELECT COUNT(*) FROM c OPTION (MAXRECURSION 0)",
		"MERGE dbo.t USING (SELECT a.id FROM dbo.t a, dbo.t b, dbo.t c, dbo.t d WHERE a.id + b.id + c.id + d.id = -1) AS s ON dbo.t.id = s.id WHEN MATCHED THEN DELETE;",
		"SELECT * FROM (VALUES (1), (2)) v (n) CROSS APPLY (SELECT COUNT(*) AS m FROM dbo.t a, dbo.t b, dbo.t c WHERE a.id + b.id + c.id = -v.n) x",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if err := db.Exec(ctx, sql); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", sql, err)
		}
		cancel()
	}
}
