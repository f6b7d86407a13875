package mssqlsim

import (
	"strings"
	"testing"
)

// Microsoft: sys.databases, sys.tables, sys.columns, sys.types, sys.sql_modules, sys.parameters, ROUTINES, PARAMETERS,
// sys.database_files, sys.master_files, sys.filegroups, sys.identity_columns (Transact-SQL).
func TestSystemViewsTellWhatIsThere(t *testing.T) {
	t.Parallel()
	made := "-- adds\nCREATE PROCEDURE dbo.[add it] @n int, @name nvarchar(20) = N'x', @id bigint OUTPUT AS\nSET @id = @n"
	play(t, newEmpty(t), []step{
		{sql: "CREATE TABLE dbo.t (id smallint IDENTITY(5,2) NOT NULL PRIMARY KEY, n nvarchar(max) NULL, b char(3) NOT NULL)"},
		{sql: made},
		{sql: "SELECT page_verify_option_desc, is_broker_enabled, containment_desc, delayed_durability_desc, log_reuse_wait_desc, physical_database_name, owner_sid, is_query_store_on, is_ledger_on FROM sys.databases WHERE name = DB_NAME()",
			rows: []string{"CHECKSUM|true|NONE|DISABLED|NOTHING|TestSystemViewsTellWhatIsThere|0x01|true|false"}},
		{sql: "SELECT name FROM sys.databases WHERE database_id IN (1, 4)", rows: []string{"master", "msdb"}},
		{sql: "SELECT lob_data_space_id, max_column_id_used, uses_ansi_nulls, ledger_type_desc FROM sys.tables", rows: []string{"1|3|true|NON_LEDGER_TABLE"}},
		{sql: "SELECT name, is_ansi_padded, generated_always_type_desc, graph_type FROM sys.columns ORDER BY column_id", rows: []string{"id|false|NOT_APPLICABLE|NULL", "n|true|NOT_APPLICABLE|NULL", "b|true|NOT_APPLICABLE|NULL"}},
		{sql: "SELECT name, max_length, precision, scale, is_nullable, is_assembly_type FROM sys.types WHERE name IN ('datetime2', 'decimal', 'hierarchyid', 'nvarchar', 'sysname') ORDER BY name",
			rows: []string{"datetime2|8|27|7|true|false", "decimal|17|38|38|true|false", "hierarchyid|892|0|0|true|true", "nvarchar|8000|0|0|true|false", "sysname|256|0|0|false|false"}},
		{sql: "SELECT seed_value, increment_value, last_value, SQL_VARIANT_PROPERTY(seed_value, 'BaseType'), is_identity FROM sys.identity_columns", rows: []string{"5|2|NULL|smallint|true"}},
		{sql: "SELECT definition, uses_ansi_nulls, is_recompiled, execute_as_principal_id FROM sys.sql_modules WHERE object_id = OBJECT_ID(N'dbo.[add it]')", rows: []string{made + "|true|false|NULL"}},
		{sql: "SELECT name, parameter_id, TYPE_NAME(user_type_id), max_length, is_output, has_default_value FROM sys.parameters ORDER BY parameter_id",
			rows: []string{"@n|1|int|4|false|false", "@name|2|nvarchar|40|false|false", "@id|3|bigint|8|true|false"}},
		{sql: "SELECT ROUTINE_NAME, ROUTINE_BODY, ROUTINE_DEFINITION, MAX_DYNAMIC_RESULT_SETS FROM INFORMATION_SCHEMA.ROUTINES", rows: []string{"add it|SQL|" + made + "|-1"}},
		{sql: "SELECT PARAMETER_NAME, PARAMETER_MODE, DATA_TYPE, CHARACTER_MAXIMUM_LENGTH, NUMERIC_PRECISION FROM INFORMATION_SCHEMA.PARAMETERS ORDER BY ORDINAL_POSITION",
			rows: []string{"@n|IN|int|NULL|10", "@name|IN|nvarchar|20|NULL", "@id|INOUT|bigint|NULL|19"}},
		{sql: "SELECT f.name, f.type_desc, f.size, f.max_size, f.growth, g.name FROM sys.database_files f LEFT JOIN sys.filegroups g ON g.data_space_id = f.data_space_id ORDER BY file_id",
			rows: []string{"TestSystemViewsTellWhatIsThere|ROWS|1024|-1|8192|PRIMARY", "TestSystemViewsTellWhatIsThere_log|LOG|1024|268435456|8192|NULL"}},
		{sql: "SELECT d.name, f.name, f.physical_name FROM sys.master_files f JOIN sys.databases d ON d.database_id = f.database_id WHERE f.database_id IN (2, 3) ORDER BY d.database_id, f.file_id",
			rows: []string{"tempdb|tempdev|/var/opt/mssql/data/tempdb.mdf", "tempdb|templog|/var/opt/mssql/data/templog.ldf", "model|modeldev|/var/opt/mssql/data/model.mdf", "model|modellog|/var/opt/mssql/data/modellog.ldf"}},
		{sql: "SELECT COUNT(*) FROM sys.master_files WHERE database_id IN (1, 4)", rows: []string{"4"}},
		{sql: "SELECT COUNT(*) FROM sys.triggers, sys.extended_properties, sys.synonyms, sys.sequences, sys.periods, sys.table_types, sys.masked_columns, sys.foreign_key_columns, INFORMATION_SCHEMA.VIEWS, INFORMATION_SCHEMA.DOMAINS", rows: []string{"0"}},
	})
}

