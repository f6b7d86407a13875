package mssqlsim

import (
	"fmt"
	"strings"
)

// grammar makes T-SQL out of choices: bytes that say, one after the other, which branch is taken. When they are used up the
// first branch is, which ends every rule soon. What it makes is mostly well-typed; what is not belongs to it, too.
type grammar struct {
	choices []byte
	depth   int
}

// pick chooses one of n.
func (g *grammar) pick(n int) int {
	if len(g.choices) == 0 {
		return 0
	}
	c := int(g.choices[0])
	g.choices = g.choices[1:]
	return c % n
}

func (g *grammar) of(all ...string) string { return all[g.pick(len(all))] }

// maybe gives a text or nothing.
func (g *grammar) maybe(make func() string) string {
	if g.pick(3) == 1 {
		return make()
	}
	return ""
}

// deeper runs a rule that may contain itself.
func (g *grammar) deeper(leaf, rule func() string) string {
	if g.depth >= 5 || len(g.choices) == 0 {
		return leaf()
	}
	g.depth++
	defer func() { g.depth-- }()
	return rule()
}

func (g *grammar) script() string {
	var s []string
	for range 1 + g.pick(4) {
		s = append(s, g.statement())
		if g.pick(4) == 3 {
			s = append(s, "GO")
		}
	}
	return strings.Join(s, "\n")
}

// The classes of types that expressions are made of.
const (
	ofNumber = iota
	ofText
	ofBytes
	ofTime
	ofGuid
	ofAnything
)

var types = map[int][]string{
	ofNumber: {"int", "bigint", "tinyint", "smallint", "bit", "decimal(9, 2)", "decimal(38, 10)", "numeric(5, 0)", "money", "smallmoney", "float", "real"},
	ofText:   {"nvarchar(20)", "varchar(10)", "varchar(max)", "nvarchar(max)", "char(5)", "nchar(3)", "sysname"},
	ofBytes:  {"varbinary(10)", "binary(4)", "varbinary(max)"},
	ofTime:   {"datetime2(3)", "datetime", "date", "time(7)", "smalldatetime", "datetimeoffset(2)", "datetime2(7)"},
	ofGuid:   {"uniqueidentifier"},
}

var columns = map[int][]string{
	ofNumber: {"t.id", "t.i", "t.d", "t.f", "t.x", "t.m", "id", "u.a"}, ofText: {"t.s", "t.v", "t.l", "u.n"}, ofBytes: {"t.b"}, ofTime: {"t.t", "t.o"}, ofGuid: {"t.g"}, ofAnything: {"t.q", "NULL"},
}

var literals = map[int][]string{
	ofNumber: {"1", "0", "-1", "2147483647", "9223372036854775807", "-9223372036854775808", "3.50", "0.000000000000000000001", "1e10", "1e-300", "$4.5", "99999999999999999999999999999999999999", "NULL", "@n", "@@ROWCOUNT", "@@TRANCOUNT", "@@SPID"},
	ofText:   {"'a'", "N'ß'", "''", "N'漢😀'", "'it''s'", "' x '", "'12'", "'2026-01-02'", "NULL", "@s", "'%a_[b-d]'", "DB_NAME()", "@@VERSION", "'0x0A'", "'1e5'", "'abc  '"},
	ofBytes: {"0x", "0x00", "0xFFFFFFFFFFFFFFFFFFFF", "0x0102", "NULL", "sys.fn_cdc_get_max_lsn()", "sys.fn_cdc_get_min_lsn('dbo_t')", "sys.fn_cdc_get_min_lsn(N'none')",
		"sys.fn_cdc_increment_lsn(sys.fn_cdc_get_max_lsn())", "sys.fn_cdc_decrement_lsn(0x00000000000000000000)", "sys.fn_cdc_map_time_to_lsn('largest less than or equal', GETDATE())"},
	ofTime:     {"GETDATE()", "'2026-02-28'", "'0001-01-01'", "'9999-12-31T23:59:59.9999999'", "CAST('1753-01-01' AS datetime)", "SYSDATETIMEOFFSET()", "NULL", "sys.fn_cdc_map_lsn_to_time(sys.fn_cdc_get_max_lsn())", "GETUTCDATE()"},
	ofGuid:     {"'00112233-4455-6677-8899-AABBCCDDEEFF'", "NEWID()", "NULL"},
	ofAnything: {"NULL", "CAST(1 AS sql_variant)", "CAST(N'x' AS sql_variant)"},
}

