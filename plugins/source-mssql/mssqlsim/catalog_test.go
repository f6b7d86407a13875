package mssqlsim

import (
	"database/sql"
	"strings"
	"testing"
)

// Microsoft: sys.objects, sys.key_constraints, sys.check_constraints, sys.default_constraints, sys.computed_columns,
// sys.identity_columns, System information schema views, sys.configurations, DATABASEPROPERTYEX, catalog stored
// procedures, sp_help, sp_who, sp_describe_first_result_set (Transact-SQL).
func TestCatalog(t *testing.T) {
	t.Parallel()
	play(t, newEmpty(t), []step{
		{sql: "CREATE SCHEMA s"},
		{sql: "CREATE TABLE s.t (id int IDENTITY(5,2) NOT NULL CONSTRAINT pk_t PRIMARY KEY, n nvarchar(20) NOT NULL CONSTRAINT df_n DEFAULT N'x', d decimal(9,2) NULL CONSTRAINT ck_d CHECK (d > 0), e AS d * 2 PERSISTED, b varbinary(max) NULL, at datetime2(3) NULL, f float NULL, CONSTRAINT uq_n UNIQUE (n, d)); CREATE INDEX ix_d ON s.t (d DESC)"},
		{sql: "SELECT name, type, type_desc, OBJECT_NAME(parent_object_id) FROM sys.objects ORDER BY type, name", rows: []string{"ck_d|C |CHECK_CONSTRAINT|t", "df_n|D |DEFAULT_CONSTRAINT|t", "pk_t|PK|PRIMARY_KEY_CONSTRAINT|t", "t|U |USER_TABLE|NULL", "uq_n|UQ|UNIQUE_CONSTRAINT|t"}},
		{sql: "SELECT name, SCHEMA_NAME(schema_id), is_tracked_by_cdc, is_ms_shipped FROM sys.tables", rows: []string{"t|s|false|false"}},
		{sql: "SELECT name, unique_index_id FROM sys.key_constraints ORDER BY name", rows: []string{"pk_t|1", "uq_n|2"}},
		{sql: "SELECT name, definition, parent_column_id FROM sys.default_constraints UNION ALL SELECT name, definition, parent_column_id FROM sys.check_constraints", rows: []string{"df_n|(N'x')|2", "ck_d|([d]>(0))|3"}},
		{sql: "SELECT name, definition, is_persisted FROM sys.computed_columns", rows: []string{"e|([d]*(2))|true"}},
		{sql: "SELECT name, seed_value, increment_value, last_value FROM sys.identity_columns", rows: []string{"id|5|2|NULL"}},
		{sql: "SELECT COUNT(*) FROM sys.foreign_keys", rows: []string{"0"}},
		{sql: "SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE FROM INFORMATION_SCHEMA.TABLES", rows: []string{"s|t|BASE TABLE"}},
		{sql: "SELECT COLUMN_NAME, ORDINAL_POSITION, COLUMN_DEFAULT, IS_NULLABLE, DATA_TYPE, CHARACTER_MAXIMUM_LENGTH, CHARACTER_OCTET_LENGTH, NUMERIC_PRECISION, NUMERIC_PRECISION_RADIX, NUMERIC_SCALE, DATETIME_PRECISION, CHARACTER_SET_NAME, COLLATION_NAME FROM INFORMATION_SCHEMA.COLUMNS ORDER BY ORDINAL_POSITION",
			rows: []string{"id|1|NULL|NO|int|NULL|NULL|10|10|0|NULL|NULL|NULL", "n|2|(N'x')|NO|nvarchar|20|40|NULL|NULL|NULL|NULL|UNICODE|SQL_Latin1_General_CP1_CI_AS", "d|3|NULL|YES|decimal|NULL|NULL|9|10|2|NULL|NULL|NULL",
				"e|4|NULL|YES|decimal|NULL|NULL|11|10|2|NULL|NULL|NULL", "b|5|NULL|YES|varbinary|-1|-1|NULL|NULL|NULL|NULL|NULL|NULL", "at|6|NULL|YES|datetime2|NULL|NULL|NULL|NULL|NULL|3|NULL|NULL", "f|7|NULL|YES|float|NULL|NULL|53|2|NULL|NULL|NULL|NULL"}},
		{sql: "SELECT CONSTRAINT_NAME, TABLE_NAME, COLUMN_NAME, ORDINAL_POSITION FROM INFORMATION_SCHEMA.KEY_COLUMN_USAGE ORDER BY CONSTRAINT_NAME, ORDINAL_POSITION", rows: []string{"pk_t|t|id|1", "uq_n|t|n|1", "uq_n|t|d|2"}},
		{sql: "SELECT CONSTRAINT_NAME, CONSTRAINT_TYPE FROM INFORMATION_SCHEMA.TABLE_CONSTRAINTS ORDER BY 1", rows: []string{"ck_d|CHECK", "pk_t|PRIMARY KEY", "uq_n|UNIQUE"}},
		{sql: "SELECT CONSTRAINT_NAME, CHECK_CLAUSE FROM INFORMATION_SCHEMA.CHECK_CONSTRAINTS", rows: []string{"ck_d|([d]>(0))"}},
		{sql: "SELECT COLUMN_NAME, CONSTRAINT_NAME FROM INFORMATION_SCHEMA.CONSTRAINT_COLUMN_USAGE ORDER BY 2, 1", rows: []string{"d|ck_d", "id|pk_t", "d|uq_n", "n|uq_n"}},
		{sql: "SELECT SCHEMA_NAME, SCHEMA_OWNER FROM INFORMATION_SCHEMA.SCHEMATA WHERE SCHEMA_NAME IN ('s', 'dbo') ORDER BY 1", rows: []string{"dbo|dbo", "s|dbo"}},
		{sql: "EXEC sp_pkeys 't', 's'", rows: []string{"TestCatalog|s|t|id|1|pk_t"}},
		{sql: "EXEC sp_pkeys 't%'"},
		{sql: "EXEC sp_statistics @table_name = 't', @table_owner = 's'", rows: []string{"TestCatalog|s|t|NULL|NULL|NULL|0|NULL|NULL|NULL|0|1|NULL", "TestCatalog|s|t|0|t|pk_t|1|1|id|A|0|1|NULL",
			"TestCatalog|s|t|0|t|uq_n|3|1|n|A|0|1|NULL", "TestCatalog|s|t|0|t|uq_n|3|2|d|A|0|1|NULL", "TestCatalog|s|t|1|t|ix_d|3|1|d|D|NULL|1|NULL"}},
		{sql: "EXEC sp_statistics_100 't', 's', @is_unique = 'Y', @index_name = 'pk_t'", rows: []string{"TestCatalog|s|t|0|t|pk_t|1|1|id|A|0|1|NULL"}},
		{sql: "CREATE TABLE s.axb (a int); CREATE TABLE s.a_b (a int); EXEC sp_tables 'a_b', 's'", rows: []string{"TestCatalog|s|a_b|TABLE|NULL", "TestCatalog|s|axb|TABLE|NULL"}},
		{sql: "EXEC sp_tables 'a[_]b'", rows: []string{"TestCatalog|s|a_b|TABLE|NULL"}},
		{sql: "EXEC sp_tables '%x%'", rows: []string{"TestCatalog|s|axb|TABLE|NULL"}},
		{sql: "EXEC sp_tables 'a_b', @fUsePattern = 0", rows: []string{"TestCatalog|s|a_b|TABLE|NULL"}},
		{sql: "DECLARE @c TABLE (q sysname, o sysname, t sysname, c sysname, dt smallint, tn sysname, p int, l int, s smallint NULL, r smallint NULL, n smallint, rm varchar(254) NULL, def nvarchar(4000) NULL, sdt smallint, sds smallint NULL, co int NULL, op int, isn varchar(254), sdt2 tinyint); INSERT INTO @c EXEC sp_columns 't', 's', @column_name = 'n'; SELECT c, tn, def, isn FROM @c", rows: []string{"n|nvarchar|(N'x')|NO"}},
		{sql: "SELECT name, CAST(value_in_use AS int) FROM sys.configurations WHERE name IN ('max text repl size (B)', 'clr enabled') ORDER BY name", rows: []string{"clr enabled|0", "max text repl size (B)|65536"}},
		{sql: "SELECT DATABASEPROPERTYEX('TestCatalog', 'Recovery'), DATABASEPROPERTYEX(DB_NAME(), 'Updateability'), DATABASEPROPERTYEX('TestCatalog', 'Status'), DATABASEPROPERTYEX('nope', 'Status'), DATABASEPROPERTYEX('TestCatalog', 'nope')", rows: []string{"FULL|READ_WRITE|ONLINE|NULL|NULL"}},
		{sql: "SELECT rows FROM sys.partitions WHERE object_id = OBJECT_ID('s.t') ORDER BY index_id", rows: []string{"0", "0", "0"}},
		{sql: "EXEC sp_helpindex 's.t'", rows: []string{"pk_t|clustered, unique, primary key located on PRIMARY|id", "uq_n|nonclustered, unique, unique key located on PRIMARY|n, d", "ix_d|nonclustered located on PRIMARY|d(-)"}},
		{sql: "EXEC sp_help 's.nope'", err: 15009},
		{sql: "EXEC sp_describe_first_result_set", err: 201},
		{sql: "EXEC sp_describe_first_result_set N'SELECT nope FROM s.t'", err: 207},
		{sql: "EXEC sp_describe_first_result_set N'EXEC sp_who'", err: 50001},
	})
}

