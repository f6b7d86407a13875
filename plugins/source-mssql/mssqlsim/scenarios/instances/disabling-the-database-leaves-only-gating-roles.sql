-- source: "Microsoft: Enable and disable change data capture, Disable for a database: removes all associated change data capture metadata, including the cdc user and schema and the change data capture jobs; gating roles will not be removed automatically"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = N'gate'
GO
SELECT job_type FROM msdb.dbo.cdc_jobs WHERE database_id = DB_ID() ORDER BY job_type
-- expect
--   capture
--   cleanup
GO
EXEC sys.sp_cdc_disable_db
GO
SELECT SCHEMA_ID('cdc'), DATABASE_PRINCIPAL_ID('cdc'), CASE WHEN DATABASE_PRINCIPAL_ID('gate') IS NOT NULL THEN 'stays' END, (SELECT COUNT(*) FROM msdb.dbo.cdc_jobs WHERE database_id = DB_ID())
-- expect
--   NULL | NULL | stays | 0
GO
SELECT is_cdc_enabled FROM sys.databases WHERE name = DB_NAME()
-- expect
--   0
GO
SELECT is_tracked_by_cdc FROM sys.tables WHERE name = 't'
-- expect
--   0
GO