func (g *grammar) kind() int { return g.pick(6) }

// typ names a type of a class.
func (g *grammar) typ(kind int) string {
	if kind == ofAnything {
		return g.of("sql_variant", "xml", "hierarchyid", "int")
	}
	return g.of(types[kind]...)
}

func (g *grammar) expr(kind int) string {
	if g.pick(24) == 23 { // a type that does not belong here
		kind = g.kind()
	}
	return g.deeper(func() string {
		if g.pick(2) == 1 {
			return g.of(columns[kind]...)
		}
		return g.of(literals[kind]...)
	}, func() string {
		switch g.pick(12) {
		case 0:
			return g.of(literals[kind]...)
		case 1, 2:
			return g.of(columns[kind]...)
		case 3:
			return "CAST(" + g.expr(g.kind()) + " AS " + g.typ(kind) + ")"
		case 4:
			return g.of("CONVERT", "TRY_CONVERT") + "(" + g.typ(kind) + ", " + g.expr(g.kind()) + g.of("", ", 1", ", 121", ", 126", ", 2", ", 0", ", 23", ", 999") + ")"
		case 5:
			return "CASE WHEN " + g.cond() + " THEN " + g.expr(kind) + g.of("", " ELSE "+g.expr(kind)) + " END"
		case 6:
			return g.of("ISNULL(", "COALESCE(", "NULLIF(") + g.expr(kind) + ", " + g.expr(kind) + ")"
		case 7:
			return "(SELECT " + g.of("MAX", "MIN", "COUNT", "SUM", "AVG") + "(" + g.expr(kind) + ")" + g.from() + g.where() + ")"
		case 8:
			return "(" + g.expr(kind) + ")"
		case 9:
			return "IIF(" + g.cond() + ", " + g.expr(kind) + ", " + g.expr(kind) + ")"
		}
		return g.call(kind)
	})
}

