-- source: "Microsoft: About change data capture (SQL Server), Change data capture Agent jobs: starting and stopping the capture job does not result in a loss of change data"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
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
INSERT INTO dbo.t VALUES (2);
UPDATE dbo.t SET id = 3 WHERE id = 2
GO
SELECT CASE WHEN sys.fn_cdc_get_max_lsn() >= MAX([__$start_lsn]) THEN 'no further' END, COUNT(*) FROM cdc.dbo_t_CT
-- expect
--   no further | 1
GO
EXEC sys.sp_cdc_start_job @job_type = N'capture'
GO
-- capture
SELECT [__$operation], id FROM cdc.dbo_t_CT ORDER BY [__$start_lsn], [__$command_id]
-- expect
--   2 | 1
--   2 | 2
--   1 | 2
--   2 | 3
GO
