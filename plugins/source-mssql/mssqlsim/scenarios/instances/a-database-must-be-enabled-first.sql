-- source: "Microsoft: sys.sp_cdc_enable_table (Transact-SQL), Remarks: before you can enable a table for change data capture, the database must be enabled"
-- source: "Microsoft: Database engine events and errors, 22901"
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY)
GO
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
-- error 22901
GO
EXEC sys.sp_cdc_help_change_data_capture
-- error 22901
GO
EXEC sys.sp_cdc_disable_db
-- error 22901
GO
