-- source: "Microsoft: cdc.<capture_instance>_CT (Transact-SQL), Data Manipulation Language Modifications"
-- seen: on SQL Server 2022, 3 and 4 share __$seqval and __$command_id
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, a int NULL, b int NULL, c int NULL);
INSERT INTO dbo.t VALUES (1, 1, 1, 1);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
UPDATE dbo.t SET a = 2, c = NULL WHERE id = 1
GO
-- capture
SELECT [__$start_lsn], [__$seqval], [__$command_id], [__$operation], [__$update_mask], id, a, b, c FROM cdc.dbo_t_CT ORDER BY [__$operation]
-- expect
--   $lsn1 | $seq1 | $cmd1 | 3 | 0x0A | 1 | 1 | 1 | 1
--   $lsn1 | $seq1 | $cmd1 | 4 | 0x0A | 1 | 2 | 1 | NULL
GO
