-- source: "Microsoft: SAVE TRANSACTION (Transact-SQL), Remarks"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
BEGIN TRANSACTION;
INSERT INTO dbo.t VALUES (1, 1);
SAVE TRANSACTION here;
INSERT INTO dbo.t VALUES (2, 2);
UPDATE dbo.t SET note = 11 WHERE id = 1;
ROLLBACK TRANSACTION here;
INSERT INTO dbo.t VALUES (3, 3);
COMMIT
GO
-- capture
SELECT [__$start_lsn], [__$operation], id, note FROM cdc.dbo_t_CT ORDER BY [__$command_id]
-- expect
--   $lsn1 | 2 | 1 | 1
--   $lsn1 | 2 | 3 | 3
GO
