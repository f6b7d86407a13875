-- source: "Microsoft: sys.fn_cdc_increment_lsn (Transact-SQL): the next log sequence number in the sequence"
-- source: "Microsoft: sys.fn_cdc_decrement_lsn (Transact-SQL): the previous log sequence number in the sequence"
EXEC sys.sp_cdc_enable_db
GO
DECLARE @lsn binary(10) = 0x0000002A000001F00003;
SELECT CASE WHEN sys.fn_cdc_increment_lsn(@lsn) > @lsn THEN 'after' END, CASE WHEN sys.fn_cdc_decrement_lsn(@lsn) < @lsn THEN 'before' END,
	CASE WHEN sys.fn_cdc_decrement_lsn(sys.fn_cdc_increment_lsn(@lsn)) = @lsn AND sys.fn_cdc_increment_lsn(sys.fn_cdc_decrement_lsn(@lsn)) = @lsn THEN 'and back' END,
	sys.fn_cdc_increment_lsn(@lsn)
-- expect
--   after | before | and back | 0x0000002A000001F00004
GO
/* the next one of a full last byte carries */
SELECT sys.fn_cdc_increment_lsn(0x0000002A000001F000FF), sys.fn_cdc_decrement_lsn(0x0000002A000001F00100)
-- expect
--   0x0000002A000001F00100 | 0x0000002A000001F000FF
GO
/* the increment of a commit is above it and not above the next one */
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL;
INSERT INTO dbo.t VALUES (1);
INSERT INTO dbo.t VALUES (2)
GO
-- capture
SELECT CASE WHEN sys.fn_cdc_increment_lsn(MIN([__$start_lsn])) > MIN([__$start_lsn]) AND sys.fn_cdc_increment_lsn(MIN([__$start_lsn])) <= MAX([__$start_lsn]) THEN 'between' END FROM cdc.dbo_t_CT
-- expect
--   between
GO
SELECT sys.fn_cdc_increment_lsn(NULL), sys.fn_cdc_decrement_lsn(NULL)
-- expect
--   NULL | NULL
GO
