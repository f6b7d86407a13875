package mssqlsim

import (
	"strings"
	"testing"
)

// Microsoft: Collation precedence, with the table of its examples (number and words of 448 there are those of 468 today, whose order of
// names is the same; 451 has the longer text of Microsoft Support: How to troubleshoot collation conflict errors). What does without a
// collation and what does not is on that page; 4191, 446, 456, 457 and 5335 are named by Microsoft: Database engine events and errors.
func TestConflictsOfCollations(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	exec(t, conn, `CREATE TABLE dbo.TestTab (id int, GreekCol nvarchar(10) COLLATE greek_ci_as, LatinCol nvarchar(10) COLLATE latin1_general_cs_as,
 g varchar(10) COLLATE greek_ci_as, l varchar(10) COLLATE latin1_general_cs_as);
INSERT dbo.TestTab VALUES (1, N'A', N'a', 'A', 'a'); CREATE TABLE dbo.taken (v nvarchar(30))`)
	const both = "CASE WHEN id > 10 THEN GreekCol ELSE LatinCol END"
	answers(t, conn, []documented{
		{"compared", "SELECT * FROM TestTab WHERE GreekCol = LatinCol", "error 468"},
		{"compared under a COLLATE", "SELECT id, GreekCol, LatinCol FROM TestTab WHERE GreekCol = LatinCol COLLATE greek_ci_as", "1|A|a"},
		{"CASE", "SELECT " + both + " FROM TestTab", "error 451"},
		{"CASE under a COLLATE", "SELECT (" + both + ") COLLATE Latin1_General_CI_AS FROM TestTab", "a"},
		{"CASE in PATINDEX", "SELECT PATINDEX(" + both + ", 'a') FROM TestTab", "error 4191"},
		{"CASE compared", "SELECT 1 FROM TestTab WHERE " + both + " = 'a'", "error 4191"},
		{"CASE compared under a COLLATE", "SELECT 1 FROM TestTab WHERE " + both + " = 'a' COLLATE greek_ci_as", "1"},
		{"+", "SELECT id, GreekCol + LatinCol FROM TestTab", "error 451"},
		{"COALESCE", "SELECT COALESCE(GreekCol, LatinCol) FROM TestTab", "error 451"},
		{"IIF", "SELECT IIF(id = 1, GreekCol, LatinCol) FROM TestTab", "error 451"},
		{"CHOOSE", "SELECT CHOOSE(id, GreekCol, LatinCol) FROM TestTab", "error 451"},
		{"CONCAT", "SELECT CONCAT(GreekCol, LatinCol) FROM TestTab", "error 451"},
		{"CONCAT of columns with code pages", "SELECT CONCAT(g, l) FROM TestTab", "error 451"},
		{"CONCAT of columns with code pages, converted", "SELECT CONCAT(g, l) + 'x' FROM TestTab", "error 456"},
		{"ISNULL has the collation of its first argument", "SELECT ISNULL(GreekCol, LatinCol) FROM TestTab WHERE ISNULL(GreekCol, LatinCol) = N'a'", "A"},
		{"columns with code pages", "SELECT g + l FROM TestTab", "error 457"},
		{"columns with code pages in CASE", "SELECT LEN(CASE id WHEN 1 THEN g ELSE l END) FROM TestTab", "error 457"},
		{"of a query in FROM", "SELECT x FROM (SELECT GreekCol + LatinCol AS x FROM TestTab) d", "error 451"},
		{"of a query in FROM, not looked at", "SELECT COUNT(*) FROM (SELECT GreekCol + LatinCol AS x FROM TestTab) d", "1"},
		{"a scalar subquery", "SELECT (SELECT GreekCol + LatinCol FROM TestTab)", "error 451"},
		{"UNION", "SELECT GreekCol FROM TestTab UNION SELECT LatinCol FROM TestTab", "error 468"},
		{"EXCEPT", "SELECT GreekCol FROM TestTab EXCEPT SELECT LatinCol FROM TestTab", "error 468"},
		{"UNION of what has none", "SELECT GreekCol + LatinCol FROM TestTab UNION SELECT N'a'", "error 5335"},
		{"UNION ALL", "SELECT GreekCol FROM TestTab UNION ALL SELECT LatinCol FROM TestTab", "error 451"},
		{"UNION ALL with code pages", "SELECT g FROM TestTab UNION ALL SELECT l FROM TestTab", "error 457"},
		{"UNION under a COLLATE", "SELECT GreekCol COLLATE latin1_general_cs_as FROM TestTab UNION SELECT LatinCol FROM TestTab ORDER BY 1", "a;A"},
		{"UNION with a constant", "SELECT GreekCol FROM TestTab UNION SELECT N'a'", "A"},
		{"ORDER BY", "SELECT id FROM TestTab ORDER BY id, GreekCol + LatinCol", "error 451"},
		{"GROUP BY", "SELECT COUNT(*) FROM TestTab GROUP BY GreekCol + LatinCol", "error 451"},
		{"DISTINCT", "SELECT DISTINCT GreekCol + LatinCol FROM TestTab", "error 446"},
		{"COUNT(DISTINCT)", "SELECT COUNT(DISTINCT GreekCol + LatinCol) FROM TestTab", "error 446"},
		{"COUNT", "SELECT COUNT(GreekCol + LatinCol) FROM TestTab", "1"},
		{"MAX", "SELECT MAX(GreekCol + LatinCol) FROM TestTab", "error 4191"},
		{"MAX of one compared with MAX of the other", "SELECT 1 FROM TestTab HAVING MAX(GreekCol) = MAX(LatinCol)", "error 468"},
		{"LEN", "SELECT LEN(GreekCol + LatinCol) FROM TestTab", "error 4191"},
		{"DATALENGTH", "SELECT DATALENGTH(GreekCol + LatinCol) FROM TestTab", "4"},
		{"CAST to Unicode", "SELECT CAST(GreekCol + LatinCol AS nvarchar(5)) FROM TestTab", "error 451"},
		{"CAST to a code page", "SELECT CAST(GreekCol + LatinCol AS varchar(5)) FROM TestTab", "error 446"},
		{"a window's order", "SELECT ROW_NUMBER() OVER (ORDER BY GreekCol + LatinCol) FROM TestTab", "error 451"},
		{"a window's parts", "SELECT COUNT(*) OVER (PARTITION BY GreekCol + LatinCol) FROM TestTab", "refused: mssqlsim does not understand text without a collation in OVER"},
		{"rows of VALUES", "SELECT v FROM TestTab CROSS APPLY (VALUES (GreekCol), (LatinCol)) x(v)", "refused: mssqlsim does not understand VALUES whose rows have text of collations that do not agree"},
		{"COLLATE of COLLATE", "SELECT ('abc' COLLATE French_CI_AS) COLLATE French_CS_AS", "refused: mssqlsim does not understand COLLATE of an expression that has a COLLATE already"},
		{"assigned", "DECLARE @v nvarchar(30); SELECT @v = GreekCol + LatinCol FROM TestTab; INSERT taken SELECT GreekCol + LatinCol FROM TestTab; UPDATE t SET v = t.v + @v + s.LatinCol + s.GreekCol FROM taken t CROSS JOIN TestTab s; SELECT v FROM taken", "AaAaaA"},
		{"assigned from a code page", "INSERT taken SELECT CONCAT(g, l) FROM TestTab", "error 456"},
		{"SELECT INTO", "SELECT GreekCol + LatinCol AS x INTO dbo.made FROM TestTab", "error 451"},
	})
	for _, x := range []struct{ sql, want string }{
		{"SELECT * FROM TestTab WHERE GreekCol = LatinCol", `Cannot resolve the collation conflict between "Latin1_General_CS_AS" and "Greek_CI_AS" in the equal to operation.`},
		{"SELECT " + both + " FROM TestTab", `Cannot resolve collation conflict between "Latin1_General_CS_AS" and "Greek_CI_AS" in CASE operator occurring in SELECT statement column 1.`},
		{"SELECT PATINDEX(" + both + ", 'a') FROM TestTab", `Cannot resolve collation conflict for patindex operation.`},
		{"SELECT 1 FROM TestTab WHERE " + both + " = 'a'", `Cannot resolve collation conflict for equal to operation.`},
		{"SELECT id, GreekCol + LatinCol FROM TestTab", `Cannot resolve collation conflict between "Latin1_General_CS_AS" and "Greek_CI_AS" in add operator occurring in SELECT statement column 2.`},
		{"SELECT GreekCol FROM TestTab UNION SELECT LatinCol FROM TestTab", `Cannot resolve the collation conflict between "Latin1_General_CS_AS" and "Greek_CI_AS" in the UNION operation.`},
		{"SELECT id FROM TestTab ORDER BY id, GreekCol + LatinCol", `Cannot resolve collation conflict between "Latin1_General_CS_AS" and "Greek_CI_AS" in add operator occurring in ORDER BY statement column 2.`},
	} {
		if _, err := tryQuery(conn, x.sql); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %s", x.sql, err, x.want)
		}
	}
}
