package mssqlsim

import "testing"

// Microsoft: CONCAT_WS (Transact-SQL): constants and NULL, whose lengths make that of the result.
func TestConcatenatedConstantsAreWhole(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	answers(t, conn, []documented{
		{"two", "SELECT CONCAT_WS(',', 'a', 'b')", "a,b"},
		{"with NULL", "SELECT CONCAT_WS(', ', 'a', NULL, 'b', 1)", "a, b, 1"},
		{"with a number between", "SELECT CONCAT_WS(12345, 'a', 'b', 'c', 'd')", "a12345b12345c12345d"},
	})
}

// Functions of text (Microsoft: String Functions (Transact-SQL)).
func TestTextFunctions(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	answers(t, conn, []documented{
		{"LEN leaves trailing blanks out", "SELECT LEN('ab  '), DATALENGTH('ab  '), LEN(N'ab'), DATALENGTH(N'ab'), LEN(''), LEN(0x6100)", "2|4|2|4|0|2"},
		{"LEN type", "SELECT LEN('a'), LEN(CAST('a' AS varchar(max))), DATALENGTH(CAST('a' AS nvarchar(max)))", "~int 1|bigint 1|bigint 2"},
		{"DATALENGTH of types", "SELECT DATALENGTH(1), DATALENGTH(CAST(1 AS decimal(9,2))), DATALENGTH(CAST(1 AS decimal(20,2))), DATALENGTH(GETDATE()), DATALENGTH(SYSDATETIME()), DATALENGTH(NULL)", "4|5|13|8|8|NULL"},
		{"SUBSTRING", "SELECT SUBSTRING('abcdef',2,3), SUBSTRING('abc',0,2), SUBSTRING('abc',-1,3), SUBSTRING('abc',5,1), SUBSTRING('abc',2,100), SUBSTRING(0x010203,2,1)", "bcd|a|a||bc|0x02"},
		{"SUBSTRING of a negative length", "SELECT SUBSTRING('abc',1,-1)", "error 537"},
		{"LEFT of a negative length", "SELECT LEFT('abc',-1)", "error 537"},
		{"RIGHT of a negative length", "SELECT RIGHT('abc',-1)", "error 536"},
		{"LEFT and RIGHT", "SELECT LEFT('abc',2), RIGHT('abc',2), LEFT('abc',9), RIGHT(12345,2), LEFT(0x0102,1)", "ab|bc|abc|45|0x01"},
		{"CHARINDEX", "SELECT CHARINDEX('b','abcb'), CHARINDEX('b','abcb',3), CHARINDEX('x','abc'), CHARINDEX('B','abc'), CHARINDEX('','abc'), CHARINDEX('b', 'abc', 0)", "2|4|0|2|0|2"},
		{"CHARINDEX under a collation", "SELECT CHARINDEX('B','abc' COLLATE Latin1_General_BIN2), CHARINDEX('e','caf' + NCHAR(233)), CHARINDEX('e',N'café' COLLATE Latin1_General_CI_AI)", "0|0|4"},
		{"PATINDEX", "SELECT PATINDEX('%b_d%','abcd'), PATINDEX('b%','abc'), PATINDEX('%[0-9]%','ab3'), PATINDEX('%x%','abc'), PATINDEX('abc','abc'), PATINDEX('%c','abc')", "2|0|3|0|1|3"},
		{"REPLACE", "SELECT REPLACE('abcABC','b','x'), REPLACE('abc','','x'), REPLACE('abcABC' COLLATE Latin1_General_CS_AS,'b','x'), REPLACE('abc',NULL,'x')", "axcAxC|abc|axcABC|NULL"},
		{"STUFF", "SELECT STUFF('abcdef',2,3,'ijklmn'), STUFF('abc',4,1,'x'), STUFF('abc',0,1,'x'), STUFF('abc',1,0,'x'), STUFF('abc',2,100,NULL)", "aijklmnef|NULL|NULL|xabc|NULL"},
		{"REPLICATE", "SELECT REPLICATE('ab',3), REPLICATE('a',0), REPLICATE('a',-1), LEN(REPLICATE('a',9000)), LEN(REPLICATE(CAST('a' AS varchar(max)),9000)), REPLICATE(1,3)", "ababab||NULL|8000|9000|111"},
		{"REVERSE, SPACE, ASCII, UNICODE, CHAR, NCHAR", "SELECT REVERSE('abc'), '[' + SPACE(2) + ']', ASCII('A'), UNICODE(N'ä'), CHAR(65), NCHAR(228), CHAR(256), ASCII('')", "cba|[  ]|65|228|A|ä|NULL|NULL"},
		{"CONCAT", "SELECT CONCAT('a',NULL,1,CAST('2026-01-02' AS date)), CONCAT_WS(',','a',NULL,'b',3)", "a12026-01-02|a,b,3"},
		{"CONCAT type", "SELECT CONCAT('a','bc'), CONCAT('a',N'bc'), CONCAT(1,'a')", "~varchar(3) abc|nvarchar(3) abc|varchar(13) 1a"},
		{"CONCAT of one", "SELECT CONCAT('a')", "error 189"},
		{"+ and NULL", "SELECT 'a' + NULL + 'b'", "NULL"},
		{"+ cuts at 8000", "SELECT LEN(REPLICATE('a',8000) + 'b'), LEN(CAST(REPLICATE('a',8000) AS varchar(max)) + 'b')", "8000|8001"},
		{"+ of text and number", "SELECT 'a' + 1", "error 245"},
		{"TRIM", "SELECT '[' + TRIM('  a  ') + ']', TRIM('x' FROM 'xaxx'), TRIM('., ' FROM ' a. '), LTRIM('  a'), RTRIM('a  ') + '|', LTRIM('xxa','x'), TRIM(LEADING 'x' FROM 'xax')", "[a]|a|a|a|a||a|ax"},
		{"UPPER and LOWER", "SELECT UPPER('aé'), LOWER(N'AÉ')", "AÉ|aé"},
		{"TRANSLATE", "SELECT TRANSLATE('2*[3+4]/{7-2}','[]{}','()()')", "2*(3+4)/(7-2)"},
		{"TRANSLATE of other lengths", "SELECT TRANSLATE('abc','ab','x')", "error 9828"},
		{"QUOTENAME", "SELECT QUOTENAME('a]b'), QUOTENAME('a''b',''''), QUOTENAME('ab','('), QUOTENAME('a','x'), QUOTENAME(REPLICATE('a',129)), QUOTENAME('a\"b','\"')", "[a]]b]|'a''b'|(ab)|NULL|NULL|\"a\"\"b\""},
		{"PARSENAME", "SELECT PARSENAME('s.d.o.n',1), PARSENAME('s.d.o.n',4), PARSENAME('a.b',3), PARSENAME('[a.b].c',2)", "n|s|NULL|a.b"},
		{"HASHBYTES", "SELECT HASHBYTES('MD5','abc'), HASHBYTES('SHA1',N'a'), HASHBYTES('SHA2_256','')", "0x900150983CD24FB0D6963F7D28E17F72|0x0A04B971B03DA607CE6C455184037B660CA89F78|0xE3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855"},
		{"STRING_ESCAPE", `SELECT STRING_ESCAPE('a"b/c\d' + CHAR(10), 'json')`, `a\"b\/c\\d\n`},
		{"what SQL Server has and the simulator has not", "SELECT CHECKSUM('a')", "refused: mssqlsim does not understand the function CHECKSUM"},
		{"what SQL Server has not", "SELECT NVL(1, 2)", "error 195"},
		{"too few arguments", "SELECT LEN()", "error 174"},
		{"too many arguments", "SELECT LEN('a','b')", "error 174"},
		// Microsoft: LIKE (Transact-SQL)
		{"LIKE", "SELECT CASE WHEN 'abc' LIKE 'a%' THEN 1 END, CASE WHEN 'abc' LIKE '_b_' THEN 1 END, CASE WHEN 'abc' LIKE 'A%' THEN 1 END, CASE WHEN 'abc' LIKE '[a-c]bc' THEN 1 END, CASE WHEN 'abc' LIKE '[^b]bc' THEN 1 END, CASE WHEN 'abc' LIKE 'ab' THEN 1 ELSE 0 END", "1|1|1|1|1|0"},
		{"LIKE with ESCAPE", "SELECT CASE WHEN '50%' LIKE '50!%' ESCAPE '!' THEN 1 END, CASE WHEN '50x' LIKE '50!%' ESCAPE '!' THEN 1 ELSE 0 END, CASE WHEN 'a_b' LIKE 'a[_]b' THEN 1 END, CASE WHEN '[' LIKE '[[]' THEN 1 END, CASE WHEN ']' LIKE ']' THEN 1 END", "1|0|1|1|1"},
		{"LIKE and blanks at the end", "SELECT CASE WHEN 'abc ' LIKE 'abc' THEN 1 ELSE 0 END, CASE WHEN N'abc ' LIKE N'abc' THEN 1 ELSE 0 END, CASE WHEN 'abc' LIKE 'abc ' THEN 1 ELSE 0 END", "1|0|0"},
		{"LIKE under a collation", "SELECT CASE WHEN 'abc' COLLATE Latin1_General_CS_AS LIKE 'A%' THEN 1 ELSE 0 END, CASE WHEN 'abc' COLLATE Latin1_General_BIN2 LIKE '[A-Z]%' THEN 1 ELSE 0 END, CASE WHEN N'é' COLLATE Latin1_General_CI_AI LIKE 'e' THEN 1 ELSE 0 END", "0|0|1"},
		{"NOT LIKE and NULL", "SELECT CASE WHEN NULL NOT LIKE 'a' THEN 1 WHEN 'a' NOT LIKE NULL THEN 2 ELSE 3 END", "3"},
		{"many percent signs", "SELECT CASE WHEN REPLICATE('a',3000) LIKE '%a%a%a%a%a%a%a%a%b' THEN 1 ELSE 0 END", "0"},
	})
}

