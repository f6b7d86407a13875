-- source: "Microsoft: About change data capture (SQL Server), Handling changes to source tables: allowing the capture mechanism to populate both change tables in tandem"
-- seen: on SQL Server 2022, the same __$start_lsn and __$seqval; command ids differ
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, a int NULL, b int NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL, @captured_column_list = N'id, a';
INSERT INTO dbo.t VALUES (1, 1, 1);
EXEC sys.sp_cdc_enable_table N'dbo', N't', N'both', @role_name = NULL
GO
INSERT INTO dbo.t VALUES (2, 2, 2);
UPDATE dbo.t SET b = 3 WHERE id = 2;
UPDATE dbo.t SET a = 3, b = 4 WHERE id = 2
GO
-- capture
SELECT [__$start_lsn], [__$seqval], [__$operation], id, a FROM cdc.dbo_t_CT ORDER BY [__$start_lsn], [__$operation]
-- expect
--   $lsn1 | $seq1 | 2 | 1 | 1
--   $lsn2 | $seq2 | 2 | 2 | 2
--   $lsn4 | $seq4 | 3 | 2 | 2
--   $lsn4 | $seq4 | 4 | 2 | 3
GO
SELECT [__$start_lsn], [__$seqval], [__$operation], id, a, b FROM cdc.both_CT ORDER BY [__$start_lsn], [__$operation]
-- expect
--   $lsn2 | $seq2 | 2 | 2 | 2 | 2
--   $lsn3 | $seq3 | 3 | 2 | 2 | 2
--   $lsn3 | $seq3 | 4 | 2 | 2 | 3
--   $lsn4 | $seq4 | 3 | 2 | 2 | 3
--   $lsn4 | $seq4 | 4 | 2 | 3 | 4
GO
