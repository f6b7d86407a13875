-- source: "Microsoft: sys.sp_cdc_disable_table (Transact-SQL), Remarks: drops the change data capture change table and system functions"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL;
EXEC sys.sp_cdc_enable_table N'dbo', N't', N'second', @role_name = NULL;
INSERT INTO dbo.t VALUES (1)
GO
-- capture
EXEC sys.sp_cdc_disable_table @source_schema = N'dbo', @source_name = N't', @capture_instance = N'dbo_t'
GO
SELECT sys.fn_cdc_get_min_lsn(N'dbo_t'), OBJECT_ID('cdc.dbo_t_CT'), (SELECT COUNT(*) FROM cdc.second_CT)
-- expect
--   0x00000000000000000000 | NULL | 1
GO
SELECT * FROM cdc.fn_cdc_get_all_changes_dbo_t(0x00, 0x00, N'all')
-- error 208
GO
SELECT * FROM cdc.dbo_t_CT
-- error 208
GO
EXEC sys.sp_cdc_get_captured_columns N'dbo_t'
-- error 22981
GO
SELECT is_tracked_by_cdc FROM sys.tables WHERE object_id = OBJECT_ID('dbo.t')
-- expect
--   1
GO
