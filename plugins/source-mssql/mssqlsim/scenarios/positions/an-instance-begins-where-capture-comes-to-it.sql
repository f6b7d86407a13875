-- source: "Microsoft: About change data capture (SQL Server), Change data capture validity interval for a capture instance: starts when the capture process recognizes the capture instance"
-- seen: on SQL Server 2022, until then its minimum is zero and the maximum is below its start
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
CREATE TABLE dbo.later (id int NOT NULL CONSTRAINT PK_later PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL;
INSERT INTO dbo.t VALUES (1)
GO
-- capture
EXEC sys.sp_cdc_stop_job @job_type = N'capture'
GO
/* until it has ended: a job that does not run cannot be stopped */
EXEC sys.sp_cdc_stop_job @job_type = N'capture'
-- eventually
-- error 22022
GO
EXEC sys.sp_cdc_enable_table N'dbo', N'later', @role_name = NULL
GO
SELECT sys.fn_cdc_get_min_lsn(N'dbo_later'), CASE WHEN start_lsn > sys.fn_cdc_get_max_lsn() THEN 'not reached' END FROM cdc.change_tables WHERE capture_instance = N'dbo_later'
-- expect
--   0x00000000000000000000 | not reached
GO
EXEC sys.sp_cdc_start_job @job_type = N'capture'
GO
INSERT INTO dbo.later VALUES (1)
GO
-- capture
SELECT CASE WHEN start_lsn = sys.fn_cdc_get_min_lsn(N'dbo_later') AND start_lsn < sys.fn_cdc_get_max_lsn() AND start_lsn > sys.fn_cdc_get_min_lsn(N'dbo_t') THEN 'reached' END FROM cdc.change_tables WHERE capture_instance = N'dbo_later'
-- expect
--   reached
GO