// call is an expression of functions and operators of a class.
func (g *grammar) call(kind int) string {
	part := func() string {
		return g.of("year", "month", "day", "hour", "minute", "second", "millisecond", "microsecond", "nanosecond", "week", "quarter", "dayofyear", "weekday", "tzoffset", "iso_week")
	}
	n, s, d := ofNumber, ofText, ofTime
	switch kind {
	case ofNumber:
		switch g.pick(14) {
		case 0, 1, 2:
			return g.expr(n) + g.of(" + ", " - ", " * ", " / ", " % ", " & ", " | ", " ^ ") + g.expr(n)
		case 3:
			return g.of("-", "~", "+") + "(" + g.expr(n) + ")"
		case 4:
			return g.of("ABS", "SIGN", "FLOOR", "CEILING") + "(" + g.expr(n) + ")"
		case 5:
			return g.of("ROUND", "POWER") + "(" + g.expr(n) + ", " + g.expr(n) + ")"
		case 6:
			return g.of("LEN", "DATALENGTH", "ASCII", "UNICODE") + "(" + g.expr(s) + ")"
		case 7:
			return g.of("CHARINDEX", "PATINDEX") + "(" + g.expr(s) + ", " + g.expr(s) + ")"
		case 8:
			return g.of("DATEPART", "DATEPART") + "(" + part() + ", " + g.expr(d) + ")"
		case 9:
			return g.of("DATEDIFF", "DATEDIFF_BIG") + "(" + part() + ", " + g.expr(d) + ", " + g.expr(d) + ")"
		case 10:
			return g.of("OBJECT_ID", "DB_ID", "SCHEMA_ID", "ISNUMERIC", "ISDATE", "COL_LENGTH") + "(" + g.expr(s) + g.of("", ", 's'") + ")"
		case 11:
			return g.of("ROW_NUMBER()", "RANK()", "DENSE_RANK()", "NTILE("+g.expr(n)+")", "LAG("+g.expr(n)+", "+g.expr(n)+")", "LEAD(t.id)", "SUM(t.i)", "COUNT(*)", "MAX(t.d)") +
				" OVER (" + g.maybe(func() string { return "PARTITION BY " + g.expr(g.kind()) + " " }) + "ORDER BY " + g.expr(g.kind()) + g.of("", " DESC") + ")"
		case 12:
			return "sys.fn_cdc_is_bit_set(" + g.expr(n) + ", " + g.expr(ofBytes) + ")"
		}
		return "sys.fn_cdc_get_column_ordinal(" + g.of("'dbo_t'", g.expr(s)) + ", " + g.of("'s'", g.expr(s)) + ")"
	case ofText:
		switch g.pick(10) {
		case 0, 1:
			return g.expr(s) + " + " + g.expr(s)
		case 2:
			return g.of("UPPER", "LOWER", "LTRIM", "RTRIM", "TRIM", "QUOTENAME", "REVERSE") + "(" + g.expr(s) + ")"
		case 3:
			return g.of("LEFT", "RIGHT", "REPLICATE") + "(" + g.expr(s) + ", " + g.expr(n) + ")"
		case 4:
			return "SUBSTRING(" + g.expr(g.pick(3)) + ", " + g.expr(n) + ", " + g.expr(n) + ")"
		case 5:
			return "REPLACE(" + g.expr(s) + ", " + g.expr(s) + ", " + g.expr(s) + ")"
		case 6:
			return "CONCAT(" + g.expr(g.kind()) + ", " + g.expr(g.kind()) + ")"
		case 7:
			return g.of("DATENAME("+part()+", "+g.expr(d)+")", "STUFF("+g.expr(s)+", "+g.expr(n)+", "+g.expr(n)+", "+g.expr(s)+")", "STR("+g.expr(n)+")", "SPACE("+g.expr(n)+")", "CHAR("+g.expr(n)+")")
		case 8:
			return "(" + g.expr(s) + " COLLATE " + g.of("Latin1_General_BIN2", "Latin1_General_100_CI_AS_SC_UTF8", "Greek_CS_AS", "Japanese_CI_AS", "nonsense") + ")"
		}
		return g.of("OBJECT_NAME", "SCHEMA_NAME", "DB_NAME", "TYPE_NAME", "USER_NAME") + "(" + g.expr(n) + ")"
	case ofBytes:
		return g.of(g.expr(ofBytes)+" + "+g.expr(ofBytes), "SUBSTRING("+g.expr(ofBytes)+", "+g.expr(n)+", "+g.expr(n)+")", "sys.fn_cdc_increment_lsn("+g.expr(ofBytes)+")", "sys.fn_cdc_decrement_lsn("+g.expr(ofBytes)+")",
			"sys.fn_cdc_map_time_to_lsn("+g.of("'smallest greater than'", "'smallest greater than or equal'", "'largest less than'", g.expr(s))+", "+g.expr(d)+")")
	case ofTime:
		return g.of("DATEADD("+part()+", "+g.expr(n)+", "+g.expr(d)+")", "DATETRUNC("+part()+", "+g.expr(d)+")", g.expr(d)+" AT TIME ZONE "+g.of("'UTC'", "'Central European Standard Time'", g.expr(s)), "EOMONTH("+g.expr(d)+")",
			"TODATETIMEOFFSET("+g.expr(d)+", "+g.expr(n)+")", "SWITCHOFFSET("+g.expr(d)+", "+g.of("'+05:30'", g.expr(n))+")", g.expr(d)+g.of(" + ", " - ")+g.expr(n), "sys.fn_cdc_map_lsn_to_time("+g.expr(ofBytes)+")")
	}
	return g.of(literals[kind]...)
}

func (g *grammar) cond() string {
	return g.deeper(func() string { return g.of("1 = 1", "1 = 0", "t.id = 1") }, func() string {
		k := g.kind()
		switch g.pick(9) {
		case 0, 1:
			return g.expr(k) + g.of(" = ", " <> ", " < ", " >= ", " !> ") + g.expr(k)
		case 2:
			return g.expr(k) + g.of(" IS NULL", " IS NOT NULL")
		case 3:
			return g.expr(k) + g.of(" IN (", " NOT IN (") + g.expr(k) + ", " + g.expr(k) + ")"
		case 4:
			return g.expr(k) + g.of(" BETWEEN ", " NOT BETWEEN ") + g.expr(k) + " AND " + g.expr(k)
		case 5:
			return g.expr(ofText) + g.of(" LIKE ", " NOT LIKE ") + g.expr(ofText)
		case 6:
			return g.of("", "NOT ") + "EXISTS (" + g.query(1) + ")"
		case 7:
			return g.expr(k) + " IN (SELECT " + g.expr(k) + g.from() + ")"
		}
		return "(" + g.cond() + g.of(" AND ", " OR ") + g.cond() + ")"
	})
}

