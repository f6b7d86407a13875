-- source: "Microsoft: sys.sp_cdc_change_job (Transact-SQL), Remarks: specifying a parameter that is invalid for the job type will cause the statement to fail"
-- source: "Microsoft: Database engine events and errors, 22850, 22970, 22990 to 22992 and 22994 to 22996"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
EXEC sys.sp_cdc_change_job N'other', @retention = 5
-- error 22992
GO
EXEC sys.sp_cdc_change_job @maxtrans = 0
-- error 22991
GO
EXEC sys.sp_cdc_change_job @maxscans = 0
-- error 22970
GO
EXEC sys.sp_cdc_change_job @pollinginterval = 86400
-- error 22990
GO
EXEC sys.sp_cdc_change_job @retention = 5
-- error 22995
GO
EXEC sys.sp_cdc_change_job N'cleanup', @pollinginterval = 5
-- error 22996
GO
EXEC sys.sp_cdc_change_job N'cleanup', @retention = 0
-- error 22994
GO
EXEC sys.sp_cdc_change_job N'cleanup', @threshold = -1
-- error 22850
GO
SELECT job_type, maxtrans, maxscans, continuous, pollinginterval, retention, threshold FROM msdb.dbo.cdc_jobs WHERE database_id = DB_ID() ORDER BY job_type
-- expect
--   capture | 500 | 10 | 1 | 5 | 0 | 0
--   cleanup | 0 | 0 | 0 | 0 | 4320 | 5000
GO
