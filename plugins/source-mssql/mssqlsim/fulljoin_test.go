package mssqlsim

import "testing"

// Microsoft: FROM clause plus JOIN, APPLY, PIVOT (Transact-SQL), FULL [OUTER].
func TestFullJoin(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	exec(t, conn, `CREATE TABLE dbo.l (id int NOT NULL PRIMARY KEY, k int NULL); CREATE TABLE dbo.r (id int NOT NULL PRIMARY KEY, k int NULL)
		INSERT INTO dbo.l VALUES (1, 10), (2, 20), (3, NULL), (4, 20); INSERT INTO dbo.r VALUES (1, 20), (2, 30), (3, NULL)`)
	answers(t, conn, []documented{
		{"pairs and what has none", "SELECT l.id, r.id FROM dbo.l FULL JOIN dbo.r ON l.k = r.k ORDER BY l.id, r.id", "NULL|2;NULL|3;1|NULL;2|1;3|NULL;4|1"},
		{"OUTER may be said", "SELECT COUNT(*) FROM dbo.l FULL OUTER JOIN dbo.r ON l.k = r.k", "6"},
		{"by the primary keys", "SELECT l.id, r.id FROM dbo.l FULL JOIN dbo.r ON l.id = r.id ORDER BY 1, 2", "1|1;2|2;3|3;4|NULL"},
		{"by what is no equality", "SELECT l.id, r.id FROM dbo.l FULL JOIN dbo.r ON l.k > r.k ORDER BY 1, 2", "NULL|1;NULL|2;NULL|3;1|NULL;2|NULL;3|NULL;4|NULL"},
		{"ON false", "SELECT COUNT(*), COUNT(l.id), COUNT(r.id) FROM dbo.l FULL JOIN dbo.r ON 1 = 0", "7|4|3"},
		{"ON of one side keeps its rows", "SELECT l.id, r.id FROM dbo.l FULL JOIN dbo.r ON l.k = r.k AND l.id = 2 ORDER BY 1, 2", "NULL|2;NULL|3;1|NULL;2|1;3|NULL;4|NULL"},
		{"WHERE comes after it", "SELECT l.id, r.id FROM dbo.l FULL JOIN dbo.r ON l.k = r.k WHERE l.id IS NULL ORDER BY 2", "NULL|2;NULL|3"},
		{"WHERE of the right side", "SELECT l.id, r.id FROM dbo.l FULL JOIN dbo.r ON l.id = r.id WHERE r.id = 2", "2|2"},
		{"rows that differ", "SELECT COALESCE(l.id, r.id) FROM dbo.l FULL JOIN dbo.r ON l.id = r.id WHERE l.k <> r.k OR l.id IS NULL OR r.id IS NULL ORDER BY 1", "1;2;4"},
		{"in a row", "SELECT l.id, r.id, x.id FROM dbo.l FULL JOIN dbo.r ON l.k = r.k FULL JOIN (VALUES (2), (9)) AS x (id) ON x.id = r.id ORDER BY 1, 2, 3", "NULL|NULL|9;NULL|2|2;NULL|3|NULL;1|NULL|NULL;2|1|NULL;3|NULL|NULL;4|1|NULL"},
		{"left of an inner join", "SELECT l.id, r.id FROM dbo.l FULL JOIN dbo.r ON l.k = r.k JOIN (VALUES (2)) AS x (id) ON x.id = r.id", "NULL|2"},
		{"right of a left join", "SELECT x.id, l.id, r.id FROM (VALUES (1), (2), (7)) AS x (id) LEFT JOIN (dbo.l FULL JOIN dbo.r ON l.k = r.k) ON x.id = r.id ORDER BY 1, 2", "1|2|1;1|4|1;2|NULL|2;7|NULL|NULL"},
		{"derived tables", "SELECT a.k, b.k FROM (SELECT k, COUNT(*) AS n FROM dbo.l GROUP BY k) AS a FULL JOIN (SELECT k, COUNT(*) AS n FROM dbo.r GROUP BY k) AS b ON a.k = b.k AND a.n = b.n ORDER BY 1, 2", "NULL|NULL;NULL|NULL;NULL|20;NULL|30;10|NULL;20|NULL"},
		{"with one empty side", "SELECT l.id, r.id FROM dbo.l FULL JOIN (SELECT id FROM dbo.r WHERE 1 = 0) AS r ON l.id = r.id WHERE l.id = 1", "1|NULL"},
		{"of outer rows", "SELECT id, (SELECT COUNT(*) FROM dbo.r FULL JOIN (SELECT l.id) AS o ON o.id = r.id) FROM dbo.l ORDER BY id", "1|3;2|3;3|3;4|4"},
		{"grouped", "SELECT CASE WHEN r.id IS NULL THEN 'l' WHEN l.id IS NULL THEN 'r' ELSE 'b' END, COUNT(*) FROM dbo.l FULL JOIN dbo.r ON l.k = r.k GROUP BY CASE WHEN r.id IS NULL THEN 'l' WHEN l.id IS NULL THEN 'r' ELSE 'b' END ORDER BY 1", "b|2;l|2;r|2"},
		{"in the FROM of a change", "DELETE l FROM dbo.l FULL JOIN dbo.r ON l.id = r.id", "refused: mssqlsim does not understand FULL JOIN in the FROM of a change"},
	})
}

// Whatever finds the right rows of a left one, the pairs are those of the condition over all of them, and an outer join adds
// what has no pair (Microsoft: FROM clause plus JOIN, APPLY, PIVOT (Transact-SQL), <join_type>).
func TestJoinsHaveThePairsOfTheirCondition(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	exec(t, conn, `CREATE TABLE dbo.l (id int NOT NULL, k int NULL, s varchar(5) NULL); CREATE TABLE dbo.r (id int NOT NULL, k int NULL, s varchar(5) NULL)
		INSERT INTO dbo.l VALUES (1, 10, 'a'), (2, 20, 'A'), (3, NULL, 'b'), (4, 20, NULL), (5, 30, 'c'), (5, 30, 'c')
		INSERT INTO dbo.r VALUES (1, 20, 'a'), (2, 20, 'b'), (3, NULL, 'A'), (4, 40, NULL), (5, 30, 'C'), (5, 30, 'C')`)
	for _, on := range []string{"l.k = r.k", "l.k = r.k AND l.s = r.s", "l.k = r.k AND l.id < r.id", "l.k = r.k AND l.id > 2 AND r.id < 5", "l.s = r.s", "l.k < r.k", "l.k = r.k OR l.s = r.s", "l.id = r.id AND 1 = 0"} {
		pairs := "SELECT l.id, r.id AS other FROM dbo.l CROSS JOIN dbo.r WHERE " + on
		left := " UNION ALL SELECT l.id, NULL FROM dbo.l WHERE NOT EXISTS (SELECT 1 FROM dbo.r WHERE " + on + ")"
		right := " UNION ALL SELECT NULL, r.id FROM dbo.r WHERE NOT EXISTS (SELECT 1 FROM dbo.l WHERE " + on + ")"
		for kind, want := range map[string]string{"JOIN": pairs, "LEFT JOIN": pairs + left, "RIGHT JOIN": pairs + right, "FULL JOIN": pairs + left + right} {
			got := ask(conn, "SELECT l.id, r.id AS other FROM dbo.l "+kind+" dbo.r ON "+on+" ORDER BY 1, 2", false)
			if want := ask(conn, want+" ORDER BY 1, 2", false); got != want {
				t.Errorf("%s ON %s\n got %s\nwant %s", kind, on, got, want)
			}
		}
	}
}
