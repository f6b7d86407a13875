-- source: "Microsoft: sys.sp_cdc_enable_table (Transact-SQL), @captured_column_list"
-- source: "Microsoft: Database engine events and errors, 22930, 22942, 22943, 22965 and 22975"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NULL);
CREATE TABLE dbo.meta (id int NOT NULL CONSTRAINT PK_meta PRIMARY KEY, [__$operation] int NULL)
GO
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL, @captured_column_list = N'id, none'
-- error 22930
GO
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL, @captured_column_list = N'id, [note'
-- error 22965
GO
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL, @supports_net_changes = 1, @captured_column_list = N'note'
-- error 22943
GO
EXEC sys.sp_cdc_enable_table N'dbo', N'meta', @role_name = NULL
-- error 22975
GO
SELECT COUNT(*) FROM cdc.change_tables
-- expect
--   0
GO