// All results of sp_help come, with their columns.
func TestHelpAndDescribe(t *testing.T) {
	t.Parallel()
	conn := newEmpty(t)
	_, err := conn.Exec("CREATE TABLE dbo.t (id int IDENTITY NOT NULL CONSTRAINT pk_t PRIMARY KEY, n nvarchar(20) NULL CONSTRAINT df_n DEFAULT N'x')")
	must(t, err)
	for _, tc := range []struct {
		name, sql string
		args      []any
		want      [][]string // the first columns of each row of each result
	}{
		{"sp_help", "EXEC sp_help 't'", nil, [][]string{{"t|dbo|user table"}, {"id|int|no|4|10   |0    |no|(n/a)", "n|nvarchar|no|40|     |     |yes|no"}, {"id|1|1|0"}, {"No rowguidcol column defined."}, {"PRIMARY"},
			{"pk_t|clustered, unique, primary key located on PRIMARY|id"}, {"DEFAULT on column n|df_n|(n/a)|(n/a)|(n/a)|(n/a)|(N'x')", "PRIMARY KEY (clustered)|pk_t|(n/a)|(n/a)|(n/a)|(n/a)|id"}}},
		{"sp_help NOT FOR REPLICATION", "CREATE TABLE dbo.nfr (id int IDENTITY (5, 2) NOT FOR REPLICATION); EXEC sp_help 'nfr'", nil,
			[][]string{{"nfr|dbo|user table"}, {"id|int"}, {"id|5|2|1"}, {"No rowguidcol column defined."}, {"PRIMARY"}}},
		{"describe", "EXEC sp_describe_first_result_set N'DECLARE @x int = 1; SELECT id, n AS m, @x + @p AS c FROM dbo.t', N'@p bigint'", nil, [][]string{{"false|1|id|false|56|int|4|10|0|NULL", "false|2|m|true|231|nvarchar(20)|40|0|0|SQL_Latin1_General_CP1_CI_AS", "false|3|c|true|127|bigint|8|19|0|NULL"}}},
		{"describe as a call", "sp_describe_first_result_set", []any{"SELECT 1 AS a"}, [][]string{{"false|1|a|false|56|int|4|10|0|NULL"}}},
		{"describe without rows", "EXEC sp_describe_first_result_set N'SET NOCOUNT ON'", nil, [][]string{nil}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rows, err := conn.Query(tc.sql, tc.args...)
			must(t, err)
			defer func() { _ = rows.Close() }()
			for i, want := range tc.want {
				if i > 0 && !rows.NextResultSet() {
					t.Fatalf("there are %d results, want %d", i, len(tc.want))
				}
				equal(t, cut(t, rows, want), want)
			}
			if rows.NextResultSet() {
				t.Error("there are more results")
			}
		})
	}
}

