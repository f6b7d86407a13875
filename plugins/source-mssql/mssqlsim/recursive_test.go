package mssqlsim

import "testing"

// Microsoft: WITH common_table_expression (Transact-SQL), Guidelines for defining and using recursive common table
// expressions; errors 240 and 530.
func TestRecursiveCommonTableExpressions(t *testing.T) {
	t.Parallel()
	conn := newEmpty(t)
	play(t, conn, []step{
		{sql: "CREATE TABLE dbo.staff (id int NOT NULL PRIMARY KEY, boss int NULL, name varchar(10)); INSERT INTO dbo.staff VALUES (1, NULL, 'ann'), (2, 1, 'bob'), (3, 1, 'cy'), (4, 2, 'di'), (5, 9, 'lost')"},
		{sql: "WITH up (id, name, level) AS (SELECT id, name, 0 FROM dbo.staff WHERE boss IS NULL UNION ALL SELECT s.id, s.name, u.level + 1 FROM dbo.staff AS s JOIN up AS u ON s.boss = u.id) SELECT name, level FROM up ORDER BY id",
			rows: []string{"ann|0", "bob|1", "cy|1", "di|2"}},
		{sql: "WITH n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 100) SELECT COUNT(*), MAX(n), SUM(n) FROM n", rows: []string{"100|100|5050"}},
		{sql: "WITH n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 102) SELECT COUNT(*) FROM n", err: 530},
		{sql: "WITH n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 1000) SELECT COUNT(*) FROM n OPTION (MAXRECURSION 0)", rows: []string{"1000"}},
		{sql: "WITH n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n) SELECT TOP (5) n FROM n OPTION (MAXRECURSION 3)", err: 530},
		{sql: "WITH n(n) AS (SELECT 1 UNION ALL SELECT 7 UNION ALL SELECT n + 2 FROM n WHERE n < 8 UNION ALL SELECT n * 10 FROM n WHERE n = 9) SELECT n FROM n ORDER BY n", rows: []string{"1", "3", "5", "7", "7", "9", "9", "90", "90"}},
		{sql: "WITH a AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM a WHERE x < 3), b AS (SELECT x * 10 AS y FROM a) SELECT p.x, q.y FROM a AS p JOIN b AS q ON q.y = p.x * 10 ORDER BY 1", rows: []string{"1|10", "2|20", "3|30"}},
		{sql: "WITH n(n) AS (SELECT 1 UNION ALL SELECT CAST(n + 1 AS bigint) FROM n WHERE n < 3) SELECT n FROM n", err: 240},
		{sql: "WITH n(n) AS (SELECT 1 UNION ALL SELECT DISTINCT n + 1 FROM n WHERE n < 3) SELECT n FROM n", err: 50001},
		{sql: "WITH n(n) AS (SELECT 1 UNION ALL SELECT MAX(n) + 1 FROM n WHERE n < 3) SELECT n FROM n", err: 50001},
		{sql: "WITH n(n) AS (SELECT 1 UNION ALL SELECT s.id FROM dbo.staff AS s LEFT JOIN n ON s.id = n.n) SELECT n FROM n", err: 50001},
		{sql: "WITH n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < (SELECT MAX(n) FROM n)) SELECT n FROM n", err: 50001},
	})
}
