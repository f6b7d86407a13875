-- source: "Microsoft: Enable and disable change data capture, Disable for a table: if there are no tables enabled for the database after the disabling takes place, the change data capture jobs are also removed"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
CREATE TABLE dbo.u (id int NOT NULL CONSTRAINT PK_u PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL;
EXEC sys.sp_cdc_enable_table N'dbo', N'u', @role_name = NULL
GO
EXEC sys.sp_cdc_disable_table N'dbo', N't', N'all'
GO
SELECT COUNT(*) FROM msdb.dbo.cdc_jobs WHERE database_id = DB_ID()
-- expect
--   2
GO
EXEC sys.sp_cdc_disable_table N'dbo', N'u', N'all'
GO
SELECT COUNT(*) FROM msdb.dbo.cdc_jobs WHERE database_id = DB_ID()
-- expect
--   0
GO
/* and they come again, with their defaults */
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
SELECT job_type, pollinginterval, retention FROM msdb.dbo.cdc_jobs WHERE database_id = DB_ID() ORDER BY job_type
-- expect
--   capture | 5 | 0
--   cleanup | 0 | 4320
GO
