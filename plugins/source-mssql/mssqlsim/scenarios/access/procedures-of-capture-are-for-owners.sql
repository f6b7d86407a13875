-- source: "Microsoft: sys.sp_cdc_enable_table (Transact-SQL), Permissions: membership in the db_owner fixed database role"
-- source: "Microsoft: sys.sp_cdc_enable_db (Transact-SQL), Permissions: membership in the sysadmin fixed server role"
-- source: "Microsoft: Database engine events and errors, 22902 and 22904"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
-- login reader
GRANT SELECT ON dbo.t TO reader
GO
-- as reader
EXEC sys.sp_cdc_enable_table N'dbo', N't', N'second', @role_name = NULL
-- error 22904
GO
EXEC sys.sp_cdc_disable_table N'dbo', N't', N'all'
-- error 22904
GO
EXEC sys.sp_cdc_cleanup_change_table N'dbo_t', NULL
-- error 22904
GO
EXEC sys.sp_cdc_change_job N'capture', @pollinginterval = 1
-- error 22904
GO
EXEC sys.sp_cdc_stop_job N'capture'
-- error 22904
GO
EXEC sys.sp_cdc_scan
-- error 22904
GO
EXEC sys.sp_cdc_disable_db
-- error 22902
GO
-- session 1
ALTER ROLE db_owner ADD MEMBER reader
GO
-- as reader
EXEC sys.sp_cdc_enable_table N'dbo', N't', N'second', @role_name = NULL
GO
EXEC sys.sp_cdc_disable_db
-- error 22902
GO
