-- source: "Microsoft: cdc.lsn_time_mapping (Transact-SQL): entries may also be logged for which there are no change tables entries"
-- source: "Microsoft: Work with change data (SQL Server), Querying for all new changes up until now: in periods of inactivity, a dummy entry is added to the table cdc.lsn_time_mapping"
-- seen: on SQL Server 2022, about every five minutes, with tran_id 0x00
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL;
INSERT INTO dbo.t VALUES (1)
GO
-- capture
-- idle
SELECT CASE WHEN MAX(m.start_lsn) = sys.fn_cdc_get_max_lsn() THEN 'the newest' END FROM cdc.lsn_time_mapping AS m WHERE m.tran_id = 0x00
-- expect
--   the newest
GO
SELECT COUNT(*) FROM cdc.lsn_time_mapping AS m JOIN cdc.dbo_t_CT AS c ON c.[__$start_lsn] = m.start_lsn WHERE m.tran_id = 0x00
-- expect
--   0
GO
SELECT id FROM cdc.fn_cdc_get_all_changes_dbo_t(sys.fn_cdc_get_min_lsn(N'dbo_t'), sys.fn_cdc_get_max_lsn(), N'all')
-- expect
--   1
GO
