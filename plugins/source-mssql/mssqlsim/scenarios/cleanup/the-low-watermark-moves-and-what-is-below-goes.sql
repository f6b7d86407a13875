-- source: "Microsoft: sys.sp_cdc_cleanup_change_table (Transact-SQL), Remarks"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
INSERT INTO dbo.t VALUES (1)
GO
-- pass 1s
INSERT INTO dbo.t VALUES (2)
GO
-- pass 1s
INSERT INTO dbo.t VALUES (3)
GO
-- capture
SELECT [__$start_lsn], id FROM cdc.dbo_t_CT ORDER BY id
-- expect
--   $lsn1 | 1
--   $lsn2 | 2
--   $lsn3 | 3
GO
DECLARE @mark binary(10) = (SELECT [__$start_lsn] FROM cdc.dbo_t_CT WHERE id = 2);
EXEC sys.sp_cdc_cleanup_change_table @capture_instance = N'dbo_t', @low_water_mark = @mark
GO
SELECT sys.fn_cdc_get_min_lsn(N'dbo_t'), (SELECT start_lsn FROM cdc.change_tables WHERE capture_instance = N'dbo_t')
-- expect
--   $lsn2 | $lsn2
GO
SELECT [__$start_lsn], id FROM cdc.dbo_t_CT ORDER BY id
-- expect
--   $lsn2 | 2
--   $lsn3 | 3
GO
SELECT id FROM cdc.fn_cdc_get_all_changes_dbo_t(sys.fn_cdc_decrement_lsn(sys.fn_cdc_get_min_lsn(N'dbo_t')), sys.fn_cdc_get_max_lsn(), N'all')
-- error 313
GO
SELECT id FROM cdc.fn_cdc_get_all_changes_dbo_t(sys.fn_cdc_get_min_lsn(N'dbo_t'), sys.fn_cdc_get_max_lsn(), N'all') ORDER BY id
-- expect
--   2
--   3
GO
/* the rows of the table itself are of no interest to cleanup */
SELECT COUNT(*) FROM dbo.t
-- expect
--   3
GO
