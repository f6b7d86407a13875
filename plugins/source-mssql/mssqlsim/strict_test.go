package mssqlsim

import (
	"testing"
)

// What is no T-SQL is refused before any of its batch is carried out, with the number that SQL Server gives (Microsoft:
// Database engine events and errors; SQL Server Utilities Statements - GO, on batches; SELECT - ORDER BY Clause).
func TestWhatIsNoStatementIsRefused(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	exec(t, conn, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, note nvarchar(20) NULL); INSERT INTO dbo.t VALUES (1, N'a'), (2, N'b')")
	for _, tc := range []struct {
		name, sql string
		number    int32
		part      string
	}{
		{"a text that is not closed", "SELECT 'id FROM dbo.t", 105, "after the character string 'id FROM dbo.t'"},
		{"a text that ends in a doubled quote", "SELECT N'it''", 105, "after the character string 'it''"},
		{"a name that is not closed", "SELECT [id FROM dbo.t", 105, "after the character string 'id FROM dbo.t'"},
		{"a name that ends in a doubled bracket", "SELECT [id]]", 105, "'id]]'"},
		{"a quoted name that is not closed", `SELECT "id FROM dbo.t`, 105, "'id FROM dbo.t'"},
		{"a comment that is not closed", "SELECT 1 /* id FROM dbo.t", 113, "Missing end comment mark '*/'."},
		{"a comment of two signs", "SELECT 1 /*", 113, "Missing end comment mark"},
		{"ORDER BY in a derived table", "SELECT a.id FROM (SELECT id FROM dbo.t ORDER BY id) AS a", 1033, "The ORDER BY clause is invalid in views, inline functions, derived tables, subqueries"},
		{"ORDER BY in a common table expression", "WITH a AS (SELECT id FROM dbo.t ORDER BY id) SELECT id FROM a", 1033, "unless TOP, OFFSET or FOR XML"},
		{"ORDER BY in a subquery", "SELECT (SELECT MAX(id) AS m FROM dbo.t ORDER BY m)", 1033, "ORDER BY"},
		{"ORDER BY behind IN", "SELECT id FROM dbo.t WHERE id IN (SELECT id FROM dbo.t ORDER BY id)", 1033, "ORDER BY"},
		{"ORDER BY behind EXISTS", "SELECT id FROM dbo.t WHERE EXISTS (SELECT id FROM dbo.t ORDER BY id)", 1033, "ORDER BY"},
		{"ORDER BY of a UNION in a derived table", "SELECT a.id FROM (SELECT id FROM dbo.t UNION ALL SELECT id FROM dbo.t ORDER BY id) AS a", 1033, "ORDER BY"},
		{"ORDER BY in parentheses of a UNION", "(SELECT id FROM dbo.t ORDER BY id) UNION ALL SELECT id FROM dbo.t", 1033, "ORDER BY"},
		{"OFFSET behind a UNION", "SELECT id FROM dbo.t UNION ALL SELECT id FROM dbo.t ORDER BY id OFFSET 3 ROWS", 50001, "OFFSET and FOR behind UNION"},
		{"OFFSET without order behind a UNION", "SELECT id FROM dbo.t UNION ALL SELECT id FROM dbo.t OFFSET 3 ROWS", 102, "Incorrect syntax"},
		{"FOR XML behind a UNION", "SELECT id FROM dbo.t UNION ALL SELECT id FROM dbo.t ORDER BY id FOR XML AUTO", 50001, "OFFSET and FOR behind UNION"},
		{"LIMIT of other dialects", "DELETE FROM dbo.t; SELECT id FROM dbo.t ORDER BY id LIMIT 10", 102, "near 'LIMIT'"},
		{"a word too many", "SELECT id FROM dbo.t ORDER BY id sp_databases", 102, "near 'sp_databases'"},
		{"a name behind a statement", "DELETE FROM dbo.t; sp_databases", 102, "near 'sp_databases'"},
		{"a name in a block", "BEGIN sp_databases; SELECT 1 END", 102, "near 'sp_databases'"},
		{"a name behind IF", "IF 1 = 1 sp_databases; SELECT 1", 102, "near 'sp_databases'"},
		{"a name behind ELSE", "IF 1 = 1 SELECT 1 ELSE sp_databases", 102, "near 'sp_databases'"},
		{"a name behind WHILE", "WHILE 1 = 1 sp_databases", 102, "near 'sp_databases'"},
		{"a name behind TRY", "BEGIN TRY sp_databases; SELECT 1 END TRY BEGIN CATCH SELECT 1 END CATCH", 102, "near 'sp_databases'"},
		{"a name behind CATCH", "BEGIN TRY SELECT 1 END TRY BEGIN CATCH sp_databases; SELECT 1 END CATCH", 102, "near 'sp_databases'"},
		{"what reads as a label where nobody goes", "BEGIN TRY SELECT 1 END TRY BEGIN CATCH sp_databases END CATCH", 102, "near 'sp_databases'"},
		{"a cast of other dialects", "SELECT id::int FROM dbo.t", 243, "Type id is not a defined system type."},
		{"FOR UPDATE", "SELECT id FROM dbo.t FOR UPDATE", 50001, "FOR"},
		{"a quoted name as such", "SELECT id FROM dbo.t ORDER BY id [sp_databases]", 102, "near 'sp_databases'"},
		{"behind letters of two units", "SELECT N'😀' ORDER BY 1 sp_databases", 102, "near 'sp_databases'"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := tryQuery(conn, tc.sql)
			wantError(t, err, tc.number, tc.part)
		})
	}
	equal(t, query(t, conn, "SELECT COUNT(*) FROM dbo.t"), []string{"2"}) // nothing of a refused batch was carried out
}