// Comparison under collations (Microsoft: Collation and Unicode support, Collation precedence; database engine events and errors 0 to 999, 457).
func TestCollations(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	must(t, db.Exec(t.Context(), `CREATE TABLE dbo.words (ci varchar(10) COLLATE Latin1_General_CI_AS, cs varchar(10) COLLATE Latin1_General_CS_AS, d varchar(10), bin varchar(10) COLLATE Latin1_General_BIN2);
INSERT INTO dbo.words VALUES ('a','a','a','a'), ('A','A','A','A'), ('b ','b ','b ','b ')`))
	answers(t, conn, []documented{
		{"blanks at the end do not count", "SELECT CASE WHEN 'a' = 'a  ' THEN 1 ELSE 0 END, CASE WHEN N'a' = N'a ' THEN 1 ELSE 0 END, CASE WHEN 'a' = ' a' THEN 1 ELSE 0 END", "1|1|0"},
		{"case", "SELECT COUNT(*) FROM dbo.words WHERE ci = 'A'", "2"},
		{"case of a case-sensitive column", "SELECT COUNT(*) FROM dbo.words WHERE cs = 'A'", "1"},
		{"binary column", "SELECT COUNT(*) FROM dbo.words WHERE bin = 'A'", "1"},
		{"DISTINCT and GROUP BY", "SELECT (SELECT COUNT(*) FROM (SELECT DISTINCT ci FROM dbo.words) AS x), (SELECT COUNT(*) FROM (SELECT DISTINCT cs FROM dbo.words) AS x)", "2|3"},
		{"two columns that do not agree", "SELECT COUNT(*) FROM dbo.words WHERE ci = cs", "error 468"},
		{"two columns that do not agree, in LIKE", "SELECT COUNT(*) FROM dbo.words WHERE ci LIKE cs", "error 468"},
		{"COLLATE decides", "SELECT COUNT(*) FROM dbo.words WHERE ci = cs COLLATE Latin1_General_CI_AS", "3"},
		{"two COLLATE that do not agree", "SELECT 1 WHERE 'a' COLLATE Latin1_General_CI_AS = 'A' COLLATE Latin1_General_CS_AS", "error 468"},
		{"a column beside a constant", "SELECT COUNT(*) FROM dbo.words WHERE cs = 'A' AND ci = 'a'", "1"},
		{"a column of another collation joined", "SELECT COUNT(*) FROM dbo.words AS a JOIN dbo.words AS b ON a.d = b.ci", "error 468"},
		{"an accent", "SELECT CASE WHEN N'é' = N'e' THEN 1 ELSE 0 END, CASE WHEN N'é' = N'e' COLLATE Latin1_General_CI_AI THEN 1 ELSE 0 END", "0|1"},
		{"unknown collation", "SELECT 'a' COLLATE foo", "error 448"},
		{"COLLATE of a number", "SELECT 1 COLLATE Latin1_General_CI_AS", "error 447"},
		{"uniqueidentifiers are ordered by their last group", "SELECT CASE WHEN CAST('00000000-0000-0000-0000-010000000000' AS uniqueidentifier) > CAST('FFFFFFFF-FFFF-FFFF-FFFF-000000000000' AS uniqueidentifier) THEN 1 ELSE 0 END", "1"},
		{"NULL comes first", "SELECT a FROM (VALUES (1),(NULL),(0)) AS t(a) ORDER BY a", "NULL;0;1"},
		{"binary values of other lengths", "SELECT CASE WHEN 0x0100 = 0x01 THEN 1 ELSE 0 END", "1"},
		{"ORDER BY under COLLATE", "SELECT d FROM dbo.words WHERE d <> 'b' ORDER BY d COLLATE Latin1_General_BIN2", "A;a"},
		{"CASE of columns that do not agree, compared", "SELECT 1 FROM dbo.words WHERE CASE WHEN 1=1 THEN ci ELSE cs END = 'a'", "error 457"},
	})
}
