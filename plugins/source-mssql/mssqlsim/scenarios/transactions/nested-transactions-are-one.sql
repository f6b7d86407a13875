-- source: "Microsoft: COMMIT TRANSACTION (Transact-SQL), Remarks: @@TRANCOUNT"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
BEGIN TRANSACTION;
INSERT INTO dbo.t VALUES (1);
BEGIN TRANSACTION;
INSERT INTO dbo.t VALUES (2);
COMMIT;
SELECT @@TRANCOUNT;
COMMIT;
SELECT @@TRANCOUNT
-- expect
--   1
-- expect
--   0
GO
BEGIN TRANSACTION;
BEGIN TRANSACTION;
INSERT INTO dbo.t VALUES (3);
COMMIT;
ROLLBACK
GO
-- capture
SELECT [__$start_lsn], id FROM cdc.dbo_t_CT ORDER BY id
-- expect
--   $lsn1 | 1
--   $lsn1 | 2
GO
