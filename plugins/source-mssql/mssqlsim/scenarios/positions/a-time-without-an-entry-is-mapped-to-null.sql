-- source: "Microsoft: sys.fn_cdc_map_time_to_lsn (Transact-SQL), Examples: IF @lsn IS NOT NULL"
-- seen: on SQL Server 2022, the time of an LSN that is no commit's is NULL
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL;
INSERT INTO dbo.t VALUES (1)
GO
-- capture
SELECT sys.fn_cdc_map_time_to_lsn('largest less than or equal', '2001-01-01'), sys.fn_cdc_map_time_to_lsn('smallest greater than', '2201-01-01')
-- expect
--   NULL | NULL
GO
SELECT sys.fn_cdc_map_lsn_to_time(0x00000000000000000001), sys.fn_cdc_map_lsn_to_time(NULL)
-- expect
--   NULL | NULL
GO
