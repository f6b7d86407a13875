package mssqlsim

import "testing"

// Functions with OVER and what they see of a partition.
func TestWindows(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	exec(t, conn, "CREATE TABLE dbo.w (id int NOT NULL PRIMARY KEY, g char(1) NOT NULL, n int NULL); INSERT INTO dbo.w VALUES (1,'a',10),(2,'a',20),(3,'a',20),(4,'b',5),(5,'b',NULL)")
	over := func(call, window string) string {
		return "SELECT id, " + call + " OVER (" + window + ") FROM dbo.w ORDER BY id"
	}
	answers(t, conn, []documented{
		// Microsoft: SELECT - OVER clause (Transact-SQL)
		{"an aggregate of a partition", over("SUM(n)", "PARTITION BY g"), "1|50;2|50;3|50;4|5;5|5"},
		{"an order makes the frame end at the rows of the same order", over("SUM(n)", "PARTITION BY g ORDER BY n"), "1|10;2|50;3|50;4|5;5|NULL"},
		{"the default frame by name", over("SUM(n)", "PARTITION BY g ORDER BY n RANGE UNBOUNDED PRECEDING"), "1|10;2|50;3|50;4|5;5|NULL"},
		{"the default frame in full", over("COUNT(*)", "ORDER BY g RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"), "1|3;2|3;3|3;4|5;5|5"},
		{"range of the current row", over("COUNT(*)", "ORDER BY n RANGE CURRENT ROW"), "1|1;2|2;3|2;4|1;5|1"},
		{"range from the current row on", over("COUNT(*)", "ORDER BY n RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING"), "1|3;2|2;3|2;4|4;5|5"},
		{"running total of rows", over("SUM(n)", "ORDER BY id ROWS UNBOUNDED PRECEDING"), "1|10;2|30;3|50;4|55;5|55"},
		{"descending", over("SUM(n)", "ORDER BY id DESC ROWS UNBOUNDED PRECEDING"), "1|55;2|45;3|25;4|5;5|NULL"},
		{"rows before", over("SUM(n)", "ORDER BY id ROWS 1 PRECEDING"), "1|10;2|30;3|40;4|25;5|5"},
		{"rows around", over("COUNT(n)", "ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING"), "1|2;2|3;3|3;4|2;5|1"},
		{"rows behind", over("MIN(id)", "ORDER BY id ROWS BETWEEN 2 FOLLOWING AND 3 FOLLOWING"), "1|3;2|4;3|5;4|NULL;5|NULL"},
		{"rows long before", over("COUNT(*)", "ORDER BY id ROWS BETWEEN 3 PRECEDING AND 2 PRECEDING"), "1|0;2|0;3|1;4|2;5|2"},
		{"rows that end before they begin", over("COUNT(*)", "ORDER BY id ROWS BETWEEN 1 PRECEDING AND 2 PRECEDING"), "1|0;2|0;3|0;4|0;5|0"},
		{"the whole partition", over("MAX(n)", "PARTITION BY g ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"), "1|20;2|20;3|20;4|5;5|5"},
		{"moving average of decimals", "SELECT id, AVG(CAST(n AS decimal(9,2))) OVER (ORDER BY id ROWS 2 PRECEDING) FROM dbo.w ORDER BY id", "1|10.000000;2|15.000000;3|16.666666;4|15.000000;5|12.500000"},
		{"range of a number of rows", over("SUM(n)", "ORDER BY id RANGE 1 PRECEDING"), "error 4194"},
		{"frame without order", over("SUM(n)", "ROWS UNBOUNDED PRECEDING"), "error 10756"},
		{"frame of a ranking function", over("ROW_NUMBER()", "ORDER BY id ROWS UNBOUNDED PRECEDING"), "error 10752"},
		{"frame that ends before it begins", over("SUM(n)", "ORDER BY id ROWS BETWEEN CURRENT ROW AND 1 PRECEDING"), "error 4193"},
		{"DISTINCT", over("COUNT(DISTINCT n)", "PARTITION BY g"), "error 10759"},
		{"order by a number", over("SUM(n)", "ORDER BY 1"), "error 5308"},
		{"order by a constant", over("ROW_NUMBER()", "ORDER BY 'x'"), "error 5309"},
		{"order by a subquery", "SELECT COUNT(*) FROM (SELECT ROW_NUMBER() OVER (ORDER BY (SELECT NULL)) AS r FROM dbo.w) AS d WHERE r <= 3", "3"},
		{"numbers and ranks in no order", "SELECT id, ROW_NUMBER() OVER (ORDER BY (SELECT 1)), RANK() OVER (ORDER BY (SELECT 1)), ROW_NUMBER() OVER (PARTITION BY g ORDER BY (SELECT NULL)) FROM dbo.w ORDER BY id", "1|1|1|1;2|2|1|2;3|3|1|3;4|4|1|1;5|5|1|2"},
		{"numbers in no order above a join", "SELECT TOP (4) a.id, b.id, ROW_NUMBER() OVER (ORDER BY (SELECT NULL)) FROM dbo.w AS a JOIN dbo.w AS b ON b.g = a.g WHERE a.id > 1", "2|1|1;2|2|2;2|3|3;3|1|4"},
		{"numbers of groups in no order", "SELECT COUNT(*), ROW_NUMBER() OVER (ORDER BY (SELECT NULL)) FROM dbo.w GROUP BY g", "3|1;2|2"},
		{"over groups", "SELECT g, SUM(SUM(n)) OVER (ORDER BY g ROWS UNBOUNDED PRECEDING) FROM dbo.w GROUP BY g ORDER BY g", "a|50;b|55"},
		{"no argument", over("COUNT()", "ORDER BY id"), "error 174"},

		// Microsoft: FIRST_VALUE (Transact-SQL), LAST_VALUE (Transact-SQL)
		{"FIRST_VALUE", over("FIRST_VALUE(n)", "PARTITION BY g ORDER BY n DESC"), "1|20;2|20;3|20;4|5;5|5"},
		{"LAST_VALUE sees to the current row", over("LAST_VALUE(id)", "PARTITION BY g ORDER BY id"), "1|1;2|2;3|3;4|4;5|5"},
		{"LAST_VALUE of the partition", over("LAST_VALUE(id)", "PARTITION BY g ORDER BY id RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"), "1|3;2|3;3|3;4|5;5|5"},
		{"FIRST_VALUE without order", over("FIRST_VALUE(n)", "PARTITION BY g"), "error 4112"},

		// Microsoft: LAG (Transact-SQL), LEAD (Transact-SQL)
		{"LAG", over("LAG(n)", "ORDER BY id"), "1|NULL;2|10;3|20;4|20;5|5"},
		{"LAG with a default", over("LAG(n, 2, -1)", "ORDER BY id"), "1|-1;2|-1;3|10;4|20;5|20"},
		{"a default is of the first argument's type", "SELECT LAG(n, 1, '7') OVER (ORDER BY id) FROM dbo.w WHERE id = 1", "~int 7"},
		{"LEAD with a default of the row", over("LEAD(n, 1, id)", "PARTITION BY g ORDER BY id"), "1|20;2|20;3|3;4|NULL;5|5"},
		{"an offset of the row", over("LAG(id, id - 1, 0)", "ORDER BY id"), "1|1;2|1;3|1;4|1;5|1"},
		{"a negative offset", over("LAG(id, -1)", "ORDER BY id"), "error 8730"},
		{"LAG without order", over("LAG(n)", ""), "error 4112"},

		// Microsoft: PERCENT_RANK (Transact-SQL), CUME_DIST (Transact-SQL)
		{"PERCENT_RANK", over("PERCENT_RANK()", "PARTITION BY g ORDER BY n"), "1|0;2|0.5;3|0.5;4|1;5|0"},
		{"PERCENT_RANK of one row", "SELECT PERCENT_RANK() OVER (ORDER BY id) FROM dbo.w WHERE id = 1", "~float 0"},
		{"CUME_DIST", over("CUME_DIST()", "PARTITION BY g ORDER BY n DESC"), "1|1;2|0.6666666666666666;3|0.6666666666666666;4|0.5;5|1"},
		{"PERCENTILE_CONT is not built", "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY n) OVER () FROM dbo.w", "refused: mssqlsim does not understand PERCENTILE_CONT in this form"},
	})
}
