package mssqlsim

import (
	"strings"
	"testing"
)

// EXISTS and IN with a subquery that reads the rows around, and what they are with NULL and in other collations (Microsoft: EXISTS
// (Transact-SQL); IN (Transact-SQL), on NULL; Collation precedence). Conditions of every kind stand beside the equality by which
// rows are found.
func TestSubqueriesThatReadTheRowsAround(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	exec(t, conn, `CREATE TABLE dbo.o (id int NOT NULL PRIMARY KEY, a int NULL, s varchar(10) COLLATE Latin1_General_CI_AS NULL, d decimal(9, 2) NULL, b varbinary(4) NULL);
CREATE TABLE dbo.i (k int NOT NULL PRIMARY KEY, a int NULL, s varchar(10) COLLATE Latin1_General_CI_AS NULL, c varchar(10) COLLATE Latin1_General_CS_AS NULL, d decimal(12, 4) NULL, b varbinary(4) NULL);
INSERT INTO dbo.o VALUES (1, 10, 'x', 1.50, 0x0100), (2, 20, 'Y', 2.00, 0x02), (3, NULL, NULL, NULL, NULL), (4, 40, 'z', 4.00, 0x04);
INSERT INTO dbo.i VALUES (1, 10, 'X ', 'X', 1.5000, 0x01), (2, 10, 'q', 'y', 9, 0x09), (3, 20, NULL, 'y', 2, NULL), (4, NULL, 'z', NULL, NULL, 0x0400)`)
	for _, tc := range []struct{ where, want string }{
		{"EXISTS (SELECT * FROM dbo.i WHERE i.a = o.a)", "1 2"},
		{"NOT EXISTS (SELECT * FROM dbo.i WHERE i.a = o.a)", "3 4"},
		{"EXISTS (SELECT * FROM dbo.i WHERE o.a = i.a AND i.k > 1)", "1 2"},
		{"EXISTS (SELECT * FROM dbo.i WHERE o.a = i.a AND i.k > o.id)", "1 2"},
		{"EXISTS (SELECT * FROM dbo.i WHERE o.a = i.a AND i.k > o.id + 1)", ""},
		{"EXISTS (SELECT * FROM dbo.i WHERE o.a = i.a AND (i.s = o.s OR i.d = o.d))", "1 2"},
		{"EXISTS (SELECT * FROM dbo.i WHERE o.a = i.a AND i.s IS NULL)", "2"},
		{"EXISTS (SELECT * FROM dbo.i WHERE o.s = i.s)", "1 4"},
		{"EXISTS (SELECT * FROM dbo.i WHERE o.s = i.c COLLATE Latin1_General_CI_AS)", "1 2"},
		{"EXISTS (SELECT * FROM dbo.i WHERE o.s = i.c COLLATE Latin1_General_CS_AS)", ""},
		{"EXISTS (SELECT * FROM dbo.i WHERE o.d = i.d)", "1 2"},
		{"EXISTS (SELECT * FROM dbo.i WHERE o.b = i.b)", "1 4"},
		{"EXISTS (SELECT * FROM dbo.i WHERE i.a = o.a AND i.a = 10)", "1"},
		{"EXISTS (SELECT * FROM dbo.i WHERE i.a + 0 = o.a - 0)", "1 2"},
		{"EXISTS (SELECT * FROM dbo.i WHERE i.a = o.a AND o.id = 2)", "2"},
		{"EXISTS (SELECT * FROM dbo.i WHERE CAST(i.a AS varchar(5)) = o.a)", "1 2"},
		{"EXISTS (SELECT * FROM dbo.i AS x JOIN dbo.i AS y ON y.k = x.k + 1 WHERE x.a = o.a)", "1 2"},
		{"EXISTS (SELECT * FROM dbo.i AS x JOIN dbo.i AS y ON y.k = o.id WHERE x.a = o.a)", "1 2"},
		{"EXISTS (SELECT * FROM (SELECT a FROM dbo.i WHERE i.k > o.id) AS x WHERE x.a = o.a)", "1 2"},
		{"EXISTS (SELECT * FROM (SELECT a FROM dbo.i WHERE i.k > 1) AS x WHERE x.a = o.a)", "1 2"},
		{"EXISTS (SELECT TOP (1) a FROM dbo.i WHERE i.a = o.a ORDER BY k)", "1 2"},
		{"EXISTS (SELECT COUNT(*) FROM dbo.i WHERE i.a = o.a)", "1 2 3 4"},
		{"EXISTS (SELECT a FROM dbo.i WHERE i.a = o.a GROUP BY a HAVING COUNT(*) > 1)", "1"},
		{"EXISTS (SELECT 1 FROM dbo.i WHERE i.a = o.a UNION ALL SELECT 1 FROM dbo.i WHERE i.k = o.id AND i.k = 4)", "1 2 4"},
		{"EXISTS (SELECT * FROM dbo.i WHERE i.a = o.a AND NOT EXISTS (SELECT * FROM dbo.i AS j WHERE j.a = i.a AND j.k > i.k AND j.k > o.id))", "1 2"},
		{"NOT EXISTS (SELECT * FROM dbo.i WHERE NOT EXISTS (SELECT * FROM dbo.o AS p WHERE p.a = i.a AND p.id = o.id) AND i.a = 10)", "1"},
		{"a IN (SELECT a FROM dbo.i)", "1 2"},
		{"a NOT IN (SELECT a FROM dbo.i)", ""},
		{"a NOT IN (SELECT a FROM dbo.i WHERE a IS NOT NULL)", "4"},
		{"a NOT IN (SELECT a FROM dbo.i WHERE a > 100)", "1 2 3 4"},
		{"a NOT IN (SELECT a FROM dbo.i WHERE i.k = o.id)", "2"},
		{"a NOT IN (SELECT a FROM dbo.i WHERE i.d = o.d)", "3 4"},
		{"a IN (SELECT i.a FROM dbo.i WHERE i.d = o.d)", "1 2"},
		{"a NOT IN (SELECT i.a FROM dbo.i WHERE i.s = o.s AND i.k >= o.id)", "2 3"},
		{"s IN (SELECT c FROM dbo.i WHERE c IS NOT NULL AND c = c COLLATE Latin1_General_CS_AS) ", "468"},
		{"s COLLATE Latin1_General_CI_AS IN (SELECT c FROM dbo.i)", "1 2"},
		{"s COLLATE Latin1_General_CS_AS IN (SELECT c FROM dbo.i)", ""},
		{"a IN (SELECT o.a FROM dbo.i WHERE i.k = o.id)", "1 2 4"},
		{"a IN (SELECT MAX(a) FROM dbo.i)", "2"},
		{"d IN (SELECT d FROM dbo.i)", "1 2"},
		{"a IN (SELECT CAST(a AS bigint) FROM dbo.i)", "1 2"},
		{"a IN (SELECT DISTINCT CAST(CAST(a AS varchar(9)) AS nvarchar(9)) FROM dbo.i)", "1 2"},
		{"CASE WHEN a IN (SELECT a FROM dbo.i) THEN 1 WHEN NOT a IN (SELECT a FROM dbo.i) THEN 2 ELSE 3 END = 3", "3 4"},
		{"CASE WHEN a IN (SELECT a FROM dbo.i WHERE i.d = o.d) THEN 1 WHEN NOT a IN (SELECT a FROM dbo.i WHERE i.d = o.d) THEN 2 ELSE 3 END = 2", "3 4"},
		{"EXISTS (SELECT * FROM dbo.i WHERE i.a = o.a AND i.a / (i.k - 1) > 0)", "8134"},
	} {
		rows, err := tryQuery(conn, "SELECT id FROM dbo.o WHERE "+tc.where+" ORDER BY id")
		if err != nil && number(err) != tc.want {
			t.Errorf("%s: %v", tc.where, err)
		} else if got := strings.Join(rows, " "); err == nil && got != tc.want {
			t.Errorf("%s: %s, want %s", tc.where, got, tc.want)
		}
	}
	equal(t, query(t, conn, "DECLARE @n int = 0; SELECT @n = @n + 1 FROM dbo.o WHERE NOT EXISTS (SELECT 1 FROM dbo.i WHERE i.d = o.d AND @n >= 1); SELECT @n"), []string{"3"})
	equal(t, query(t, conn, "WITH r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE EXISTS (SELECT * FROM dbo.i WHERE i.a = r.n * 10)) SELECT COUNT(*) FROM r"), []string{"3"})
	equal(t, query(t, conn, "SELECT (SELECT COUNT(*) FROM dbo.i WHERE EXISTS (SELECT * FROM dbo.i AS j WHERE j.a = i.a AND j.k <> i.k AND i.a = o.a)) FROM dbo.o ORDER BY id"), []string{"2", "0", "0", "0"})
	exec(t, conn, "DELETE o FROM dbo.o AS o WHERE o.a NOT IN (SELECT a FROM dbo.i WHERE a IS NOT NULL); UPDATE dbo.o SET s = 'found' WHERE EXISTS (SELECT * FROM dbo.i WHERE i.a = o.a)")
	equal(t, query(t, conn, "SELECT id, s FROM dbo.o ORDER BY id"), []string{"1|found", "2|found", "3|NULL"})
}

