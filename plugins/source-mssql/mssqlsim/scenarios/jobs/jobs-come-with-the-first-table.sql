-- source: "Microsoft: About change data capture (SQL Server), Change data capture Agent jobs"
-- source: "Microsoft: sys.sp_cdc_add_job (Transact-SQL), Arguments and Remarks"
-- source: "Microsoft: sys.sp_cdc_help_jobs (Transact-SQL), Result sets"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY)
GO
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
EXEC sys.sp_cdc_help_jobs
-- unordered job_id | job_type | maxtrans | maxscans | continuous | pollinginterval | retention | threshold
--   $guid1 | capture | 500 | 10 | 1 | 5 | 0 | 0
--   $guid2 | cleanup | 0 | 0 | 0 | 0 | 4320 | 5000
GO
SELECT job_id, job_type FROM msdb.dbo.cdc_jobs WHERE database_id = DB_ID() ORDER BY job_type
-- expect
--   $guid1 | capture
--   $guid2 | cleanup
GO
