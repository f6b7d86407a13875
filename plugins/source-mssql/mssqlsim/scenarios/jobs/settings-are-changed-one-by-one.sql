-- source: "Microsoft: sys.sp_cdc_change_job (Transact-SQL), Arguments and Remarks"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
/* capture is the default; NULL is as if it was left out */
EXEC sys.sp_cdc_change_job @maxtrans = 15, @maxscans = NULL;
EXEC sys.sp_cdc_change_job @job_type = N'cleanup', @retention = 2880
GO
SELECT job_type, maxtrans, maxscans, continuous, pollinginterval, retention, threshold FROM msdb.dbo.cdc_jobs WHERE database_id = DB_ID() ORDER BY job_type
-- expect
--   capture | 15 | 10 | 1 | 5 | 0 | 0
--   cleanup | 0 | 0 | 0 | 0 | 2880 | 5000
GO
/* from continuous to once sets the interval to 0; an interval without @continuous makes it continuous again */
EXEC sys.sp_cdc_change_job @continuous = 0, @pollinginterval = 9
GO
SELECT continuous, pollinginterval FROM msdb.dbo.cdc_jobs WHERE database_id = DB_ID() AND job_type = N'capture'
-- expect
--   0 | 0
GO
EXEC sys.sp_cdc_change_job @pollinginterval = 7
GO
SELECT continuous, pollinginterval FROM msdb.dbo.cdc_jobs WHERE database_id = DB_ID() AND job_type = N'capture'
-- expect
--   1 | 7
GO
