-- source: "Microsoft: About change data capture (SQL Server), Change data capture validity interval for a capture instance"
-- source: "Microsoft: sys.fn_cdc_get_max_lsn (Transact-SQL), Remarks"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
INSERT INTO dbo.t VALUES (1);
INSERT INTO dbo.t VALUES (2)
GO
-- capture
SELECT COUNT(*) FROM cdc.dbo_t_CT WHERE [__$start_lsn] BETWEEN sys.fn_cdc_get_min_lsn(N'dbo_t') AND sys.fn_cdc_get_max_lsn()
-- expect
--   2
GO
SELECT CASE WHEN sys.fn_cdc_get_min_lsn(N'dbo_t') = start_lsn THEN 'as listed' END FROM cdc.change_tables WHERE capture_instance = N'dbo_t'
-- expect
--   as listed
GO
SELECT CASE WHEN sys.fn_cdc_get_max_lsn() = MAX(start_lsn) THEN 'the newest' END FROM cdc.lsn_time_mapping
-- expect
--   the newest
GO
