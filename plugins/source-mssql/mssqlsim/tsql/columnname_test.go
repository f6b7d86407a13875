package tsql

import (
	"regexp"
	"strings"
	"testing"

	"github.com/sqlc-dev/teesql/parser"
)

// Microsoft: Reserved Keywords (Transact-SQL): what is not in the list may be the name of a column without delimiters. The
// statements must read as they do with brackets.
func TestUnreservedWordsAreNamesOfColumns(t *testing.T) {
	t.Parallel()
	statements := []string{"SELECT a, ¤ FROM t WHERE ¤ = 1 ORDER BY ¤", "SELECT ¤ FROM t", "CREATE TABLE t (id int, ¤ int)", "CREATE TABLE t (¤ int NOT NULL, b int)", "INSERT t (id, ¤) VALUES (1, 2)",
		"INSERT INTO t (¤) VALUES (1)", "SELECT 1 AS ¤", "UPDATE t SET ¤ = 1", "UPDATE t SET a = 1, ¤ = 2 WHERE b = 1 AND ¤='P'", "SELECT t.¤ FROM t", "SELECT t.¤, t.a FROM t GROUP BY ¤, a HAVING ¤ > 1",
		"ALTER TABLE t ADD ¤ int NULL", "CREATE INDEX i ON t (¤)", "ALTER TABLE t DROP COLUMN ¤", "ALTER TABLE t ALTER COLUMN ¤ int", "SELECT COUNT(¤), a + ¤, ¤ + 1, a*¤ FROM t",
		"SELECT CASE WHEN ¤ = 1 THEN ¤ ELSE ¤ END FROM t",
		"MERGE t USING s ON t.¤ = s.¤ WHEN MATCHED THEN UPDATE SET ¤ = s.¤ WHEN NOT MATCHED THEN INSERT (id, ¤) VALUES (s.id, s.¤);",
		"DELETE t OUTPUT deleted.¤ WHERE ¤ IN (1) OR NOT ¤ = 3", "CREATE TABLE t (id int, ¤ int, PRIMARY KEY (¤))", "SELECT a FROM t WHERE (¤='P') OR ¤ LIKE 'a' OR ¤ IS NULL",
		"SELECT * FROM (SELECT a AS ¤ FROM t) x", "CREATE TABLE t (id int, ¤ time(3))", "SELECT CAST(¤ AS time), CONVERT(time, ¤), CAST(a AS time) AS ¤ FROM t"}
	for word := range columnWords {
		for _, s := range statements {
			bare, quoted := quoteNames(strings.ReplaceAll(s, "¤", word)), strings.ReplaceAll(s, "¤", "["+word+"]")
			if word == "time" {
				quoted = strings.ReplaceAll(quoted, "AS [time])", "AS time)")
			}
			if got, want := tree(t, bare), tree(t, quoted); got != want {
				t.Errorf("%s: read as %s", strings.ReplaceAll(s, "¤", word), bare)
			}
		}
	}
}

// The same words are left alone where they are something else.
func TestWordsOfStatementsAreNoNames(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"CREATE LOGIN a WITH PASSWORD = 'x', CHECK_POLICY = OFF", "ALTER LOGIN a WITH DEFAULT_LANGUAGE = english, PASSWORD = 'x'", "EXECUTE AS LOGIN = 'a'", "EXEC ('SELECT 1') AS LOGIN = 'a'",
		"SET LANGUAGE us_english", "WAITFOR DELAY '00:00:01'", "BEGIN TRY SELECT 1 END TRY BEGIN CATCH THROW END CATCH", "IF @a = 1 THROW 50000, 'x', 1 ELSE THROW", "DECLARE @t time, @u AS time(3)",
		"SELECT CAST(a AS time), CONVERT(time, b), TRY_CAST(a AS time(3))", "CREATE TABLE t (a time, b time(3), PERIOD FOR SYSTEM_TIME (c, d))", "CREATE TYPE dbo.x FROM int", "GRANT CONTROL ON TYPE::x TO a",
		"SELECT 'a, type', N', message', [, login] -- , password\n/* , time */", "RESTORE DATABASE a FROM DISK = 'b' WITH MOVE 'c' TO 'd', MOVE N'e' TO N'f'", "SELECT TOP (1) WITH TIES a FROM t ORDER BY a",
		"GROUP BY ROLLUP (a), CUBE (b)", "EXECUTE AS CALLER", "GRANT ALTER ANY LOGIN TO a", "CREATE PROC p WITH RECOMPILE, ENCRYPTION AS SELECT 1", "SELECT SYSDATETIME() AT TIME ZONE 'UTC'"} {
		if got := quoteNames(s); got != s {
			t.Errorf("%s became %s", s, got)
		}
	}
}

var quoteKind = regexp.MustCompile(`"QuoteType": *"[A-Za-z]*"`)

// tree is what the parser makes of a text.
func tree(t *testing.T, sql string) string {
	t.Helper()
	sc, err := parser.Parse(t.Context(), strings.NewReader(sql))
	if err != nil {
		return "error: " + err.Error() + " " + sql
	}
	out, err := parser.MarshalScript(sc)
	if err != nil {
		t.Fatal(err)
	}
	return quoteKind.ReplaceAllString(strings.ReplaceAll(string(out), "[time]", "time"), "")
}
