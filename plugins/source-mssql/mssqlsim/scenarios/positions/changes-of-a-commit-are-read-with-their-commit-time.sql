-- source: "Microsoft: Work with change data (SQL Server), Adding a commit time to an all changes result set"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
INSERT INTO dbo.t VALUES (1), (2)
GO
-- pass 1s
INSERT INTO dbo.t VALUES (3)
GO
-- capture
SELECT m.tran_end_time, c.id FROM cdc.fn_cdc_get_all_changes_dbo_t(sys.fn_cdc_get_min_lsn(N'dbo_t'), sys.fn_cdc_get_max_lsn(), N'all') AS c JOIN cdc.lsn_time_mapping AS m ON m.start_lsn = c.[__$start_lsn] ORDER BY c.id
-- expect
--   $time1 | 1
--   $time1 | 2
--   $time2 | 3
GO
