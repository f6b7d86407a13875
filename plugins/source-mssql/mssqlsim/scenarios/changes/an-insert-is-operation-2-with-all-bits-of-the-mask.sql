-- source: "Microsoft: cdc.<capture_instance>_CT (Transact-SQL), Data Manipulation Language Modifications"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note nvarchar(20) NULL, amount int NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
INSERT INTO dbo.t VALUES (1, N'first', NULL)
GO
-- capture
SELECT [__$start_lsn], [__$end_lsn], [__$seqval], [__$operation], [__$update_mask], id, note, amount FROM cdc.dbo_t_CT
-- expect
--   $lsn1 | NULL | $seq1 | 2 | 0x07 | 1 | first | NULL
GO