// Microsoft: sys.sysobjects, sys.syscolumns, sys.sysindexes, sys.sysdatabases (Transact-SQL).
func TestCompatibilityViews(t *testing.T) {
	t.Parallel()
	play(t, newEmpty(t), []step{
		{sql: "CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT pk_t PRIMARY KEY, n nvarchar(20) NULL, m varchar(max) NULL, d decimal(9,2) NULL); INSERT INTO dbo.t (id) VALUES (1), (2)"},
		{sql: "CREATE PROCEDURE dbo.p @x int OUTPUT AS SET @x = 1"},
		{sql: "SELECT name, xtype, type, uid, OBJECT_NAME(parent_obj) FROM sysobjects ORDER BY name", rows: []string{"p|P |P |1|NULL", "pk_t|PK|K |1|t", "t|U |U |1|NULL"}},
		{sql: "SELECT name, xtype, length, prec, scale, isnullable, colid FROM dbo.syscolumns WHERE id = OBJECT_ID('t') ORDER BY colid", rows: []string{"id|56|4|10|0|0|1", "n|231|40|20|NULL|1|2", "m|167|-1|-1|NULL|1|3", "d|106|5|9|2|1|4"}},
		{sql: "SELECT name, isoutparam FROM sys.syscolumns WHERE id = OBJECT_ID('p')", rows: []string{"@x|1"}},
		{sql: "SELECT name, indid, rows FROM sysindexes WHERE id = OBJECT_ID('t')", rows: []string{"pk_t|1|2"}},
		{sql: "SELECT name, dbid, cmptlevel FROM master..sysdatabases WHERE dbid < 5", rows: []string{"master|1|160", "tempdb|2|160", "model|3|160", "msdb|4|160"}},
		{sql: "SELECT name FROM sysdatabases", err: 50001},
		{sql: "SELECT * FROM sysobjects", err: 50001},
		{sql: "SELECT name FROM sysusers", err: 50001},
		{sql: "SELECT name FROM objects", err: 208},
	})
}

// A column that SQL Server has and the simulator has not is refused by its name, one that SQL Server has not is error 207;
// one of a later release is not there yet.
func TestDocumentedColumnsAreBuiltOrRefused(t *testing.T) {
	t.Parallel()
	old, err := Start(t.Context(), Options{Version: V2016})
	must(t, err)
	defer old.Close()
	conn := open(t, old.DSN("master"))
	for _, tc := range []struct{ sql, want string }{
		{"SELECT password_hash FROM sys.sql_logins", "refused: mssqlsim does not understand the column password_hash of sql_logins, which SQL Server has and the simulator has not"},
		{"SELECT r.row_count FROM sys.dm_exec_requests AS r", "refused: mssqlsim does not understand the column row_count of r, which SQL Server has and the simulator has not"},
		{"SELECT * FROM sys.sql_logins", "refused: mssqlsim does not understand the column password_hash of sql_logins, which SQL Server has and the simulator has not"},
		{"SELECT 1 WHERE EXISTS (SELECT * FROM sys.sql_logins)", "1"},
		{"SELECT no_such FROM sys.sql_logins", "error 207"},
		{"SELECT is_ledger_on FROM sys.databases", "error 207"},
		{"SELECT TOP 0 physical_database_name FROM sys.databases", "error 207"},
		{"SELECT TOP 0 is_remote_data_archive_enabled FROM sys.databases", ""},
	} {
		if got := ask(conn, tc.sql, false); got != tc.want {
			t.Errorf("%s\n got %s\nwant %s", tc.sql, got, tc.want)
		}
	}
}

