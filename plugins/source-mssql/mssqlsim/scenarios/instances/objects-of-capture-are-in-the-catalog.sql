-- source: "Microsoft: Known issues and errors with CDC, Modifying metadata: SELECT ... FROM sys.objects WHERE is_ms_shipped = 1 AND SCHEMA_NAME(schema_id) = 'cdc'"
-- source: "Microsoft: About change data capture (SQL Server), Understanding change data capture and the capture instance: a change table and up to two query functions; the metadata tables"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL, @supports_net_changes = 1;
EXEC sys.sp_cdc_enable_table N'dbo', N't', @capture_instance = N'all_only', @role_name = NULL, @supports_net_changes = 0
GO
SELECT name, type_desc FROM sys.objects WHERE is_ms_shipped = 1 AND SCHEMA_NAME(schema_id) = 'cdc'
    AND (type = 'IF' OR name IN (N'change_tables', N'captured_columns', N'ddl_history', N'index_columns', N'lsn_time_mapping') OR name LIKE N'%!_CT' ESCAPE '!')
-- unordered
--   all_only_CT | USER_TABLE
--   captured_columns | USER_TABLE
--   change_tables | USER_TABLE
--   dbo_t_CT | USER_TABLE
--   ddl_history | USER_TABLE
--   fn_cdc_get_all_changes_all_only | SQL_INLINE_TABLE_VALUED_FUNCTION
--   fn_cdc_get_all_changes_dbo_t | SQL_INLINE_TABLE_VALUED_FUNCTION
--   fn_cdc_get_net_changes_dbo_t | SQL_INLINE_TABLE_VALUED_FUNCTION
--   index_columns | USER_TABLE
--   lsn_time_mapping | USER_TABLE
GO
SELECT OBJECT_NAME(OBJECT_ID(N'cdc.fn_cdc_get_net_changes_dbo_t')), OBJECT_ID(N'cdc.fn_cdc_get_net_changes_all_only'), OBJECT_SCHEMA_NAME(OBJECT_ID(N'cdc.change_tables')),
    OBJECT_NAME(OBJECT_ID(N'dbo.PK_t', N'PK')), OBJECT_ID(N'dbo.PK_t', N'U')
-- expect
--   fn_cdc_get_net_changes_dbo_t | NULL | cdc | PK_t | NULL
GO
