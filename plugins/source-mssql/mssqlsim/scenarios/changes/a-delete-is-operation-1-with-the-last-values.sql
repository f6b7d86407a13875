-- source: "Microsoft: cdc.<capture_instance>_CT (Transact-SQL), Data Manipulation Language Modifications"
-- source: "Microsoft: About change data capture (SQL Server), Change table"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note nvarchar(20) NULL);
INSERT INTO dbo.t VALUES (1, N'first'), (2, N'second');
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
UPDATE dbo.t SET note = N'last' WHERE id = 1;
DELETE FROM dbo.t WHERE id = 1
GO
-- capture
SELECT [__$start_lsn], [__$operation], [__$update_mask], id, note FROM cdc.dbo_t_CT ORDER BY [__$start_lsn], [__$seqval], [__$operation]
-- expect
--   $lsn1 | 3 | 0x02 | 1 | first
--   $lsn1 | 4 | 0x02 | 1 | last
--   $lsn2 | 1 | 0x03 | 1 | last
GO