// Those with VIEW SERVER STATE see all sessions, others their own.
func TestWho(t *testing.T) {
	t.Parallel()
	admin := newEmpty(t)
	_, err := admin.Exec("CREATE LOGIN who1 WITH PASSWORD = 'Str0ng!pass'; CREATE USER who1")
	must(t, err)
	user := as(t, "who1", "Str0ng!pass")
	who := func(rows []string) (n int) { return len(rows) }
	if n := who(query(t, user, "EXEC sp_who")); n != 1 {
		t.Errorf("a login sees %d sessions", n)
	}
	if n := who(query(t, admin, "EXEC sp_who 'who1'")); n != 1 {
		t.Errorf("sa sees %d sessions of the login", n)
	}
	if n := who(query(t, admin, "EXEC sp_who")); n < 2 {
		t.Errorf("sa sees %d sessions", n)
	}
}

// cut gives the rows of the current result, of each as many columns as are wanted.
func cut(t *testing.T, rows *sql.Rows, want []string) (out []string) {
	t.Helper()
	cols, err := rows.Columns()
	must(t, err)
	for n := 0; rows.Next(); n++ {
		vals, ptrs := make([]any, len(cols)), make([]any, len(cols))
		for i := range vals {
			ptrs[i] = &vals[i]
		}
		must(t, rows.Scan(ptrs...))
		width := len(cols)
		if n < len(want) {
			width = min(width, strings.Count(want[n], "|")+1)
		}
		var line []string
		for _, v := range vals[:width] {
			line = append(line, show(v))
		}
		out = append(out, strings.Join(line, "|"))
	}
	must(t, rows.Err())
	return out
}

