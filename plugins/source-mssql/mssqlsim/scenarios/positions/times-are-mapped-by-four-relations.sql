-- source: "Microsoft: sys.fn_cdc_map_time_to_lsn (Transact-SQL), Arguments"
-- source: "Microsoft: sys.fn_cdc_map_lsn_to_time (Transact-SQL)"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
-- pass 2s
INSERT INTO dbo.t VALUES (1)
GO
-- pass 2s
INSERT INTO dbo.t VALUES (2)
GO
-- pass 2s
INSERT INTO dbo.t VALUES (3)
GO
-- capture
SELECT c.[__$start_lsn], sys.fn_cdc_map_lsn_to_time(c.[__$start_lsn]), id FROM cdc.dbo_t_CT AS c ORDER BY id
-- expect
--   $lsn1 | $time1 | 1
--   $lsn2 | $time2 | 2
--   $lsn3 | $time3 | 3
GO
DECLARE @two datetime = (SELECT sys.fn_cdc_map_lsn_to_time([__$start_lsn]) FROM cdc.dbo_t_CT WHERE id = 2);
SELECT sys.fn_cdc_map_time_to_lsn('largest less than', @two), sys.fn_cdc_map_time_to_lsn('largest less than or equal', @two),
	sys.fn_cdc_map_time_to_lsn('smallest greater than or equal', @two), sys.fn_cdc_map_time_to_lsn('smallest greater than', @two)
-- expect
--   $lsn1 | $lsn2 | $lsn2 | $lsn3
GO
DECLARE @between datetime = (SELECT DATEADD(second, 1, sys.fn_cdc_map_lsn_to_time([__$start_lsn])) FROM cdc.dbo_t_CT WHERE id = 2);
SELECT sys.fn_cdc_map_time_to_lsn('largest less than', @between), sys.fn_cdc_map_time_to_lsn('largest less than or equal', @between),
	sys.fn_cdc_map_time_to_lsn('smallest greater than or equal', @between), sys.fn_cdc_map_time_to_lsn('smallest greater than', @between)
-- expect
--   $lsn2 | $lsn2 | $lsn3 | $lsn3
GO
