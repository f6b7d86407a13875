-- source: "Microsoft: sys.sp_cdc_cleanup_change_table (Transact-SQL), Remarks: this stored procedure does cleanup for a single capture instance"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
CREATE TABLE dbo.u (id int NOT NULL CONSTRAINT PK_u PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL;
EXEC sys.sp_cdc_enable_table N'dbo', N'u', @role_name = NULL
GO
INSERT INTO dbo.u VALUES (1)
GO
-- pass 1s
BEGIN TRANSACTION;
INSERT INTO dbo.t VALUES (1);
INSERT INTO dbo.u VALUES (2);
COMMIT
GO
-- pass 1s
INSERT INTO dbo.t VALUES (2)
GO
-- capture
DECLARE @mark binary(10) = (SELECT MAX([__$start_lsn]) FROM cdc.dbo_t_CT);
EXEC sys.sp_cdc_cleanup_change_table N'dbo_t', @mark
GO
SELECT id FROM cdc.dbo_t_CT
-- expect
--   2
GO
SELECT id FROM cdc.dbo_u_CT ORDER BY id
-- expect
--   1
--   2
GO
/* the entries that the other instance needs are there */
SELECT COUNT(*) FROM cdc.dbo_u_CT AS c JOIN cdc.lsn_time_mapping AS m ON m.start_lsn = c.[__$start_lsn]
-- expect
--   2
GO
