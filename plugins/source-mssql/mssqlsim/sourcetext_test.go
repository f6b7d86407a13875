package mssqlsim

import "testing"

// Texts that a parser reads otherwise than a server does.
func TestTextsThatGoOn(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	answers(t, conn, []documented{
		// Microsoft: Backslash (Line Continuation) (Transact-SQL)
		{"text on two lines", "SELECT 'abc\\\ndef', N'a\\\r\nb', LEN('x\\\n\\\ny')", "abcdef|ab|2"},
		{"binary number on two lines", "SELECT 0xabc\\\ndef, 0x0\\\r\n1\\\n02", "0xABCDEF|0x0102"},
		{"a backslash that ends no line", "SELECT 'a\\b', 'a\\', '\\' + 'n'", "a\\b|a\\|\\n"},
		{"the lines behind are counted", "SELECT 'a\\\nb';\nSELECT 1/0", "error 8134"},
		// Microsoft: Slash Star (Block Comment) (Transact-SQL)
		{"comments in comments", "SELECT 1 /* x /* y */ + 10 -- */", "1"},
		{"behind them", "SELECT /* a /* b */ c */ 6", "6"},
		{"three deep", "/*/* /* */ */*/ SELECT '/* /* */' /**/, 7", "/* /* */|7"},
		{"one that is not closed", "SELECT 1 /* a /* b */", "error 113"},
		// Microsoft: COALESCE (Transact-SQL), B
		{"ORDER BY with the name of a column in quotes", "SELECT v AS 'Total Salary' FROM (VALUES (3), (1), (2)) AS t (v) ORDER BY 'Total Salary'", "1;2;3"},
		{"ORDER BY with another text", "SELECT v AS a FROM (VALUES (3), (1)) AS t (v) ORDER BY 'b'", "error 408"},
		{"an argument too many", "EXEC sp_executesql N'SELECT 1', N'@a int', 1, 2", "error 8144"},
		{"an argument of another name", "EXEC sp_executesql N'SELECT 1', N'@a int', 1, @b = 2", "error 8145"},
		{"a procedure that is called by a reserved word in brackets", "[index]", "error 2812"},
		{"behind signs that are longer in bytes", "SELECT N'é中😀'; SET NOCOUNT ON; [use] 1", "error 102"},
		{"USE without a name", "USE;", "error 102"},
		{"in a block", "BEGIN USE END", "error 156"},
		{"behind another statement", "SELECT 1; USE;", "error 102"},
	})
}
