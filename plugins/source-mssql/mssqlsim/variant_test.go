package mssqlsim

import "testing"

// Microsoft: sql_variant (Transact-SQL), Comparing sql_variant Values; the example of text and number is that of Microsoft: sql_variant
// of SQL Server 2008 R2, Using sql_variant data.
func TestVariantsAreComparedByFamilyThenByValue(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	answers(t, conn, []documented{
		{"exact numbers of other types", "SELECT IIF(CAST(5 AS sql_variant) = CAST(5.0 AS sql_variant), 1, 0), IIF(CAST(5 AS sql_variant) > CAST(4.5 AS sql_variant), 1, 0), IIF(CAST(CAST(1 AS bit) AS sql_variant) = CAST(CAST(1 AS money) AS sql_variant), 1, 0)", "1|1|1"},
		{"text is below numbers", "SELECT IIF(CAST('123' AS sql_variant) < CAST(111 AS sql_variant), 1, 0)", "1"},
		{"a float is above exact numbers", "SELECT IIF(CAST(1e0 AS sql_variant) > CAST(5 AS sql_variant), 1, 0), IIF(CAST(1e0 AS sql_variant) = CAST(1 AS sql_variant), 1, 0)", "1|0"},
		{"real and float", "SELECT IIF(CAST(CAST(0.5 AS real) AS sql_variant) = CAST(0.5e0 AS sql_variant), 1, 0)", "1"},
		{"bytes are below text", "SELECT IIF(CAST(0x41 AS sql_variant) < CAST('A' AS sql_variant), 1, 0), IIF(CAST(NEWID() AS sql_variant) < CAST(0x AS sql_variant), 1, 0)", "1|1"},
		{"dates are above numbers", "SELECT IIF(CAST(CAST('2024-01-01' AS datetime) AS sql_variant) > CAST(1e300 AS sql_variant), 1, 0)", "1"},
		{"dates of other types", "SELECT IIF(CAST(CAST('2024-01-01' AS date) AS sql_variant) = CAST(CAST('2024-01-01' AS datetime) AS sql_variant), 1, 0), IIF(CAST(CAST('10:00' AS time) AS sql_variant) = CAST(CAST('1900-01-01T10:00' AS datetime2) AS sql_variant), 1, 0)", "1|1"},
		{"dates that a conversion changes", "SELECT IIF(CAST(CAST('1500-01-01' AS date) AS sql_variant) < CAST(CAST('2024-01-01' AS datetime) AS sql_variant), 1, 0)", "refused: mssqlsim does not understand sql_variant values of date and datetime compared, where a conversion changes one of them"},
		{"text of both kinds", "SELECT IIF(CAST('a' AS sql_variant) = CAST(N'A ' AS sql_variant), 1, 0)", "1"},
		{"text of other collations: the locale comes first", "SELECT IIF(CAST(N'z' COLLATE Greek_CI_AS AS sql_variant) < CAST(N'a' COLLATE Latin1_General_CI_AS AS sql_variant), 1, 0), IIF(CAST(N'a' COLLATE Latin1_General_CI_AS AS sql_variant) = CAST(N'a' COLLATE Greek_CI_AS AS sql_variant), 1, 0)", "1|0"},
		{"text under its collation", "SELECT IIF(CAST(N'a' COLLATE Latin1_General_CS_AS AS sql_variant) = CAST(N'A' COLLATE Latin1_General_CS_AS AS sql_variant), 1, 0)", "0"},
		{"text whose order as Unicode is another", "SELECT IIF(CAST('ß' AS sql_variant) = CAST('ss' AS sql_variant), 1, 0)", "refused: mssqlsim does not understand sql_variant values of varchar and varchar compared, whose order as Unicode is another"},
		{"an int beside a variant", "SELECT IIF(CAST(5.0 AS sql_variant) = 5, 1, 0)", "1"},
		{"DISTINCT", "SELECT COUNT(DISTINCT v) FROM (VALUES (CAST(1 AS sql_variant)), (CAST(1.0 AS sql_variant)), (CAST('1' AS sql_variant)), (CAST(1e0 AS sql_variant))) t(v)", "3"},
		{"GROUP BY", "SELECT COUNT(*) FROM (SELECT v FROM (VALUES (CAST(1 AS sql_variant)), (CAST(1.0 AS sql_variant)), (CAST('a' AS sql_variant)), (CAST(N'A' AS sql_variant))) t(v) GROUP BY v) g", "2"},
		{"ORDER BY", "SELECT STRING_AGG(n, ',') WITHIN GROUP (ORDER BY v) FROM (VALUES ('g', CAST(NEWID() AS sql_variant)), ('b', CAST(0x01 AS sql_variant)), ('2', CAST(1.5 AS sql_variant)), ('1', CAST(1 AS sql_variant)), ('d', CAST(GETDATE() AS sql_variant)), ('f', CAST(-1e0 AS sql_variant)), ('t', CAST('z' AS sql_variant))) t(n, v)", "g,b,t,1,2,f,d"},
	})
	exec(t, conn, "CREATE TABLE dbo.variants (v sql_variant PRIMARY KEY, n int); INSERT dbo.variants VALUES (1, 1), ('1', 2), (2.5, 3)")
	answers(t, conn, []documented{
		{"a key that is there as another type", "INSERT dbo.variants VALUES (1.0, 4)", "error 2627"},
		{"a key looked up", "SELECT n FROM dbo.variants WHERE v = CAST(2.50 AS sql_variant)", "3"},
		{"a range", "SELECT COUNT(*) FROM dbo.variants WHERE v >= CAST(1 AS sql_variant)", "2"},
		{"joined", "SELECT a.n FROM dbo.variants a JOIN (SELECT CAST(CAST(1 AS money) AS sql_variant) AS w) b ON a.v = b.w", "1"},
	})
}
