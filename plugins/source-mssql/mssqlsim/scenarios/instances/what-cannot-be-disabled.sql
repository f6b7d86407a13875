-- source: "Microsoft: sys.sp_cdc_disable_table (Transact-SQL), Arguments"
-- source: "Microsoft: Database engine events and errors, 22931, 22960, 22963 and 22985"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
CREATE TABLE dbo.other (id int NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
EXEC sys.sp_cdc_disable_table N'dbo', N'none', N'all'
-- error 22931
GO
EXEC sys.sp_cdc_disable_table N'dbo', N'other', N'all'
-- error 22985
GO
EXEC sys.sp_cdc_disable_table N'dbo', N't', N'none'
-- error 22960
GO
EXEC sys.sp_cdc_disable_table N'dbo', N't', NULL
-- error 22963
GO
EXEC sys.sp_cdc_help_change_data_capture N'dbo', N'other'
-- error 22985
GO
EXEC sys.sp_cdc_help_change_data_capture @source_schema = N'dbo'
-- error 22972
GO
