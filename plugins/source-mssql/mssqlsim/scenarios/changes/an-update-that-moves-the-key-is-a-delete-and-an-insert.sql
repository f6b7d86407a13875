-- source: "Microsoft: UPDATE statements may be replicated as DELETE/INSERT pairs, Summary"
-- source: "Microsoft: FIX: The change table is ordered incorrectly for updated rows after you enable change data capture (KB3030352), Symptoms: a delete and an insert with one sequence value, ordered by __$command_id"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NULL);
INSERT INTO dbo.t VALUES (1, 7);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
UPDATE dbo.t SET id = 2, note = 8
GO
-- capture
SELECT [__$start_lsn], [__$seqval], [__$command_id], [__$operation], [__$update_mask], id, note FROM cdc.dbo_t_CT ORDER BY [__$command_id]
-- expect
--   $lsn1 | $seq1 | $cmd1 | 1 | 0x03 | 1 | 7
--   $lsn1 | $seq1 | $cmd2 | 2 | 0x03 | 2 | 8
GO
