package mssqlsim

import "testing"

// Statements that change rows (Microsoft: UPDATE, DELETE, SELECT - INTO Clause (Transact-SQL)).
func TestChangesThroughFrom(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	must(t, db.Exec(t.Context(), `CREATE TABLE dbo.a (id int IDENTITY(1,1) PRIMARY KEY, v varchar(10) NULL, n int NULL);
CREATE TABLE dbo.b (id int NOT NULL, w varchar(10) NULL)`))
	const fresh = "TRUNCATE TABLE dbo.a; INSERT INTO dbo.a (v, n) VALUES ('x', 1), ('y', 2), ('z', 3); DELETE FROM dbo.b; INSERT INTO dbo.b VALUES (1, 'one'), (3, 'three'), (3, 'drei'); "
	const all = "; SELECT id, v, n FROM dbo.a ORDER BY id"
	answers(t, conn, []documented{
		{"UPDATE of an alias", fresh + "UPDATE t SET v = b.w, n += 10 FROM dbo.a AS t JOIN dbo.b AS b ON b.id = t.id WHERE b.id = 1" + all, "1|one|11;2|y|2;3|z|3"},
		{"UPDATE of a table that its FROM names", fresh + "UPDATE dbo.a SET v = 'q' FROM dbo.a INNER JOIN dbo.b ON dbo.b.id = dbo.a.id WHERE dbo.b.w = 'one'" + all, "1|q|1;2|y|2;3|z|3"},
		{"a row that is joined twice is changed once", fresh + "UPDATE t SET n = t.n + 1 FROM dbo.a t, dbo.b b WHERE b.id = t.id" + all, "1|x|2;2|y|2;3|z|4"},
		{"its count", fresh + "UPDATE t SET n = t.n + 1 FROM dbo.a t, dbo.b b WHERE b.id = t.id; SELECT @@ROWCOUNT", "2"},
		{"UPDATE with LEFT JOIN", fresh + "UPDATE t SET v = 'none' FROM dbo.a t LEFT JOIN dbo.b b ON b.id = t.id WHERE b.id IS NULL" + all, "1|x|1;2|none|2;3|z|3"},
		{"UPDATE where an outer join has no row of the table", fresh + "INSERT INTO dbo.b VALUES (9, 'nine'); UPDATE t SET n = 0 FROM dbo.b b LEFT JOIN dbo.a t ON t.id = b.id" + all, "1|x|0;2|y|2;3|z|0"},
		{"and its count", fresh + "INSERT INTO dbo.b VALUES (9, 'nine'); UPDATE t SET n = 0 FROM dbo.b b LEFT JOIN dbo.a t ON t.id = b.id; SELECT @@ROWCOUNT", "2"},
		{"and of a table without a key", fresh + "UPDATE t SET w = 'q' FROM dbo.a a LEFT JOIN dbo.b t ON t.id = a.id WHERE a.id < 3; SELECT w FROM dbo.b ORDER BY w", "drei;q;three"},
		{"UPDATE from a derived table", fresh + "UPDATE t SET n = s.c FROM dbo.a t JOIN (SELECT id, COUNT(*) AS c FROM dbo.b GROUP BY id) AS s ON s.id = t.id" + all, "1|x|1;2|y|2;3|z|2"},
		{"UPDATE from a common table expression", fresh + "WITH s AS (SELECT MAX(id) AS m FROM dbo.b) UPDATE t SET n = 0 FROM dbo.a t JOIN s ON s.m = t.id" + all, "1|x|1;2|y|2;3|z|0"},
		{"UPDATE with OUTPUT", fresh + "UPDATE t SET n = 9 OUTPUT inserted.id, deleted.n, inserted.n FROM dbo.a t JOIN dbo.b b ON b.id = t.id WHERE b.w = 'one'", "1|1|9"},
		{"UPDATE with TOP", fresh + "UPDATE TOP (1) t SET n = 9 FROM dbo.a t" + all, "1|x|9;2|y|2;3|z|3"},
		{"DELETE of an alias", fresh + "DELETE t FROM dbo.a AS t JOIN dbo.b AS b ON b.id = t.id" + all, "2|y|2"},
		{"DELETE where an outer join has no row of the table", fresh + "INSERT INTO dbo.b VALUES (9, 'nine'); DELETE t FROM dbo.b b LEFT JOIN dbo.a t ON t.id = b.id" + all, "2|y|2"},
		{"DELETE with two FROM", fresh + "DELETE FROM dbo.a FROM dbo.a JOIN dbo.b ON dbo.b.id = dbo.a.id WHERE dbo.b.w = 'one'" + all, "2|y|2;3|z|3"},
		{"DELETE with EXISTS", fresh + "DELETE FROM dbo.a WHERE EXISTS (SELECT 1 FROM dbo.b WHERE dbo.b.id = dbo.a.id)" + all, "2|y|2"},

		{"SELECT INTO", fresh + "SELECT id, v + '!' AS v, NULL AS nothing INTO dbo.c FROM dbo.a WHERE id > 1; SELECT @@ROWCOUNT, COUNT(*), MAX(v) FROM dbo.c", "2|2|z!"},
		{"SELECT INTO keeps types and identity", "SELECT c.name, t.name, c.max_length, c.is_nullable, c.is_identity FROM sys.columns AS c JOIN sys.types AS t ON t.user_type_id = c.user_type_id WHERE c.object_id = OBJECT_ID('dbo.c') ORDER BY c.column_id", "id|int|4|false|true;v|varchar|11|true|false;nothing|int|4|true|false"},
		{"the identity goes on", "INSERT INTO dbo.c (v) VALUES ('n'); SELECT MAX(id) FROM dbo.c", "4"},
		{"SELECT INTO a table that is there", "SELECT 1 AS a INTO dbo.b", "error 2714"},
		{"SELECT INTO without a name", "SELECT 1 INTO dbo.d", "error 1038"},
		{"SELECT INTO with a name twice", "SELECT 1 AS a, 2 AS A INTO dbo.d", "error 2705"},
	})
}

