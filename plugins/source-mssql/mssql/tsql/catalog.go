package tsql

// Ping is one round trip.
func Ping() Query { return query("round trip", "SELECT 1 AS one") }

// CaptureLag answers lag_ms: how old the newest commit, or idle entry, is that
// capture has passed, by the server's clock. No row or NULL before the first
// (Microsoft: cdc.lsn_time_mapping, "tran_end_time", which is in the server's
// local time, as GETDATE is).
func CaptureLag() Query {
	return query("how far capture is", "SELECT TOP (1) DATEDIFF_BIG(millisecond, m.tran_end_time, GETDATE()) AS lag_ms"+
		" FROM cdc.lsn_time_mapping AS m ORDER BY m.start_lsn DESC")
}

// NetworkWait answers wait_ms: how long this session has waited for its
// client to take rows; no row means zero (Microsoft:
// sys.dm_exec_session_wait_stats, readable for one's own session).
func NetworkWait() Query {
	return query("network wait", "SELECT wait_time_ms AS wait_ms FROM sys.dm_exec_session_wait_stats"+
		" WHERE session_id = @@SPID AND wait_type = 'ASYNC_NETWORK_IO'")
}

// Database answers one row about the current database: name, broker_guid,
// group_database_id (NULL outside an availability group), is_cdc_enabled,
// snapshot_isolation_state (1 where it is allowed, else off or on its way), server, version, login_user. It is found by name: in Azure SQL Database DB_ID
// may be another number than sys.databases has (Microsoft: DB_ID (Transact-SQL)).
func Database() Query {
	return query("database", "SELECT d.name, CONVERT(varchar(36), d.service_broker_guid) AS broker_guid,"+
		" CONVERT(varchar(36), d.group_database_id) AS group_database_id, d.is_cdc_enabled, d.snapshot_isolation_state,"+
		" CONVERT(nvarchar(256), SERVERPROPERTY('ServerName')) AS server,"+
		" CONVERT(varchar(128), SERVERPROPERTY('ProductVersion')) AS version, USER_NAME() AS login_user, SYSUTCDATETIME() AS utc_now"+
		" FROM sys.databases AS d WHERE d.name = DB_NAME()")
}

// Updateability answers updateability: READ_ONLY for a readable secondary and every
// other database that is only read, else READ_WRITE (Microsoft: DATABASEPROPERTYEX).
func Updateability() Query {
	return query("updateability", "SELECT CONVERT(nvarchar(128), DATABASEPROPERTYEX(DB_NAME(), 'Updateability')) AS updateability")
}

// TableState answers one row about a table that no capture instance was found
// for: table_id (NULL when it does not exist or cannot be seen), is_tracked
// (by CDC), can_select, login_user.
func TableState(t Table) (Query, error) {
	name, err := t.Quoted()
	if err != nil {
		return Query{}, err
	}
	return query("state of a table", "SELECT OBJECT_ID(@object) AS table_id,"+
		" (SELECT t.is_tracked_by_cdc FROM sys.tables AS t WHERE t.object_id = OBJECT_ID(@object)) AS is_tracked,"+
		" HAS_PERMS_BY_NAME(@object, 'OBJECT', 'SELECT') AS can_select, USER_NAME() AS login_user", Arg{"object", name}), nil
}

// ChangeTableState answers allowed (to SELECT: 0, 1 or NULL), login_user and
// command_id (the number of the column __$command_id, NULL where the change
// table lacks it or cannot be seen).
func ChangeTableState(instance string) (Query, error) {
	table, err := ChangeTable(instance)
	if err != nil {
		return Query{}, err
	}
	return query("state of a change table", "SELECT HAS_PERMS_BY_NAME(@object, 'OBJECT', 'SELECT') AS allowed, USER_NAME() AS login_user,"+
		" (SELECT c.column_id FROM sys.columns AS c WHERE c.object_id = OBJECT_ID(@object) AND c.name = N'__$command_id') AS command_id", Arg{"object", table}), nil
}

// CaptureInstances lists the capture instances whose captured columns the
// login may read (Microsoft: sys.sp_cdc_help_change_data_capture).
func CaptureInstances() Query {
	return query("capture instances", "EXEC sys.sp_cdc_help_change_data_capture")
}

// CaptureInstancesOf lists those of one table; an unknown table is an error.
func CaptureInstancesOf(t Table) Query {
	return query("capture instances of a table", "EXEC sys.sp_cdc_help_change_data_capture @source_schema = @schema, @source_name = @table",
		Arg{"schema", t.Schema}, Arg{"table", t.Name})
}

// CapturedColumns lists the captured columns of an instance (Microsoft:
// sys.sp_cdc_get_captured_columns).
func CapturedColumns(instance string) Query {
	return query("captured columns", "EXEC sys.sp_cdc_get_captured_columns @capture_instance = @instance", Arg{"instance", instance})
}

// DDLHistory lists the DDL that capture has seen on an instance's table
// (Microsoft: sys.sp_cdc_get_ddl_history).
func DDLHistory(instance string) Query {
	return query("DDL history", "EXEC sys.sp_cdc_get_ddl_history @capture_instance = @instance", Arg{"instance", instance})
}

// TableColumns answers name, column_id, is_computed, collation_name of the
// columns of a table that the login can see.
func TableColumns(t Table) Query {
	return query("columns of a table", "SELECT c.name, c.column_id, c.is_computed, c.collation_name FROM sys.columns AS c"+
		" WHERE c.object_id = OBJECT_ID(QUOTENAME(@schema) + '.' + QUOTENAME(@table)) ORDER BY c.column_id",
		Arg{"schema", t.Schema}, Arg{"table", t.Name})
}

// RowEstimate answers rows (text, padded) from metadata (Microsoft:
// sp_spaceused).
func RowEstimate(t Table) (Query, error) {
	name, err := t.Quoted()
	if err != nil {
		return Query{}, err
	}
	return query("row estimate", "EXEC sys.sp_spaceused @objname = @object", Arg{"object", name}), nil
}