// What looks like it and is T-SQL is carried out.
func TestWhatLooksLikeNoStatementAndIsOne(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	exec(t, conn, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY); INSERT INTO dbo.t VALUES (1), (2)")
	for _, tc := range []struct {
		sql  string
		want []string
	}{
		{"SELECT 'it''s', [it]]s] FROM (SELECT 1 AS [it]]s]) AS x", []string{"it's|1"}},
		{"SELECT 1 AS \"a\"\"b\" -- 'not [closed", []string{"1"}},
		{"/* 'not [closed */ SELECT 1", []string{"1"}},
		{"SELECT a.id FROM (SELECT TOP (1) id FROM dbo.t ORDER BY id DESC) AS a", []string{"2"}},
		{"WITH a AS (SELECT id FROM dbo.t ORDER BY id OFFSET 1 ROWS) SELECT id FROM a", []string{"2"}},
		{"SELECT a.n FROM (SELECT ROW_NUMBER() OVER (ORDER BY id DESC) AS n, id FROM dbo.t) AS a ORDER BY a.id", []string{"2", "1"}},
		{"SELECT id FROM dbo.t UNION ALL SELECT id FROM dbo.t ORDER BY id", []string{"1", "1", "2", "2"}},
		{"(SELECT id FROM dbo.t UNION SELECT id FROM dbo.t);", []string{"1", "2"}},
		{"INSERT INTO dbo.t SELECT id + 10 FROM dbo.t ORDER BY id; EXEC sp_executesql N'SELECT COUNT(*) FROM dbo.t'", []string{"4"}},
		{"sp_executesql N'SELECT COUNT(*) FROM dbo.t'", []string{"4"}},
		{"SELECT 1 sp_databases", []string{"1"}}, // an alias
		{"IF 1 = 1 EXECUTE sp_executesql N'SELECT 3'", []string{"3"}},
		{"IF 1 = 1 exec sp_executesql N'SELECT 3'", []string{"3"}},
	} {
		equal(t, query(t, conn, tc.sql), tc.want)
	}
}