func (g *grammar) from() string {
	table := func() string {
		return g.of("dbo.t AS t", "cdc.dbo_t_CT AS t", "cdc.fn_cdc_get_all_changes_dbo_t("+g.of("sys.fn_cdc_get_min_lsn('dbo_t')", g.expr(ofBytes))+", sys.fn_cdc_get_max_lsn(), "+g.of("N'all'", "N'all update old'", g.expr(ofText))+") AS t",
			"cdc.fn_cdc_get_net_changes_dbo_t(sys.fn_cdc_get_min_lsn('dbo_t'), "+g.of("sys.fn_cdc_get_max_lsn()", g.expr(ofBytes))+", "+g.of("N'all'", "N'all with mask'", "N'all with merge'")+") AS t",
			"(SELECT TOP (5) * FROM dbo.t ORDER BY id) AS t")
	}
	s := " FROM " + table()
	for range g.pick(3) {
		s += g.deeper(func() string { return "" }, func() string {
			switch g.pick(4) {
			case 0:
				return g.of(" JOIN ", " LEFT JOIN ", " RIGHT JOIN ", " FULL JOIN ") + g.of("dbo.u AS u", "cdc.dbo_u_CT AS u") + " ON " + g.of("t.id = u.a", g.cond())
			case 1:
				return " CROSS JOIN dbo.u AS u"
			case 2:
				return g.of(" CROSS", " OUTER") + " APPLY (SELECT " + g.expr(ofNumber) + " AS a, " + g.expr(ofText) + " AS n) AS u"
			}
			return ", (VALUES (" + g.expr(ofNumber) + ", " + g.expr(ofText) + "), (2, N'y')) AS u (a, n)"
		})
	}
	return s
}

func (g *grammar) where() string {
	return g.maybe(func() string { return " WHERE " + g.cond() })
}

// query is a SELECT of that many columns; 0 is any number.
func (g *grammar) query(width int) string {
	if width == 0 {
		width = 1 + g.pick(3)
	}
	group := g.pick(5) == 4
	key := g.expr(g.kind())
	var cols []string
	for i := range width {
		e := g.expr(g.kind())
		if group {
			e = g.of(key, g.of("SUM", "MIN", "MAX", "COUNT", "AVG", "COUNT_BIG")+"("+g.of("", "DISTINCT ")+e+")", "COUNT(*)")
		}
		cols = append(cols, e+fmt.Sprintf(" AS c%d", i))
	}
	s := "SELECT " + g.of("", "", "DISTINCT ", "TOP ("+g.expr(ofNumber)+") ") + strings.Join(cols, ", ") + g.from() + g.where()
	if group {
		s += " GROUP BY " + key + g.maybe(func() string {
			return " HAVING " + g.of("COUNT(*) > 0", "MAX("+g.expr(ofNumber)+") < "+g.expr(ofNumber))
		})
	}
	if g.pick(6) == 5 && g.depth < 4 {
		g.depth++
		s += g.of(" UNION ALL ", " UNION ") + g.query(width)
		g.depth--
	}
	return s
}

