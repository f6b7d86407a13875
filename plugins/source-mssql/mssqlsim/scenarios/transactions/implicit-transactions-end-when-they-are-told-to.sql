-- source: "Microsoft: SET IMPLICIT_TRANSACTIONS (Transact-SQL), Remarks"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
SET IMPLICIT_TRANSACTIONS ON
GO
INSERT INTO dbo.t VALUES (1);
INSERT INTO dbo.t VALUES (2);
COMMIT;
INSERT INTO dbo.t VALUES (3);
ROLLBACK
GO
SET IMPLICIT_TRANSACTIONS OFF;
INSERT INTO dbo.t VALUES (4)
GO
-- capture
SELECT [__$start_lsn], id FROM cdc.dbo_t_CT ORDER BY id
-- expect
--   $lsn1 | 1
--   $lsn1 | 2
--   $lsn2 | 4
GO
