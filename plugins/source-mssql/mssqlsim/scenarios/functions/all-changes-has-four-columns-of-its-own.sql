-- source: "Microsoft: cdc.fn_cdc_get_all_changes_<capture_instance> (Transact-SQL), Table returned"
-- seen: on SQL Server 2022, the function has no __$command_id
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
INSERT INTO dbo.t VALUES (1, 1)
GO
-- capture
SELECT * FROM cdc.fn_cdc_get_all_changes_dbo_t(sys.fn_cdc_get_min_lsn(N'dbo_t'), sys.fn_cdc_get_max_lsn(), N'all')
-- expect __$start_lsn | __$seqval | __$operation | __$update_mask | id | note
--   $lsn1 | $seq1 | 2 | 0x03 | 1 | 1
GO
SELECT * FROM cdc.fn_cdc_get_all_changes_dbo_t(sys.fn_cdc_get_min_lsn(N'dbo_t'), sys.fn_cdc_get_max_lsn(), N'all')
-- expect
--   $lsn1 | $seq1 | 2 | 0x03 | 1 | 1
GO
SELECT [__$command_id] FROM cdc.fn_cdc_get_all_changes_dbo_t(sys.fn_cdc_get_min_lsn(N'dbo_t'), sys.fn_cdc_get_max_lsn(), N'all')
-- error 207
GO
