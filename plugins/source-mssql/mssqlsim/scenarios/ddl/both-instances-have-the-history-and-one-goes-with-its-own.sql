-- source: "Microsoft: cdc.ddl_history (Transact-SQL), object_id: ID of the change table associated with a capture instance"
-- seen: on SQL Server 2022, disabling an instance deletes its history
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
ALTER TABLE dbo.t ADD a int NULL
GO
EXEC sys.sp_cdc_enable_table N'dbo', N't', N'second', @role_name = NULL
GO
ALTER TABLE dbo.t ADD b int NULL
GO
-- capture
EXEC sys.sp_cdc_get_ddl_history N'dbo_t'
-- unordered ddl_command | ddl_lsn
--   ALTER TABLE dbo.t ADD a int NULL | $lsn1
--   ALTER TABLE dbo.t ADD b int NULL | $lsn2
GO
EXEC sys.sp_cdc_get_ddl_history N'second'
-- unordered ddl_command | ddl_lsn
--   ALTER TABLE dbo.t ADD b int NULL | $lsn2
GO
EXEC sys.sp_cdc_disable_table N'dbo', N't', N'dbo_t'
GO
SELECT ddl_command FROM cdc.ddl_history
-- expect
--   ALTER TABLE dbo.t ADD b int NULL
GO
