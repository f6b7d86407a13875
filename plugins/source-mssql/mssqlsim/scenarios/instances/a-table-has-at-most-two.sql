-- source: "Microsoft: About change data capture (SQL Server), Handling changes to source tables: the maximum number of capture instances that can be concurrently associated with a single source table is two"
-- source: "Microsoft: Database engine events and errors, 22962"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL;
EXEC sys.sp_cdc_enable_table N'dbo', N't', N'second', @role_name = NULL
GO
EXEC sys.sp_cdc_enable_table N'dbo', N't', N'third', @role_name = NULL
-- error 22962
GO
EXEC sys.sp_cdc_disable_table N'dbo', N't', N'dbo_t';
EXEC sys.sp_cdc_enable_table N'dbo', N't', N'third', @role_name = NULL
GO
EXEC sys.sp_cdc_help_change_data_capture N'dbo', N't'
-- unordered capture_instance
--   second
--   third
GO
