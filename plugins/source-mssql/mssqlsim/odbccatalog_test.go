package mssqlsim

import (
	"strings"
	"testing"
)

// What drivers ask of the catalog by procedures. (Microsoft: sp_fkeys, sp_special_columns, sp_stored_procedures,
// sp_sproc_columns, sp_datatype_info, sp_table_privileges, sp_column_privileges, sp_server_info (Transact-SQL))
func TestCatalogProceduresOfDrivers(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	exec(t, conn, "CREATE TABLE dbo.p (a int NOT NULL, b int NOT NULL, v rowversion, CONSTRAINT pk_p PRIMARY KEY (a, b))")
	exec(t, conn, "CREATE TABLE dbo.c (id bigint IDENTITY NOT NULL, x int NULL, y int NULL, CONSTRAINT uq_c UNIQUE (id), CONSTRAINT fk_c FOREIGN KEY (x, y) REFERENCES dbo.p (a, b) ON DELETE CASCADE ON UPDATE SET NULL)")
	exec(t, conn, "CREATE PROCEDURE dbo.add_one @n int, @name nvarchar(20) = N'x', @at datetime2(3) OUTPUT AS SET @at = '2020-01-01'")
	exec(t, conn, "CREATE ROLE readers")
	exec(t, conn, "GRANT SELECT ON dbo.p TO readers WITH GRANT OPTION; GRANT UPDATE (b) ON dbo.p TO readers")
	name := db.Name()
	answers(t, conn, []documented{
		{"sp_fkeys", "EXEC sp_fkeys @pktable_name = 'p'", name + "|dbo|p|a|" + name + "|dbo|c|x|1|2|0|fk_c|pk_p;" + name + "|dbo|p|b|" + name + "|dbo|c|y|2|2|0|fk_c|pk_p"},
		{"sp_fkeys of a table that has none", "EXEC sp_fkeys @fktable_name = 'p'", ""},
		{"sp_fkeys without a table", "EXEC sp_fkeys", "error 15252"},
		{"the key of a row", "EXEC sp_special_columns 'p'", "0|a|4|int|10|4|0|1;0|b|4|int|10|4|0|1"},
		{"a unique index", "EXEC sp_special_columns_100 @table_name = 'c', @ODBCVer = 3", "0|id|-5|bigint identity|19|8|0|1"},
		{"the version of a row", "EXEC sp_special_columns_100 'p', @col_type = 'V'", "0|v|-2|timestamp|8|8|NULL|1"},
		{"sp_stored_procedures", "EXEC sp_stored_procedures 'add%'", name + "|dbo|add_one;1|-1|-1|-1|NULL|2"},
		{"without a pattern", "EXEC sp_stored_procedures 'add%', @fUsePattern = 0", ""},
		{"sp_sproc_columns", "EXEC sp_sproc_columns 'add[_]one'", name + "|dbo|add_one;1|@RETURN_VALUE|5|4|int|10|4|0|10|0|NULL|NULL|4|NULL|NULL|0|NO|56;" +
			name + "|dbo|add_one;1|@n|1|4|int|10|4|0|10|1|NULL|NULL|4|NULL|NULL|1|YES|38;" + name + "|dbo|add_one;1|@name|1|-9|nvarchar|20|40|NULL|NULL|1|NULL|NULL|-9|NULL|40|2|YES|38;" +
			name + "|dbo|add_one;1|@at|2|-9|datetime2|23|46|3|NULL|1|NULL|NULL|-9|NULL|NULL|3|YES|38"},
		{"sp_datatype_info of a type", "EXEC sp_datatype_info 4", "int|4|10|NULL|NULL|NULL|1|0|2|0|0|0|int|0|0|4|NULL|10|NULL|7;int identity|4|10|NULL|NULL|NULL|0|0|2|0|0|1|int identity|0|0|4|NULL|10|NULL|7"},
		{"types of ODBC 3", "EXEC sp_datatype_info_100 93, @ODBCVer = 3", "datetime2|93|27|'|'|scale|1|0|3|NULL|0|NULL|datetime2|0|7|9|3|NULL|NULL|0;datetime|93|23|'|'|NULL|1|0|3|NULL|0|NULL|datetime|3|3|9|3|NULL|NULL|12;" +
			"smalldatetime|93|16|'|'|NULL|1|0|3|NULL|0|NULL|smalldatetime|0|0|9|3|NULL|NULL|22"},
		{"sp_table_privileges", "EXEC sp_table_privileges 'p'", strings.Join([]string{name + "|dbo|p|dbo|dbo|DELETE|YES", name + "|dbo|p|dbo|dbo|INSERT|YES", name + "|dbo|p|dbo|dbo|REFERENCES|YES",
			name + "|dbo|p|dbo|dbo|SELECT|YES", name + "|dbo|p|dbo|readers|SELECT|YES", name + "|dbo|p|dbo|dbo|UPDATE|YES"}, ";")},
		{"sp_column_privileges", "EXEC sp_column_privileges 'p', @column_name = 'b'", strings.Join([]string{name + "|dbo|p|b|dbo|dbo|INSERT|YES", name + "|dbo|p|b|dbo|dbo|REFERENCES|YES", name + "|dbo|p|b|dbo|dbo|SELECT|YES",
			name + "|dbo|p|b|dbo|readers|SELECT|YES", name + "|dbo|p|b|dbo|dbo|UPDATE|YES", name + "|dbo|p|b|dbo|readers|UPDATE|NO"}, ";")},
		{"sp_server_info", "EXEC sp_server_info 2", "2|DBMS_VER|Microsoft SQL Server 2022 - 16.0.4195.2"},
		{"sp_tables_ex", "EXEC sp_tables_ex 'elsewhere'", "refused: mssqlsim does not understand the procedure sp_tables_ex, which SQL Server has and the simulator has not"},
	})
	if n := len(query(t, conn, "EXEC sp_datatype_info_100 @ODBCVer = 3")); n != 37 {
		t.Errorf("sp_datatype_info_100 has %d types", n)
	}
}
