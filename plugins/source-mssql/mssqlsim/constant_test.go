package mssqlsim

import "testing"

// SqlScriptDOM, tests of IF: 2e is a real literal. Stack Overflow: T-SQL dollar sign in expressions; Microsoft: Using Monetary Data.
func TestConstantsWithoutDigits(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	answers(t, conn, []documented{
		{"no digits behind e", "SELECT 1e, 2.5E, 3e+, 4E-", "~float 1|float 2.5|float 3|float 4"},
		{"too much", "SELECT 1e400", "error 168"},
		{"no digits behind a dollar", "SELECT $, -$, $ AS x, $*2", "~money 0.0000|money 0.0000|money 0.0000|money 0.0000"},
		{"a sign, a blank, a point", "SELECT $+5, $-5, $ 5, $.5", "5.0000|-5.0000|5.0000|0.5000"},
		{"other currencies", "SELECT €, ¢, £, ¤, ¥, €5, ￦2.5", "~money 0.0000|money 0.0000|money 0.0000|money 0.0000|money 0.0000|money 5.0000|money 2.5000"},
		{"within a text and a name", "SELECT N'€$' AS [€$]", "€$"},
	})
}
