package mssqlsim

import "testing"

// Microsoft: WITH common_table_expression (Transact-SQL); CREATE VIEW (Transact-SQL), Updatable Views; UPDATE (Transact-SQL),
// DELETE (Transact-SQL); Database engine events and errors, 4403 and 4406.
func TestChangesThroughCommonTableExpressions(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	const (
		fresh = `DROP TABLE IF EXISTS dbo.t; CREATE TABLE dbo.t (a int NOT NULL PRIMARY KEY, b int NULL, s varchar(5) NULL);
			INSERT dbo.t VALUES (1, 10, 'x'), (2, 10, 'y'), (3, 20, 'z'), (4, 20, NULL); `
		rows = "; SELECT * FROM dbo.t ORDER BY a"
	)
	exec(t, conn, fresh)
	answers(t, conn, []documented{
		{"duplicates go", fresh + "WITH d AS (SELECT *, ROW_NUMBER() OVER (PARTITION BY b ORDER BY a) AS n FROM dbo.t) DELETE FROM d WHERE n > 1" + rows, "1|10|x;3|20|z"},
		{"the count is that of the table", fresh + "WITH d AS (SELECT b FROM dbo.t) DELETE FROM d WHERE b = 10; SELECT @@ROWCOUNT", "2"},
		{"the first ones", fresh + "WITH q AS (SELECT TOP (2) * FROM dbo.t ORDER BY a DESC) DELETE FROM q" + rows, "1|10|x;2|10|y"},
		{"a queue", fresh + "WITH q AS (SELECT TOP (1) * FROM dbo.t ORDER BY a) DELETE FROM q OUTPUT deleted.a, deleted.s", "1|x"},
		{"an update", fresh + "WITH c AS (SELECT a, s FROM dbo.t WHERE b = 10) UPDATE c SET s = 'new'" + rows, "1|10|new;2|10|new;3|20|z;4|20|NULL"},
		{"by what it computes", fresh + "WITH c AS (SELECT b, ROW_NUMBER() OVER (ORDER BY a DESC) AS n FROM dbo.t) UPDATE c SET b = n" + rows, "1|4|x;2|3|y;3|2|z;4|1|NULL"},
		{"columns of other names", fresh + "WITH c (k, v) AS (SELECT a, b FROM dbo.t) UPDATE c SET v = v + k WHERE k > 2" + rows, "1|10|x;2|10|y;3|23|z;4|24|NULL"},
		{"what is computed has no value of its own", fresh + "WITH c AS (SELECT a, b + 1 AS n FROM dbo.t) UPDATE c SET n = 5", "error 4406"},
		{"the key", fresh + "WITH c AS (SELECT a FROM dbo.t WHERE a > 2) UPDATE c SET a = a + 10" + rows, "1|10|x;2|10|y;13|20|z;14|20|NULL"},
		{"with a FROM", fresh + "WITH c AS (SELECT a, s FROM dbo.t) UPDATE c SET s = v.s FROM c JOIN (VALUES (1, 'one'), (3, 'three')) AS v (k, s) ON v.k = c.a" + rows, "1|10|one;2|10|y;3|20|three;4|20|NULL"},
		{"by an alias", fresh + "WITH c AS (SELECT a FROM dbo.t) DELETE x FROM c AS x JOIN (VALUES (2)) AS v (k) ON v.k = x.a" + rows, "1|10|x;3|20|z;4|20|NULL"},
		{"one of two expressions", fresh + "WITH w AS (SELECT 3 AS k), c AS (SELECT a FROM dbo.t WHERE a IN (SELECT k FROM w)) DELETE FROM c" + rows, "1|10|x;2|10|y;4|20|NULL"},
		{"of a name of a table", fresh + "WITH t AS (SELECT a FROM dbo.t WHERE a = 1) DELETE FROM t" + rows, "2|10|y;3|20|z;4|20|NULL"},
		{"of a group", fresh + "WITH c AS (SELECT b, COUNT(*) AS n FROM dbo.t GROUP BY b) DELETE FROM c", "error 4403"},
		{"of DISTINCT", fresh + "WITH c AS (SELECT DISTINCT b FROM dbo.t) UPDATE c SET b = 1", "error 4403"},
		{"of a column that it has not", fresh + "WITH c AS (SELECT a FROM dbo.t) UPDATE c SET b = 1", "error 207"},
		{"of several tables", fresh + "WITH c AS (SELECT x.a FROM dbo.t AS x JOIN dbo.t AS y ON x.a = y.a) DELETE FROM c", "refused: mssqlsim does not understand a change through c, which does not read one table"},
		{"of an expression", fresh + "WITH b AS (SELECT a FROM dbo.t), c AS (SELECT a FROM b) DELETE FROM c", "refused: mssqlsim does not understand a change through c, which reads b"},
		{"OUTPUT of fewer columns", fresh + "WITH c AS (SELECT a FROM dbo.t) DELETE FROM c OUTPUT deleted.a", "refused: mssqlsim does not understand OUTPUT of a change through c, which does not have the columns of its table"},
		{"an update of what APPLY has read", fresh + "UPDATE t SET b = x.v FROM dbo.t AS t CROSS APPLY (SELECT t.s + '!' AS v0, t.b + t.a AS v) AS x" + rows, "1|11|x;2|12|y;3|23|z;4|24|NULL"},
	})
}
