-- source: "Microsoft: sys.sp_cdc_cleanup_change_table (Transact-SQL), Remarks: if the @low_water_mark parameter is NULL or the current low watermark is greater than the new lowwatermark, the start_lsn value for the capture instance is left unchanged"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL;
EXEC sys.sp_cdc_enable_table N'dbo', N't', N'keeper', @role_name = NULL
GO
INSERT INTO dbo.t VALUES (1)
GO
-- pass 1s
INSERT INTO dbo.t VALUES (2)
GO
-- capture
SELECT [__$start_lsn], id FROM cdc.keeper_CT ORDER BY id
-- expect
--   $lsn1 | 1
--   $lsn2 | 2
GO
EXEC sys.sp_cdc_cleanup_change_table N'dbo_t', NULL, 1
GO
SELECT COUNT(*) FROM cdc.dbo_t_CT
-- expect
--   2
GO
DECLARE @mark binary(10) = (SELECT MAX([__$start_lsn]) FROM cdc.keeper_CT);
EXEC sys.sp_cdc_cleanup_change_table N'dbo_t', @mark
GO
DECLARE @mark binary(10) = (SELECT MIN([__$start_lsn]) FROM cdc.keeper_CT);
EXEC sys.sp_cdc_cleanup_change_table N'dbo_t', @mark
GO
SELECT sys.fn_cdc_get_min_lsn(N'dbo_t')
-- expect
--   $lsn2
GO
SELECT id FROM cdc.dbo_t_CT
-- expect
--   2
GO
