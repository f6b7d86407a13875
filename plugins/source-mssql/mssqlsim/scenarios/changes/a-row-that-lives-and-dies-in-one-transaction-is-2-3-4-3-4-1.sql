-- source: "Microsoft: cdc.<capture_instance>_CT (Transact-SQL), __$command_id: tracks the order of operations within a transaction"
-- seen: on SQL Server 2022, [2,3,4,3,4,1] in this order
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
BEGIN TRANSACTION;
INSERT INTO dbo.t VALUES (1, 0);
UPDATE dbo.t SET note = 1;
UPDATE dbo.t SET note = 2;
DELETE FROM dbo.t;
COMMIT
GO
-- capture
SELECT [__$start_lsn], [__$command_id], [__$operation], id, note FROM cdc.dbo_t_CT ORDER BY [__$start_lsn], [__$command_id], [__$seqval], [__$operation]
-- expect
--   $lsn1 | $cmd1 | 2 | 1 | 0
--   $lsn1 | $cmd2 | 3 | 1 | 0
--   $lsn1 | $cmd2 | 4 | 1 | 1
--   $lsn1 | $cmd3 | 3 | 1 | 1
--   $lsn1 | $cmd3 | 4 | 1 | 2
--   $lsn1 | $cmd4 | 1 | 1 | 2
GO
