-- source: "Microsoft: cdc.<capture_instance>_CT (Transact-SQL), Data Manipulation Language Modifications: the commit order of the source changes is preserved"
-- seen: on SQL Server 2022, a long transaction has an LSN above the short ones that committed meanwhile
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
BEGIN TRANSACTION;
INSERT INTO dbo.t VALUES (1)
GO
-- session 2
INSERT INTO dbo.t VALUES (2)
GO
-- session 1
COMMIT
GO
-- capture
SELECT [__$start_lsn], id FROM cdc.dbo_t_CT ORDER BY [__$start_lsn]
-- expect
--   $lsn1 | 2
--   $lsn2 | 1
GO
SELECT CASE WHEN MIN(CASE WHEN c.id = 1 THEN m.tran_begin_time END) <= MIN(CASE WHEN c.id = 2 THEN m.tran_begin_time END) THEN 'began first' END
FROM cdc.dbo_t_CT AS c JOIN cdc.lsn_time_mapping AS m ON m.start_lsn = c.[__$start_lsn]
-- expect
--   began first
GO
