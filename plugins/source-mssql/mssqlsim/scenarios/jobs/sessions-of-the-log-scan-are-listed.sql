-- source: "Microsoft: Administer and monitor change data capture (SQL Server), Identify sessions with empty result sets"
-- source: "Microsoft: sys.dm_cdc_log_scan_sessions (Transact-SQL)"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
INSERT INTO dbo.t VALUES (1), (2);
DELETE FROM dbo.t WHERE id = 1
GO
-- capture
SELECT COUNT(*) FROM sys.dm_cdc_log_scan_sessions WHERE session_id = 0
-- expect
--   1
GO
SELECT CASE WHEN SUM(tran_count) >= 2 AND SUM(command_count) >= 3 THEN 'both commits' END, SUM(error_count) FROM sys.dm_cdc_log_scan_sessions WHERE session_id > 0 AND empty_scan_count = 0
-- expect
--   both commits | 0
GO
SELECT COUNT(*) FROM sys.dm_cdc_errors
-- expect
--   0
GO
