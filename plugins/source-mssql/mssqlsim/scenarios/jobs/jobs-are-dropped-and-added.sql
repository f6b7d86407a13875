-- source: "Microsoft: sys.sp_cdc_add_job (Transact-SQL), Examples, B"
-- source: "Microsoft: sys.sp_cdc_drop_job (Transact-SQL)"
-- source: "Microsoft: Database engine events and errors, 22997"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
EXEC sys.sp_cdc_drop_job @job_type = N'cleanup'
GO
EXEC sys.sp_cdc_change_job N'cleanup', @retention = 60
-- error 22997
GO
EXEC sys.sp_cdc_add_job @job_type = N'cleanup', @start_job = 0, @retention = 5760
GO
SELECT job_type, retention, threshold FROM msdb.dbo.cdc_jobs WHERE database_id = DB_ID() ORDER BY job_type
-- expect
--   capture | 0 | 0
--   cleanup | 5760 | 5000
GO
