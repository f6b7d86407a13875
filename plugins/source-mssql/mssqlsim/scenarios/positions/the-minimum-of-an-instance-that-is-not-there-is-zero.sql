-- source: "Microsoft: sys.fn_cdc_get_min_lsn (Transact-SQL), Remarks: 0x00000000000000000000 when the capture instance does not exist"
EXEC sys.sp_cdc_enable_db
GO
SELECT sys.fn_cdc_get_min_lsn(N'none')
-- expect
--   0x00000000000000000000
GO
