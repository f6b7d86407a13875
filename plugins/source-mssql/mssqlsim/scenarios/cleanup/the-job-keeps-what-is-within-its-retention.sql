-- source: "Microsoft: Administer and monitor change data capture (SQL Server), Structure of the cleanup job: the specified number of minutes is subtracted from the maximum tran_end_time"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL;
EXEC sys.sp_cdc_enable_table N'dbo', N't', N'second', @role_name = NULL;
EXEC sys.sp_cdc_change_job @job_type = N'cleanup', @retention = 1
GO
INSERT INTO dbo.t VALUES (1)
GO
-- pass 70s
INSERT INTO dbo.t VALUES (2)
GO
-- capture
EXEC sys.sp_cdc_start_job @job_type = N'cleanup'
GO
SELECT id FROM cdc.dbo_t_CT
-- eventually
-- expect
--   2
GO
SELECT id FROM cdc.second_CT
-- eventually
-- expect
--   2
GO
/* one watermark for all instances, above the first commit */
SELECT COUNT(DISTINCT start_lsn), MIN(CASE WHEN start_lsn <= kept.low THEN 'below what is kept' END)
FROM cdc.change_tables CROSS JOIN (SELECT MIN([__$start_lsn]) AS low FROM cdc.dbo_t_CT) AS kept WHERE source_object_id = OBJECT_ID('dbo.t')
-- expect
--   1 | below what is kept
GO
SELECT COUNT(*) FROM cdc.lsn_time_mapping WHERE start_lsn < sys.fn_cdc_get_min_lsn(N'dbo_t')
-- eventually
-- expect
--   0
GO
