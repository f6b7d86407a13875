-- source: "Microsoft: cdc.<capture_instance>_CT (Transact-SQL), __$start_lsn: all changes committed in the same transaction share the same commit LSN"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
INSERT INTO dbo.t VALUES (1), (2), (3);
DELETE FROM dbo.t WHERE id < 3
GO
-- capture
SELECT [__$start_lsn], [__$seqval], [__$operation], id FROM cdc.dbo_t_CT ORDER BY [__$start_lsn], id
-- expect
--   $lsn1 | $seq1 | 2 | 1
--   $lsn1 | $seq2 | 2 | 2
--   $lsn1 | $seq3 | 2 | 3
--   $lsn2 | $seq4 | 1 | 1
--   $lsn2 | $seq5 | 1 | 2
GO
