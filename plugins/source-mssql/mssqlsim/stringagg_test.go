package mssqlsim

import "testing"

// Microsoft: STRING_AGG (Transact-SQL).
func TestStringAgg(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	exec(t, conn, "CREATE TABLE dbo.s (id int NOT NULL PRIMARY KEY, g char(1) NOT NULL, v varchar(10) NULL); INSERT INTO dbo.s VALUES (1,'a','y'),(2,'a',NULL),(3,'a','x'),(4,'b',NULL)")
	answers(t, conn, []documented{
		{"as they come", "SELECT STRING_AGG(v, ', ') FROM dbo.s", "~varchar(8000) y, x"},
		{"in an order", "SELECT g, STRING_AGG(v, ',') WITHIN GROUP (ORDER BY v ASC) FROM dbo.s GROUP BY g ORDER BY g", "a|x,y;b|NULL"},
		{"descending, by another column", "SELECT STRING_AGG(v, '-') WITHIN GROUP (ORDER BY id DESC) FROM dbo.s", "x-y"},
		{"NULL has no separator", "SELECT STRING_AGG(ISNULL(v, 'N/A'), ',') WITHIN GROUP (ORDER BY id) FROM dbo.s", "y,N/A,x,N/A"},
		{"of numbers", "SELECT STRING_AGG(id, ',') WITHIN GROUP (ORDER BY id DESC) FROM dbo.s", "~nvarchar(4000) 4,3,2,1"},
		{"of nothing", "SELECT STRING_AGG(v, ',') FROM dbo.s WHERE id > 9", "NULL"},
		{"too long", "SELECT STRING_AGG(CAST(REPLICATE('x', 5000) AS varchar(5000)), ',') FROM dbo.s", "error 9829"},
		{"of any length", "SELECT LEN(STRING_AGG(CAST(REPLICATE('x', 5000) AS varchar(max)), ',')) FROM dbo.s", "20003"},
		{"a separator of a variable", "DECLARE @s varchar(2) = '; '; SELECT STRING_AGG(v, @s) WITHIN GROUP (ORDER BY v) FROM dbo.s", "x; y"},
		{"beside other aggregates", "SELECT COUNT(*), STRING_AGG(v, '') WITHIN GROUP (ORDER BY v), MAX(id) FROM dbo.s HAVING COUNT(v) = 2", "4|xy|4"},
		{"no separator", "SELECT STRING_AGG(v) FROM dbo.s", "error 174"},
		{"a Unicode separator of varchar", "SELECT STRING_AGG(v, N',') FROM dbo.s", "refused: mssqlsim does not understand nvarchar(1) as the separator of STRING_AGG of varchar(8000)"},
		{"with OVER", "SELECT STRING_AGG(v, ',') OVER (ORDER BY id) FROM dbo.s", "refused: mssqlsim does not understand STRING_AGG with OVER"},
	})
}
