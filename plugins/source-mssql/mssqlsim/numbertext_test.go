package mssqlsim

import "testing"

// What numbers in text may have around them. Of single characters: sqlshack.com, An overview of the SQL Server ISNUMERIC function; of
// blanks before and behind a digit: louiebao.net, IsNumeric != IsNumber, both measured; Microsoft: ISNUMERIC (Transact-SQL): what is
// numeric converts to one of the types. A sign alone and blanks behind it were measured by others, too, and are in no page.
func TestNumbersInText(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	answers(t, conn, []documented{
		{"single characters", "WITH n AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM n WHERE n < 255) SELECT STRING_AGG(n, ',') WITHIN GROUP (ORDER BY n) FROM n WHERE ISNUMERIC(CHAR(n)) = 1 AND n NOT BETWEEN 48 AND 57 OPTION (MAXRECURSION 256)",
			"9,10,11,12,13,36,43,44,45,46,92,128,160,162,163,164,165"},
		{"a tab, a line feed, a carriage return behind", "SELECT ISNUMERIC('1' + CHAR(9)), ISNUMERIC('1' + CHAR(10)), ISNUMERIC('1' + CHAR(13)), ISNUMERIC('1 ')", "0|0|0|1"},
		{"and before", "SELECT ISNUMERIC(CHAR(9) + '2'), ISNUMERIC(CHAR(10) + '2'), ISNUMERIC(CHAR(13) + '2'), ISNUMERIC(' 2')", "1|1|1|1"},
		{"and on both sides", "SELECT ISNUMERIC('1' + CHAR(9) + '2'), ISNUMERIC('1 2')", "0|0"},
		{"nothing", "SELECT ISNUMERIC(''), ISNUMERIC(' ')", "0|0"},
		{"int with a line feed behind", "SELECT CAST('5' + CHAR(10) AS int)", "error 245"},
		{"bigint with a line feed behind", "SELECT CAST('5' + CHAR(10) AS bigint)", "error 8114"},
		{"bit with a line feed behind", "SELECT CAST('1' + CHAR(10) AS bit)", "error 245"},
		{"decimal with a line feed behind", "SELECT CAST('5' + CHAR(10) AS decimal(9,2))", "error 8114"},
		{"float with a line feed behind", "SELECT CAST('5' + CHAR(10) AS float)", "error 8114"},
		{"money with a line feed behind", "SELECT CAST('5' + CHAR(10) AS money)", "error 235"},
		{"what is before", "SELECT CAST(CHAR(10) + '5 ' AS int), CAST(CHAR(9) + '5' AS decimal(9,2)), CAST(CHAR(13) + ' 5' AS float), CAST(CHAR(10) + '5' AS money)", "5|5.00|5|5.0000"},
		{"a sign alone", "SELECT CAST('-' AS int), CAST('+' AS bigint), CAST('-' AS tinyint), CAST('-' AS bit), CAST('-' AS money), CAST('$' AS money), CAST('.' AS money)", "0|0|0|false|0.0000|0.0000|0.0000"},
		{"a sign alone, as decimal", "SELECT CAST('-' AS decimal(9,2))", "error 8115"},
		{"a sign alone, as float", "SELECT CAST('-' AS float)", "error 8114"},
		{"blanks behind the sign", "SELECT CAST('- 1' AS int), CAST('+  12' AS smallint), CAST('- 1.5' AS decimal(9,2))", "-1|12|-1.50"},
		{"a tab behind the sign", "SELECT CAST('-' + CHAR(9) + '1' AS int)", "error 245"},
		{"two signs", "SELECT CAST('--1' AS int)", "error 245"},
		{"a sign behind", "SELECT CAST('1-' AS int)", "error 245"},
		{"too large", "SELECT CAST('99999999999' AS int)", "error 248"},
		{"far too large", "SELECT CAST('99999999999999999999999' AS bigint)", "error 8115"},
		{"currency signs", "SELECT CAST('¢5' AS money), CAST('¤5' AS money)", "5.0000|5.0000"},
	})
}