func (g *grammar) statement() string {
	const declared = "DECLARE @n int = 3, @s nvarchar(30) = N'text'\n"
	order := func() string {
		return g.of("", " ORDER BY 1", " ORDER BY c0 DESC", " ORDER BY 1 OFFSET 1 ROWS", " ORDER BY c0 OFFSET "+g.expr(ofNumber)+" ROWS FETCH NEXT "+g.expr(ofNumber)+" ROWS ONLY")
	}
	target := func() string {
		return g.of("i = ", "i += ", "d = ", "f = ", "s = ", "v = ", "b = ", "t = ", "o = ", "g = ", "m = ", "l = ", "q = ", "id = ", "x = ")
	}
	output := func() string {
		return g.maybe(func() string {
			return " OUTPUT " + g.of("inserted.id", "inserted.*", "deleted.id", "inserted.s, deleted.s", "deleted.*")
		})
	}
	switch g.pick(18) {
	case 0, 1, 2, 3, 4, 5:
		return declared + g.query(0) + order()
	case 6:
		return declared + ";WITH c (n) AS (" + g.query(1) + ") SELECT n, COUNT(*) AS c FROM c GROUP BY n"
	case 7:
		return ";WITH c AS (SELECT 1 AS n" + g.of("", ", CAST(N'a' AS nvarchar(max)) AS w") + " UNION ALL SELECT n + 1" + g.of("", ", w + N'b'") + " FROM c WHERE n < " + g.of("5", "50", "3000") + ") SELECT * FROM c" + g.of("", " OPTION (MAXRECURSION 0)", " OPTION (MAXRECURSION 10)")
	case 8:
		return declared + "INSERT INTO dbo.t (id, i, d, s, b, t)" + output() + " VALUES (" + g.of("10", "1", "@n", "11") + ", " + g.expr(ofNumber) + ", " + g.expr(ofNumber) + ", " + g.expr(ofText) + ", " + g.expr(ofBytes) + ", " + g.expr(ofTime) + ")"
	case 9:
		return declared + "INSERT INTO dbo.t (id, " + g.of("s", "i", "q", "g", "v", "f") + ") SELECT t.id + 100, " + g.expr(g.kind()) + " FROM dbo.t AS t" + g.where()
	case 10, 11:
		return declared + "UPDATE dbo.t SET " + target() + g.expr(g.kind()) + ", " + target() + g.expr(g.kind()) + output() + g.where()
	case 12:
		return declared + "DELETE " + g.of("", "TOP (1) ") + "FROM dbo.t" + output() + g.where()
	case 13:
		return declared + "MERGE dbo.t AS t USING (SELECT a, n FROM dbo.u) AS u ON " + g.of("t.id = u.a", g.cond()) + g.of("", " WHEN MATCHED AND "+g.cond()+" THEN DELETE") + " WHEN MATCHED THEN UPDATE SET " + target() + g.expr(g.kind()) +
			g.of("", " WHEN NOT MATCHED THEN INSERT (id, s) VALUES (u.a + 50, "+g.expr(ofText)+")") + g.of("", " WHEN NOT MATCHED BY SOURCE AND "+g.cond()+" THEN DELETE") + g.of("", " OUTPUT $action, inserted.id") + ";"
	case 14:
		return g.deeper(func() string { return "SELECT 1 AS c0" }, func() string {
			return declared + g.of("IF "+g.cond()+" ", "WHILE @n > 0 ", "BEGIN TRY ") + "BEGIN SET @n = @n - 1 SET @s = " + g.expr(ofText) + " " + strings.ReplaceAll(g.statement(), declared, "") + " END"
		})
	case 15:
		return g.of("BEGIN TRAN", "COMMIT", "ROLLBACK", "SAVE TRAN p", "ROLLBACK TRAN p", "SET XACT_ABORT ON", "SET IMPLICIT_TRANSACTIONS ON", "SET NOCOUNT ON", "SET TRANSACTION ISOLATION LEVEL SNAPSHOT", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "ALTER DATABASE fuzz SET ALLOW_SNAPSHOT_ISOLATION ON")
	case 16:
		return declared + "EXEC sp_executesql N'SELECT @p AS c0, " + strings.ReplaceAll(g.expr(g.kind()), "'", "''") + " AS c1 FROM dbo.t AS t', N'@p " + g.typ(g.kind()) + "', @n"
	}
	return g.of("EXEC sys.sp_cdc_help_change_data_capture", "EXEC sys.sp_cdc_get_ddl_history N'dbo_t'", "EXEC sys.sp_cdc_get_captured_columns N'dbo_t'", "EXEC sys.sp_cdc_disable_table N'dbo', N't', N'all'", "ALTER TABLE dbo.t ADD z int NULL",
		"ALTER TABLE dbo.t DROP COLUMN v", "ALTER TABLE dbo.t ALTER COLUMN s nvarchar(40) NULL", "EXEC sys.sp_cdc_enable_table N'dbo', N't', @capture_instance = N't2', @role_name = NULL", "DECLARE @l binary(10) = sys.fn_cdc_get_max_lsn() EXEC sys.sp_cdc_cleanup_change_table N'dbo_t', @l, 10",
		"EXEC sys.sp_cdc_scan", "EXEC sys.sp_cdc_disable_db", "EXEC sp_columns N't'", "EXEC sp_describe_first_result_set N'"+strings.ReplaceAll(g.query(0), "'", "''")+"'", "TRUNCATE TABLE dbo.u", "EXEC sys.sp_cdc_stop_job", "SELECT * FROM sys.columns", "SELECT * FROM cdc.lsn_time_mapping")
}
