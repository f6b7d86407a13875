-- source: "Microsoft: sys.sp_cdc_scan (Transact-SQL), Remarks: cannot be executed explicitly when a change data capture log scan operation is already active"
-- source: "Microsoft: Database engine events and errors, 22903"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
EXEC sys.sp_cdc_scan
-- eventually
-- error 22903
GO
EXEC sys.sp_cdc_stop_job
GO
EXEC sys.sp_cdc_scan
-- eventually
GO
INSERT INTO dbo.t VALUES (1);
INSERT INTO dbo.t VALUES (2);
INSERT INTO dbo.t VALUES (3)
GO
SELECT COUNT(*) FROM cdc.dbo_t_CT
-- expect
--   0
GO
/* one transaction in one cycle */
EXEC sys.sp_cdc_scan @maxtrans = 1, @maxscans = 1
GO
SELECT id FROM cdc.dbo_t_CT
-- expect
--   1
GO
EXEC sys.sp_cdc_scan
GO
SELECT COUNT(*) FROM cdc.dbo_t_CT
-- expect
--   3
GO
