-- source: "Microsoft: sys.sp_cdc_cleanup_change_table (Transact-SQL), @fCleanupFailed: an OUTPUT parameter indicating whether or not the cleanup operation failed"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL;
INSERT INTO dbo.t VALUES (1)
GO
-- capture
DECLARE @status int, @failed bit = 0, @mark binary(10) = (SELECT MAX([__$start_lsn]) FROM cdc.dbo_t_CT);
EXEC @status = sys.sp_cdc_cleanup_change_table @capture_instance = N'dbo_t', @low_water_mark = @mark, @threshold = 1, @fCleanupFailed = @failed OUTPUT;
SELECT @status, @failed
-- expect
--   0 | 0
GO
