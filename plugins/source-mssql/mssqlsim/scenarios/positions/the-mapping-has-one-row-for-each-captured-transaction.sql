-- source: "Microsoft: cdc.lsn_time_mapping (Transact-SQL): one row for each transaction having rows in a change table"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
CREATE TABLE dbo.other (id int NOT NULL CONSTRAINT PK_other PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
BEGIN TRANSACTION;
INSERT INTO dbo.t VALUES (1);
INSERT INTO dbo.t VALUES (2);
COMMIT;
INSERT INTO dbo.other VALUES (1);
INSERT INTO dbo.t VALUES (3)
GO
-- capture
SELECT c.[__$start_lsn], COUNT(*), MIN(m.tran_begin_time), MIN(m.tran_end_time) FROM cdc.dbo_t_CT AS c JOIN cdc.lsn_time_mapping AS m ON m.start_lsn = c.[__$start_lsn] GROUP BY c.[__$start_lsn] ORDER BY c.[__$start_lsn]
-- expect
--   $lsn1 | 2 | $time1 | $time2
--   $lsn2 | 1 | $time3 | $time4
GO
/* nothing between the two commits: the table that is not captured has no entry */
SELECT COUNT(*) FROM cdc.lsn_time_mapping WHERE tran_id <> 0x00 AND start_lsn > (SELECT MIN([__$start_lsn]) FROM cdc.dbo_t_CT) AND start_lsn < (SELECT MAX([__$start_lsn]) FROM cdc.dbo_t_CT)
-- expect
--   0
GO
