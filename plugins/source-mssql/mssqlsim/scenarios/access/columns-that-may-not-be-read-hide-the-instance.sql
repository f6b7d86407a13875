-- source: "Microsoft: sys.sp_cdc_help_change_data_capture (Transact-SQL), Permissions: SELECT permission on all of the captured columns"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NULL, secret int NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL;
EXEC sys.sp_cdc_enable_table N'dbo', N't', N'open_one', @role_name = NULL, @captured_column_list = N'id, note'
GO
-- login reader
GRANT SELECT ON dbo.t (id, note) TO reader
GO
-- as reader
EXEC sys.sp_cdc_help_change_data_capture
-- unordered capture_instance
--   open_one
GO
EXEC sys.sp_cdc_get_captured_columns N'dbo_t'
-- error 22981
GO
EXEC sys.sp_cdc_get_captured_columns N'open_one'
-- unordered column_name
--   id
--   note
GO
SELECT secret FROM dbo.t
-- error 230
GO
