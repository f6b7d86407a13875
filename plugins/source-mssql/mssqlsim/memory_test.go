package mssqlsim

import (
	"fmt"
	"strings"
	"testing"
)

// What a server would put into tempdb (Microsoft: tempdb database, Internal objects) is bounded: past the bound a statement is
// refused, with the flag that raises it, and the session goes on.
func TestMemoryOfASessionIsBounded(t *testing.T) {
	t.Parallel()
	server, err := Start(t.Context(), Options{Clock: testClock, Memory: 1 << 20})
	must(t, err)
	t.Cleanup(server.Close)
	server.Database("d")
	conn := open(t, server.DSN("d"))
	conn.SetMaxOpenConns(1)
	exec(t, conn, "CREATE TABLE dbo.n (i int NOT NULL PRIMARY KEY, s varchar(8000) NULL); CREATE TABLE dbo.few (i int NOT NULL PRIMARY KEY)")
	for i := range 10 {
		exec(t, conn, fmt.Sprintf("WITH c AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM c WHERE i < 199) INSERT dbo.n SELECT %d + i, REPLICATE('x', 600) FROM c OPTION (MAXRECURSION 0)", 200*i))
	}
	exec(t, conn, "INSERT dbo.few SELECT i FROM dbo.n WHERE i < 300")
	for _, tc := range []struct {
		what, sql, want string // "" is refused
	}{
		{"a sort", "SELECT TOP (1) i FROM dbo.n ORDER BY s, i DESC", ""},
		{"one that fits", "SELECT TOP (1) i FROM dbo.n WHERE i < 100 ORDER BY s, i DESC", "99"},
		{"one that fits, for each of many rows", "SELECT SUM(x.i) FROM dbo.few AS f CROSS APPLY (SELECT TOP (1) n.i FROM dbo.n AS n WHERE n.i BETWEEN f.i AND f.i + 90 ORDER BY n.s, n.i DESC) AS x WHERE f.i < 50", "5725"},
		{"groups", "SELECT COUNT(*) FROM (SELECT CONCAT(i, s) AS k FROM dbo.n GROUP BY CONCAT(i, s)) AS g", ""},
		{"groups that are few", "SELECT COUNT(*) FROM (SELECT i % 7 AS k FROM dbo.n GROUP BY i % 7) AS g", "7"},
		{"DISTINCT", "SELECT COUNT(*) FROM (SELECT DISTINCT CONCAT(i, s) AS k FROM dbo.n) AS d", ""},
		{"DISTINCT of an aggregate", "SELECT COUNT(DISTINCT CONCAT(i, s)) FROM dbo.n", ""},
		{"STRING_AGG", "SELECT LEN(STRING_AGG(CAST(s AS varchar(max)), ',')) FROM dbo.n", ""},
		{"UNION", "SELECT COUNT(*) FROM (SELECT CONCAT(i, s) AS k FROM dbo.n UNION SELECT '') AS u", ""},
		{"EXCEPT", "SELECT COUNT(*) FROM (SELECT '' AS k EXCEPT SELECT CONCAT(i, s) FROM dbo.n) AS u", ""},
		{"a join by values", "SELECT COUNT(*) FROM dbo.few AS f JOIN dbo.n AS n ON n.s = CONCAT(f.i, 'x')", ""},
		{"a join by long values, whose keys are held too", "SELECT COUNT(*) FROM (SELECT i, LEFT(s, 1) AS s FROM dbo.n WHERE i < 900) AS f JOIN (SELECT i, REPLICATE(CONCAT(i, 'x'), 250) AS k FROM dbo.n WHERE i < 900) AS n ON n.k = CONCAT(f.i, 'x')", ""},
		{"a full join", "SELECT COUNT(*) FROM dbo.few AS f FULL JOIN dbo.n AS n ON n.s = CONCAT(f.i, 'x')", ""},
		{"a join of all pairs", "SELECT COUNT(*) FROM dbo.few AS f JOIN dbo.n AS n ON n.s < CONCAT(f.i, '')", ""},
		{"a window", "SELECT MAX(r) FROM (SELECT RANK() OVER (ORDER BY s) AS r FROM dbo.n) AS w", ""},
		// Rows in no order of their own are numbered as they come (Microsoft: ROW_NUMBER (Transact-SQL)).
		{"the first of many numbers", "SELECT TOP (3) ROW_NUMBER() OVER (ORDER BY (SELECT NULL)) FROM dbo.n AS a CROSS JOIN dbo.n AS b", "1;2;3"},
		{"all of them", "SELECT COUNT(DISTINCT r % 100), MAX(r) FROM (SELECT ROW_NUMBER() OVER (ORDER BY @@SPID, (SELECT 'x')) AS r FROM dbo.few AS a CROSS JOIN dbo.few AS b) AS w", "100|90000"},
		{"in the order of the key", "SELECT MAX(r), MAX(i) FROM (SELECT i, ROW_NUMBER() OVER (ORDER BY i) AS r FROM dbo.n WHERE s LIKE 'x%') AS w", "2000|1999"},
		{"in another order", "SELECT MAX(r) FROM (SELECT ROW_NUMBER() OVER (ORDER BY s) AS r FROM dbo.n) AS w", ""},
		{"TOP PERCENT", "SELECT COUNT(*) FROM (SELECT TOP (1) PERCENT s FROM dbo.n ORDER BY i) AS p", ""},
		{"a recursive expression", "WITH c AS (SELECT CAST(REPLICATE('x', 8000) AS varchar(8000)) AS s, 0 AS i UNION ALL SELECT n.s, n.i FROM c JOIN dbo.n AS n ON n.i > c.i AND c.i = 0) SELECT COUNT(*) FROM c", ""},
		{"SELECT INTO", "SELECT i, s INTO dbo.copy FROM dbo.n", ""},
		{"INSERT", "INSERT dbo.n SELECT i + 10000, s FROM dbo.n", ""},
		{"UPDATE", "UPDATE dbo.n SET s = 'y'", ""},
		{"DELETE", "DELETE dbo.n", ""},
		{"MERGE", "MERGE dbo.n AS t USING (SELECT i FROM dbo.n) AS u ON t.i = u.i WHEN MATCHED THEN DELETE;", ""},
		{"OUTPUT", "DELETE dbo.n OUTPUT deleted.s, deleted.s, deleted.s, deleted.s WHERE i < 600", ""},
		{"a cursor", "DECLARE c CURSOR STATIC FOR SELECT s FROM dbo.n OPEN c", ""},
		{"cursors together", "DECLARE a CURSOR STATIC FOR SELECT s FROM dbo.n WHERE i < 900 OPEN a DECLARE b CURSOR STATIC FOR SELECT s FROM dbo.n WHERE i < 900 OPEN b", ""},
		{"what is left beside one", "DECLARE a CURSOR STATIC FOR SELECT s FROM dbo.n WHERE i < 900 OPEN a SELECT TOP (1) i FROM dbo.n WHERE i < 900 ORDER BY s, i DESC", ""},
		{"one after the other", "DECLARE a CURSOR STATIC FOR SELECT s FROM dbo.n WHERE i < 900 OPEN a CLOSE a DECLARE b CURSOR STATIC FOR SELECT s FROM dbo.n WHERE i < 900 OPEN b DEALLOCATE a DEALLOCATE b SELECT 1", "1"},
		{"of texts that end", strings.Repeat("EXEC (N'DECLARE a CURSOR LOCAL STATIC FOR SELECT s FROM dbo.n WHERE i < 900 OPEN a DECLARE @b CURSOR SET @b = a') ", 3) + "SELECT 1", "1"},
		{"a row at a time", "SELECT COUNT(*), SUM(LEN(s)) FROM dbo.n", "2000|1200000"},
	} {
		got := ask(conn, tc.sql, false)
		if refused := strings.HasPrefix(got, "refused: ") && strings.Contains(got, "1048576") && strings.Contains(got, "-memory"); tc.want == "" && !refused || tc.want != "" && got != tc.want {
			t.Errorf("%s: %s, want %q", tc.what, got, tc.want)
		}
	}
}
