package mssqlsim

import "testing"

// Microsoft: TYPE_NAME, TYPE_ID, COL_LENGTH, COL_NAME, COLUMNPROPERTY, INDEXPROPERTY, INDEX_COL, INDEXKEY_PROPERTY,
// OBJECTPROPERTY, OBJECTPROPERTYEX, OBJECT_DEFINITION, FILE_NAME, FILE_ID, FILEGROUP_NAME, ORIGINAL_DB_NAME, SESSIONPROPERTY,
// CONNECTIONPROPERTY, SESSION_CONTEXT, sp_set_session_context (Transact-SQL).
func TestMetadataFunctions(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	exec(t, conn, "CREATE TABLE dbo.t (a int NOT NULL CONSTRAINT df_a DEFAULT 7, b nvarchar(40) NULL, c varchar(max) NULL, d AS a * 2, e decimal(9,2) NULL CONSTRAINT ck_e CHECK (e > 0), CONSTRAINT pk_t PRIMARY KEY (a), CONSTRAINT uq_t UNIQUE (b, e)); CREATE INDEX ix_t ON dbo.t (e DESC)")
	exec(t, conn, "CREATE PROCEDURE dbo.p @x int, @y varchar(10) OUTPUT AS SET @y = 'y'")
	answers(t, conn, []documented{
		{"TYPE_NAME", "SELECT TYPE_NAME(56), TYPE_NAME(256), TYPE_NAME(128), TYPE_NAME(9999)", "int|sysname|hierarchyid|NULL"},
		{"TYPE_ID", "SELECT TYPE_ID('datetime'), TYPE_ID(N'sys.nvarchar'), TYPE_ID('nope')", "61|231|NULL"},
		{"COL_LENGTH", "SELECT COL_LENGTH('t', 'b'), COL_LENGTH('dbo.t', 'c'), COL_LENGTH('t', 'nope'), COL_LENGTH('nope', 'a')", "~smallint 80|smallint -1|smallint NULL|smallint NULL"},
		{"COL_LENGTH of a system view", "SELECT COL_LENGTH('sys.tables', 'name'), COL_LENGTH('SYS.Columns', 'object_id'), COL_LENGTH('INFORMATION_SCHEMA.TABLES', 'TABLE_NAME'), COL_LENGTH('sys.tables', 'nope'), COL_LENGTH('master.sys.tables', 'name'), COL_LENGTH('sys.nope', 'name')", "256|4|256|NULL|256|NULL"},
		{"COL_LENGTH of a system object that is not built", "SELECT COL_LENGTH('sys.fulltext_catalogs', 'name')", "refused: mssqlsim does not understand COL_LENGTH of the system object sys.fulltext_catalogs"},
		{"COL_LENGTH in a database", "SELECT COL_LENGTH('" + db.Name() + ".dbo.t', 'b'), COL_LENGTH('" + db.Name() + "..t', 'b'), COL_LENGTH('master.dbo.t', 'b'), COL_LENGTH('nope.dbo.t', 'b')", "80|80|NULL|NULL"},
		{"COL_LENGTH of a temporary table, which is one of tempdb", "CREATE TABLE #q (v nvarchar(7)); SELECT COL_LENGTH('tempdb..#q', 'v'), COL_LENGTH('tempdb..#q', 'nope'), COL_LENGTH('#q', 'v')", "14|NULL|NULL"},
		{"COL_NAME", "SELECT COL_NAME(OBJECT_ID('t'), 2), COL_NAME(OBJECT_ID('t'), 99), COL_NAME(1, 1)", "b|NULL|NULL"},
		{"COL_NAME of rows", "SELECT COL_NAME(object_id, column_id) FROM sys.columns WHERE object_id = OBJECT_ID('t') ORDER BY column_id", "a;b;c;d;e"},
		{"COLUMNPROPERTY", "SELECT COLUMNPROPERTY(OBJECT_ID('t'), 'a', 'AllowsNull'), COLUMNPROPERTY(OBJECT_ID('t'), 'b', 'PRECISION'), COLUMNPROPERTY(OBJECT_ID('t'), 'e', 'Scale'), COLUMNPROPERTY(OBJECT_ID('t'), 'd', 'IsComputed'), COLUMNPROPERTY(OBJECT_ID('t'), 'c', 'Precision'), COLUMNPROPERTY(OBJECT_ID('t'), 'e', 'ColumnId'), COLUMNPROPERTY(OBJECT_ID('t'), 'nope', 'ColumnId'), COLUMNPROPERTY(OBJECT_ID('t'), 'a', 'nope')",
			"0|40|2|1|-1|5|NULL|NULL"},
		{"COLUMNPROPERTY of a parameter", "SELECT COLUMNPROPERTY(OBJECT_ID('p'), '@y', 'IsOutParam'), COLUMNPROPERTY(OBJECT_ID('p'), '@x', 'IsOutParam'), COLUMNPROPERTY(OBJECT_ID('p'), '@y', 'Precision')", "1|0|10"},
		{"COLUMNPROPERTY not built", "SELECT COLUMNPROPERTY(OBJECT_ID('t'), 'd', 'IsDeterministic')", "refused: mssqlsim does not understand the property IsDeterministic of COLUMNPROPERTY"},
		{"INDEXPROPERTY", "SELECT INDEXPROPERTY(OBJECT_ID('t'), 'pk_t', 'IsClustered'), INDEXPROPERTY(OBJECT_ID('t'), 'ix_t', 'IsUnique'), INDEXPROPERTY(OBJECT_ID('t'), 'uq_t', 'IndexID'), INDEXPROPERTY(OBJECT_ID('t'), 'nope', 'IndexID')", "1|0|2|NULL"},
		{"INDEX_COL", "SELECT INDEX_COL('dbo.t', 2, 1), INDEX_COL('t', 2, 2), INDEX_COL('t', 2, 3), INDEX_COL('nope', 1, 1)", "b|e|NULL|NULL"},
		{"INDEXKEY_PROPERTY", "SELECT INDEXKEY_PROPERTY(OBJECT_ID('t'), 3, 1, 'IsDescending'), INDEXKEY_PROPERTY(OBJECT_ID('t'), 3, 1, 'ColumnId'), INDEXKEY_PROPERTY(OBJECT_ID('t'), 9, 1, 'ColumnId')", "1|5|NULL"},
		{"OBJECTPROPERTY of a table", "SELECT OBJECTPROPERTY(OBJECT_ID('t'), 'IsUserTable'), OBJECTPROPERTY(OBJECT_ID('t'), 'TableHasPrimaryKey'), OBJECTPROPERTY(OBJECT_ID('t'), 'TableHasIdentity'), OBJECTPROPERTY(OBJECT_ID('t'), 'IsMSShipped'), OBJECTPROPERTY(OBJECT_ID('t'), 'TableHasUniqueCnst'), OBJECTPROPERTY(OBJECT_ID('t'), 'TableHasForeignKey'), OBJECTPROPERTY(OBJECT_ID('t'), 'SchemaId'), OBJECTPROPERTY(OBJECT_ID('t'), 'nope'), OBJECTPROPERTY(1, 'IsTable')",
			"~int 1|int 1|int 0|int 0|int 1|int 0|int 1|int NULL|int NULL"},
		{"OBJECTPROPERTY of others", "SELECT OBJECTPROPERTY(OBJECT_ID('pk_t'), 'CnstIsClustKey'), OBJECTPROPERTY(OBJECT_ID('ck_e'), 'IsCheckCnst'), OBJECTPROPERTY(OBJECT_ID('df_a'), 'IsDefaultCnst'), OBJECTPROPERTY(OBJECT_ID('p'), 'IsProcedure'), OBJECTPROPERTY(OBJECT_ID('p'), 'ExecIsAnsiNullsOn'), OBJECTPROPERTY(OBJECT_ID('p'), 'IsTable')", "1|1|1|1|1|0"},
		{"OBJECTPROPERTYEX", "SELECT SQL_VARIANT_PROPERTY(OBJECTPROPERTYEX(OBJECT_ID('t'), 'BaseType'), 'BaseType'), CAST(OBJECTPROPERTYEX(OBJECT_ID('t'), 'BaseType') AS char(2)), CAST(OBJECTPROPERTYEX(OBJECT_ID('t'), 'Cardinality') AS int), CAST(OBJECTPROPERTYEX(OBJECT_ID('t'), 'IsTable') AS int)", "char|U |0|1"},
		{"OBJECT_DEFINITION", "SELECT OBJECT_DEFINITION(OBJECT_ID('p')), OBJECT_DEFINITION(OBJECT_ID('df_a')), OBJECT_DEFINITION(OBJECT_ID('ck_e')), OBJECT_DEFINITION(OBJECT_ID('t'))",
			"CREATE PROCEDURE dbo.p @x int, @y varchar(10) OUTPUT AS SET @y = 'y'|((7))|([e]>(0))|NULL"},
		{"files", "SELECT FILE_NAME(1), FILE_NAME(2), FILE_ID('" + db.Name() + "_log'), FILE_IDEX('nope'), FILEGROUP_NAME(1), FILEGROUP_ID('PRIMARY'), FILE_NAME(3)", db.Name() + "|" + db.Name() + "_log|2|NULL|PRIMARY|1|NULL"},
		{"ORIGINAL_DB_NAME", "SELECT ORIGINAL_DB_NAME()", db.Name()},
		{"SESSIONPROPERTY", "SELECT CAST(SESSIONPROPERTY('ANSI_NULLS') AS int), CAST(SESSIONPROPERTY('numeric_roundabort') AS int), SESSIONPROPERTY('nope')", "1|0|NULL"},
		{"CONNECTIONPROPERTY", "SELECT CAST(CONNECTIONPROPERTY('net_transport') AS nvarchar(40)), CAST(CONNECTIONPROPERTY('protocol_type') AS nvarchar(40)), CAST(CONNECTIONPROPERTY('client_net_address') AS varchar(48)), CONNECTIONPROPERTY('nope')", "TCP|TSQL|127.0.0.1|NULL"},
		{"SESSION_CONTEXT", "EXEC sp_set_session_context 'user_id', 4; SELECT CAST(SESSION_CONTEXT(N'user_id') AS int), SQL_VARIANT_PROPERTY(SESSION_CONTEXT(N'USER_ID'), 'BaseType'), SESSION_CONTEXT(N'nope')", "4|int|NULL"},
		{"read only", "EXEC sp_set_session_context 'fixed', 4, @read_only = 1; EXEC sp_set_session_context 'fixed', 5", "error 15664"},
		{"too few arguments", "SELECT OBJECTPROPERTY(1)", "error 174"},
	})
}
