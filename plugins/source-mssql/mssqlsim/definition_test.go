package mssqlsim

import (
	"fmt"
	"testing"
)

// What a server writes into its catalog for a definition. The pages say only that it is not the text (Microsoft:
// sys.check_constraints, sys.computed_columns (Transact-SQL); INFORMATION_SCHEMA.CHECK_CONSTRAINTS); the forms are those of scripts
// that servers have generated: AdventureWorks' and others that are public.
func TestDefinitionsAsAServerWritesThem(t *testing.T) {
	t.Parallel()
	conn := newEmpty(t)
	for i, tc := range []struct{ kind, written, want string }{
		{"CHECK", "a>5", "([a]>(5))"},
		{"CHECK", "A != -1", "([a]<>(-1))"},
		{"CHECK", "s IN ('S', 'M', N'L')", "([s]=N'L' OR [s]='M' OR [s]='S')"},
		{"CHECK", "upper(s) in ('S', 'M') or s is null", "(upper([s])='M' OR upper([s])='S' OR [s] IS NULL)"},
		{"CHECK", "s IS NULL OR (s IN ('x', 'y'))", "([s] IS NULL OR ([s]='y' OR [s]='x'))"},
		{"CHECK", "d BETWEEN '1930-01-01' AND DATEADD(YEAR, -18, '2000-01-01')", "([d]>='1930-01-01' AND [d]<=dateadd(year,(-18),'2000-01-01'))"},
		{"CHECK", "a = 0 OR (a = 1 AND b IS NOT NULL)", "([a]=(0) OR [a]=(1) AND [b] IS NOT NULL)"},
		{"CHECK", "(a = 0 OR a = 1) AND b < 3", "(([a]=(0) OR [a]=(1)) AND [b]<(3))"},
		{"CHECK", "s NOT LIKE '%[^0-9]%'", "(NOT [s] like '%[^0-9]%')"},
		{"CHECK", "NOT (a = 1 AND b = 1)", "(NOT ([a]=(1) AND [b]=(1)))"},
		{"CHECK", "len(ltrim(rtrim(s))) > 0", "(len(ltrim(rtrim([s])))>(0))"},
		{"CHECK", "CASE WHEN a IS NULL THEN 1 ELSE 0 END + CASE WHEN b IS NULL THEN 1 ELSE 0 END = 1", "((case when [a] IS NULL then (1) else (0) end+case when [b] IS NULL then (1) else (0) end)=(1))"},
		{"CHECK", "s = 'it''s'", "([s]='it''s')"},
		{"AS", "a * (1.0 - b) * c", "(([a]*((1.0)-[b]))*[c])"},
		{"AS", "a + b + c", "(([a]+[b])+[c])"},
		{"AS", "a + b * 2", "([a]+[b]*(2))"},
		{"AS", "(a & ~1) / 2 & 3", "(([a]&~(1))/(2)&(3))"},
		{"AS", "ISNULL(a, 0)", "(isnull([a],(0)))"},
		{"AS", "CAST(a AS varchar(10)) + s", "(CONVERT([varchar](10),[a])+[s])"},
		{"AS", "CONVERT(nvarchar(max), d, 126)", "(CONVERT([nvarchar](max),[d],(126)))"},
		{"AS", "CASE WHEN d IS NOT NULL THEN datediff(day, d, d) END", "(case when [d] IS NOT NULL then datediff(day,[d],[d])  end)"},
		{"AS", "[odd]]name] + 1", "([odd]]name]+(1))"},
		{"DEFAULT", "0", "((0))"},
		{"DEFAULT", "(-1.50)", "((-1.50))"},
		{"DEFAULT", "N'x'", "(N'x')"},
		{"DEFAULT", "NULL", "(NULL)"},
		{"DEFAULT", "GetDate()", "(getdate())"},
		{"DEFAULT", "CURRENT_TIMESTAMP", "(getdate())"},
		// of these the form is not known: as they were written
		{"CHECK", "a NOT IN (1, 2)", "(a NOT IN (1, 2))"},
		{"CHECK", "a * 2 > 5", "(a * 2 > 5)"},
		{"CHECK", "NOT a > 5", "(NOT a > 5)"},
		{"AS", "YEAR(d)", "(YEAR(d))"},
		{"AS", "COALESCE(a, b)", "(COALESCE(a, b))"},
		{"AS", "DATEADD(dd, 1, d)", "(DATEADD(dd, 1, d))"},
		{"DEFAULT", "1e0", "(1e0)"},
	} {
		table := fmt.Sprintf("dbo.t%d", i)
		column, view := ", x sql_variant CONSTRAINT DF"+fmt.Sprint(i)+" DEFAULT "+tc.written, "default_constraints"
		switch tc.kind {
		case "CHECK":
			column, view = ", CHECK ("+tc.written+")", "check_constraints"
		case "AS":
			column, view = ", x AS "+tc.written, ""
		}
		question := "SELECT definition FROM sys." + view + " WHERE parent_object_id = OBJECT_ID('" + table + "')"
		if view == "" {
			question = "SELECT definition FROM sys.computed_columns WHERE object_id = OBJECT_ID('" + table + "')"
		}
		if got := ask(conn, "CREATE TABLE "+table+" (a int NULL, b int NULL, c int NULL, s varchar(90) NULL, d datetime NULL, [odd]]name] int NULL"+column+")", false); got != "" {
			t.Errorf("%s: %s", tc.written, got)
			continue
		}
		if got := ask(conn, question, false); got != tc.want {
			t.Errorf("%s %s\n got %s\nwant %s", tc.kind, tc.written, got, tc.want)
		}
	}
	for _, tc := range []struct{ question, want string }{
		{"SELECT CHECK_CLAUSE FROM INFORMATION_SCHEMA.CHECK_CONSTRAINTS WHERE CHECK_CLAUSE LIKE '%([[]a]>(5))%'", "([a]>(5))"},
		{"SELECT COLUMN_DEFAULT FROM INFORMATION_SCHEMA.COLUMNS WHERE COLUMN_DEFAULT LIKE '%1.50%'", "((-1.50))"},
		{"SELECT OBJECT_DEFINITION(OBJECT_ID('dbo.DF22'))", "((0))"},
	} {
		if got := ask(conn, tc.question, false); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.question, got, tc.want)
		}
	}
}
