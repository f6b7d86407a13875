-- source: "Microsoft: SET XACT_ABORT (Transact-SQL), Remarks: when OFF, in some cases only the statement that raised the error is rolled back and the transaction continues processing"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note tinyint NOT NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
SET XACT_ABORT OFF;
BEGIN TRANSACTION;
INSERT INTO dbo.t VALUES (1, 1)
GO
INSERT INTO dbo.t VALUES (2, 2), (1, 1)
-- error 2627
GO
INSERT INTO dbo.t VALUES (3, NULL)
-- error 515
GO
INSERT INTO dbo.t VALUES (4, 4);
COMMIT
GO
-- capture
SELECT [__$start_lsn], id FROM cdc.dbo_t_CT ORDER BY id
-- expect
--   $lsn1 | 1
--   $lsn1 | 4
GO
