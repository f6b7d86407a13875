-- source: "Microsoft: cdc.fn_cdc_get_all_changes_<capture_instance> (Transact-SQL), Permissions: SELECT permission on all captured columns in the source table"
-- source: "Microsoft: sys.fn_cdc_get_min_lsn (Transact-SQL), Permissions"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL;
INSERT INTO dbo.t VALUES (1, 1)
GO
-- capture
-- login reader
-- as reader
SELECT sys.fn_cdc_get_min_lsn(N'dbo_t')
-- expect
--   0x00000000000000000000
GO
SELECT * FROM cdc.fn_cdc_get_all_changes_dbo_t(sys.fn_cdc_get_min_lsn(N'dbo_t'), sys.fn_cdc_get_max_lsn(), N'all')
-- error 229
GO
EXEC sys.sp_cdc_get_captured_columns N'dbo_t'
-- error 22981
GO
EXEC sys.sp_cdc_help_change_data_capture
-- unordered capture_instance
--   (no rows)
GO
-- session 1
GRANT SELECT ON dbo.t TO reader
GO
-- as reader
SELECT sys.fn_cdc_get_min_lsn(N'dbo_t')
-- expect
--   $lsn1
GO
SELECT [__$operation], id, note FROM cdc.fn_cdc_get_all_changes_dbo_t(sys.fn_cdc_get_min_lsn(N'dbo_t'), sys.fn_cdc_get_max_lsn(), N'all')
-- expect
--   2 | 1 | 1
GO
EXEC sys.sp_cdc_get_captured_columns N'dbo_t'
-- unordered column_name
--   id
--   note
GO
EXEC sys.sp_cdc_help_change_data_capture
-- unordered capture_instance
--   dbo_t
GO