// Set operators, TOP and ORDER BY (Microsoft: Set Operators - EXCEPT and INTERSECT, TOP, SELECT - ORDER BY Clause).
func TestRowsOfQueries(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	const v = "(VALUES (1,'a'),(2,'b'),(2,'c'),(3,'d'),(NULL,'e')) AS t(n, s)"
	answers(t, conn, []documented{
		{"EXCEPT", "SELECT n FROM " + v + " EXCEPT SELECT 2", "1;3;NULL"},
		{"INTERSECT", "SELECT n FROM " + v + " INTERSECT SELECT n FROM (VALUES (2),(NULL),(9)) AS u(n)", "2;NULL"},
		{"EXCEPT ALL", "SELECT n FROM " + v + " EXCEPT ALL SELECT 2", "error 324"},
		{"INTERSECT ALL", "SELECT n FROM " + v + " INTERSECT ALL SELECT 2", "error 324"},
		{"EXCEPT types", "SELECT 1 EXCEPT SELECT 2.5", "~decimal(11,1) 1.0"},
		{"EXCEPT with ORDER BY", "SELECT n FROM " + v + " EXCEPT SELECT 1 ORDER BY n DESC", "3;2;NULL"},
		{"INTERSECT behind UNION", "SELECT 1 UNION SELECT 2 INTERSECT SELECT 3", "refused: mssqlsim does not understand INTERSECT behind UNION without parentheses"},
		{"another number of columns", "SELECT 1 EXCEPT SELECT 1, 2", "error 205"},
		{"TOP WITH TIES", "SELECT TOP (2) WITH TIES n, s FROM " + v + " WHERE n IS NOT NULL ORDER BY n", "1|a;2|b;2|c"},
		{"TOP WITH TIES without an order", "SELECT TOP (2) WITH TIES n FROM " + v, "error 1062"},
		{"TOP PERCENT", "SELECT TOP (50) PERCENT s FROM " + v + " ORDER BY s", "a;b;c"},
		{"TOP 0 PERCENT", "SELECT TOP (0) PERCENT s FROM " + v, ""},
		{"TOP PERCENT too large", "SELECT TOP (101) PERCENT s FROM " + v, "error 1031"},
		{"DISTINCT ordered by another column", "SELECT DISTINCT n FROM " + v + " ORDER BY s", "error 145"},
		{"DISTINCT ordered by its column", "SELECT DISTINCT n AS x FROM " + v + " WHERE n > 0 ORDER BY t.n DESC", "3;2;1"},
		{"DISTINCT ordered by its expression", "SELECT DISTINCT n % 2 FROM " + v + " WHERE n > 0 ORDER BY n % 2", "0;1"},
		{"ORDER BY position out of range", "SELECT n FROM " + v + " ORDER BY 2", "error 108"},
		{"OFFSET and FETCH", "SELECT s FROM " + v + " ORDER BY s OFFSET 1 ROWS FETCH NEXT 2 ROWS ONLY", "b;c"},
	})
}

// A statement that fails has changed nothing, whatever of it had been done, in a transaction as outside of one (Microsoft: SET
// XACT_ABORT (Transact-SQL); OUTPUT clause (Transact-SQL)).
func TestAStatementThatFailsHasChangedNothing(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	exec(t, conn, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, n int NULL); CREATE TABLE dbo.log (id int NOT NULL CHECK (id < 5))")
	for begin, want := range map[string]string{"": "0|0", "BEGIN TRAN INSERT dbo.t VALUES (1, 0) ": "1|0"} {
		for _, sql := range []string{"INSERT dbo.t OUTPUT inserted.id INTO dbo.log VALUES (2, 0), (9, 0)", "INSERT dbo.t OUTPUT inserted.id / inserted.n VALUES (2, 0)"} {
			got := ask(conn, "DELETE dbo.t; DELETE dbo.log; "+begin+"BEGIN TRY "+sql+" END TRY BEGIN CATCH SELECT ERROR_NUMBER() END CATCH IF @@TRANCOUNT > 0 COMMIT SELECT (SELECT COUNT(*) FROM dbo.t), (SELECT COUNT(*) FROM dbo.log)", false)
			if got != want {
				t.Errorf("%s%s: %s, want %s", begin, sql, got, want)
			}
		}
	}
}
