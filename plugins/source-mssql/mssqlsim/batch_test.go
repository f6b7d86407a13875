package mssqlsim

import "testing"

// Which errors end a statement and which a batch (Microsoft: SET XACT_ABORT (Transact-SQL), SET ARITHABORT (Transact-SQL)).
func TestErrorsThatEndAStatementOnly(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	c, err := conn.Conn(t.Context())
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	_, err = c.ExecContext(t.Context(), "CREATE TABLE #seen (n int)")
	must(t, err)
	for _, tc := range []struct {
		sql  string
		goes bool
	}{
		{"SELECT 1/0", true},
		{"DECLARE @i int = 2147483647; SET @i += 1", true},
		{"SELECT CAST(300 AS tinyint)", true},
		{"SELECT (SELECT v.a FROM (VALUES (1), (2)) AS v(a))", true},
		{"EXEC dbo.nope", true},
		{"COMMIT", true},
		{"SELECT CAST('a' AS int)", false},
		{"SELECT * FROM dbo.nope", false},
		{"THROW 51000, 'x', 1", false},
	} {
		_, _ = c.ExecContext(t.Context(), "TRUNCATE TABLE #seen")
		if _, err := c.ExecContext(t.Context(), tc.sql+"; INSERT INTO #seen VALUES (1)"); err == nil {
			t.Errorf("%s: no error", tc.sql)
		}
		var n int
		must(t, c.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM #seen").Scan(&n))
		if (n == 1) != tc.goes {
			t.Errorf("%s: the batch went on: %v", tc.sql, n == 1)
		}
	}
}
