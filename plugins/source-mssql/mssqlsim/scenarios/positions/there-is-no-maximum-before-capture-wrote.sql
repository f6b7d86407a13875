-- source: "Microsoft: sys.fn_cdc_get_max_lsn (Transact-SQL), Remarks: the maximum LSN in the start_lsn column of cdc.lsn_time_mapping"
EXEC sys.sp_cdc_enable_db
GO
SELECT sys.fn_cdc_get_max_lsn(), (SELECT COUNT(*) FROM cdc.lsn_time_mapping)
-- expect
--   NULL | 0
GO