// Microsoft: sys.system_columns, sys.all_columns, sys.system_objects, sys.all_objects, sys.system_views (Transact-SQL).
func TestCatalogOfTheCatalog(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	exec(t, conn, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, name nvarchar(10))")
	equal(t, query(t, conn, "SELECT c.name, c.column_id, c.max_length, c.is_nullable FROM sys.system_columns c JOIN sys.system_objects o ON o.object_id = c.object_id WHERE o.name = 'schemas' AND o.schema_id = SCHEMA_ID('sys') ORDER BY c.column_id"),
		[]string{"name|1|256|false", "schema_id|2|4|false", "principal_id|3|4|true"})
	equal(t, query(t, conn, "SELECT COUNT(*) FROM sys.system_columns WHERE object_id >= 0 OR name IS NULL"), []string{"0"})
	// each view says of itself what it gives
	for _, name := range query(t, conn, "SELECT CASE schema_id WHEN 3 THEN 'INFORMATION_SCHEMA.' ELSE 'sys.' END + name FROM sys.system_views") {
		schema, object, _ := strings.Cut(name, ".")
		id := map[string]int{"sys": 4, "INFORMATION_SCHEMA": 3}[schema]
		told := query(t, conn, "SELECT c.name FROM sys.system_columns c JOIN sys.system_views v ON v.object_id = c.object_id WHERE v.schema_id = @p1 AND v.name = @p2 ORDER BY c.column_id", id, object)
		all := "*"
		if strings.HasPrefix(ask(conn, "SELECT TOP 0 * FROM "+name, false), "refused: ") { // not all of its columns are built
			all = "[" + strings.Join(told, "], [") + "]"
		}
		rows, err := conn.QueryContext(t.Context(), "SELECT "+all+" FROM "+name)
		must(t, err)
		columns, err := rows.Columns()
		must(t, err)
		must(t, rows.Close())
		equal(t, told, columns)
	}
	equal(t, query(t, conn, "SELECT COUNT(*) - (SELECT COUNT(*) FROM sys.columns) - (SELECT COUNT(*) FROM sys.system_columns) FROM sys.all_columns"), []string{"0"})
	equal(t, query(t, conn, "SELECT COUNT(*) - (SELECT COUNT(*) FROM sys.objects) - (SELECT COUNT(*) FROM sys.system_objects) FROM sys.all_objects"), []string{"0"})
}