// A comparison by another collation than the column's finds what is equal by that one, whether rows are joined by it or looked up in
// the order of a key (Microsoft: Collation precedence, COLLATE).
func TestAnotherCollationThanThatOfTheKey(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	exec(t, conn, "CREATE TABLE dbo.k (s varchar(10) COLLATE Latin1_General_BIN2 NOT NULL PRIMARY KEY); INSERT INTO dbo.k VALUES ('A'), ('B'), ('a'); CREATE TABLE dbo.l (s varchar(10) COLLATE Latin1_General_CS_AS NOT NULL); INSERT INTO dbo.l VALUES ('a')")
	equal(t, query(t, conn, "SELECT s FROM dbo.k WHERE s = 'a' COLLATE Latin1_General_CI_AS ORDER BY s"), []string{"A", "a"})
	equal(t, query(t, conn, "SELECT s FROM dbo.k WHERE s < 'b' COLLATE Latin1_General_CI_AS ORDER BY s"), []string{"A", "a"})
	equal(t, query(t, conn, "SELECT k.s FROM dbo.l JOIN dbo.k ON k.s = l.s COLLATE Latin1_General_CI_AS ORDER BY k.s"), []string{"A", "a"})
	equal(t, query(t, conn, "SELECT k.s FROM dbo.k JOIN dbo.l ON l.s = k.s COLLATE Latin1_General_CI_AS ORDER BY k.s"), []string{"A", "a"})
	equal(t, query(t, conn, "SELECT COUNT(*) FROM dbo.k WHERE EXISTS (SELECT * FROM dbo.l WHERE l.s = k.s COLLATE Latin1_General_CI_AS)"), []string{"2"})
}

// SELECT assigns a variable for each row, and its expression sees what the row before it gave (Microsoft: SELECT @local_variable
// (Transact-SQL)).
func TestVariablesThatAreAssignedFromRowToRow(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	equal(t, query(t, conn, "DECLARE @n int = 0, @s varchar(9) = ''; SELECT @n = @n + x, @s = @s + 'a' FROM (VALUES (1), (2), (3)) AS v (x); SELECT @n, @s"), []string{"6|aaa"})
}