// Microsoft: sys.dm_exec_sessions, sys.dm_exec_requests, sys.dm_exec_connections, sys.dm_tran_active_transactions,
// sys.dm_tran_database_transactions, sys.dm_tran_session_transactions (Transact-SQL).
func TestSessionsSeeOneAnother(t *testing.T) {
	t.Parallel()
	srv, err := Start(t.Context(), Options{})
	must(t, err)
	defer srv.Close()
	dsn := srv.DSN("master")
	separator := "?"
	if strings.Contains(dsn, "?") {
		separator = "&"
	}
	looked := open(t, dsn+separator+"app+name=looked-at&workstation+id=desk")
	looked.SetMaxOpenConns(1)
	other, err := looked.Conn(t.Context())
	must(t, err)
	defer func() { _ = other.Close() }()
	for _, stmt := range []string{"SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "SET LOCK_TIMEOUT 250", "SELECT 1/0", "BEGIN TRANSACTION", "SELECT 1 UNION ALL SELECT 2"} {
		rows, err := other.QueryContext(t.Context(), stmt)
		if err == nil {
			for rows.Next() {
			}
			must(t, rows.Close())
		}
	}
	var id int
	must(t, other.QueryRowContext(t.Context(), "SELECT @@SPID").Scan(&id))
	conn := open(t, dsn)
	for _, tc := range []struct{ sql, want string }{
		{"SELECT host_name, program_name, status, is_user_process, transaction_isolation_level, lock_timeout, prev_error, row_count, open_transaction_count, original_login_name FROM sys.dm_exec_sessions WHERE session_id = ",
			"desk|looked-at|sleeping|true|4|250|8134|3|1|sa"},
		{"SELECT c.most_recent_session_id - c.session_id, c.net_packet_size, c.encrypt_option FROM sys.dm_exec_connections c WHERE session_id = ", "0|4096|FALSE"},
		{"SELECT s.is_user_transaction, a.name, a.transaction_type, a.transaction_state, d.database_id, d.database_transaction_state, d.database_transaction_begin_time FROM sys.dm_tran_session_transactions s JOIN sys.dm_tran_active_transactions a ON a.transaction_id = s.transaction_id JOIN sys.dm_tran_database_transactions d ON d.transaction_id = s.transaction_id WHERE s.session_id = ",
			"true|user_transaction|1|2|1|3|NULL"},
		{"SELECT COUNT(*) FROM sys.dm_exec_requests WHERE session_id = ", "0"},
	} {
		stmt := tc.sql + show(int64(id))
		if got := ask(conn, stmt, false); got != tc.want {
			t.Errorf("%s\n got %s\nwant %s", stmt, got, tc.want)
		}
	}
	for _, stmt := range []string{"SELECT t.text FROM sys.dm_exec_connections c CROSS APPLY sys.dm_exec_sql_text(c.most_recent_sql_handle) t WHERE c.session_id = ", "SELECT b.event_info FROM sys.dm_exec_sessions s CROSS APPLY sys.dm_exec_input_buffer(s.session_id, 0) b WHERE s.session_id = "} {
		if got := ask(conn, stmt+show(int64(id)), false); got != "SELECT @@SPID" {
			t.Errorf("%s: %s", stmt, got)
		}
	}
	if got := ask(conn, "SELECT command, status, wait_type, database_id FROM sys.dm_exec_requests WHERE session_id = @@SPID", false); got != "SELECT|running|NULL|1" {
		t.Error(got)
	}
}
