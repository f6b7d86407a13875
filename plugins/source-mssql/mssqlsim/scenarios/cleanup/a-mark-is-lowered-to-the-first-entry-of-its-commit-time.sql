-- source: "Microsoft: sys.sp_cdc_cleanup_change_table (Transact-SQL), @low_water_mark: if other entries share the same commit time, the smallest LSN associated with that group of entries is chosen"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
INSERT INTO dbo.t VALUES (0)
GO
-- pass 1s
/* some of so many commits in a row have one time, since datetime counts in ticks of 1/300 s */
SET NOCOUNT ON;
DECLARE @i int = 1;
WHILE @i <= 50
BEGIN
	INSERT INTO dbo.t VALUES (@i);
	SET @i = @i + 1;
END
GO
-- capture
DECLARE @mark binary(10), @first binary(10), @n int;
SELECT TOP (1) @mark = MAX(m.start_lsn), @first = MIN(m.start_lsn), @n = COUNT(*) FROM cdc.lsn_time_mapping AS m JOIN cdc.dbo_t_CT AS c ON c.[__$start_lsn] = m.start_lsn GROUP BY m.tran_end_time ORDER BY COUNT(*) DESC, m.tran_end_time;
EXEC sys.sp_cdc_cleanup_change_table N'dbo_t', @mark;
SELECT CASE WHEN @n > 1 THEN 'several' END, CASE WHEN sys.fn_cdc_get_min_lsn(N'dbo_t') = @first THEN 'the first' END, CASE WHEN (SELECT MIN([__$start_lsn]) FROM cdc.dbo_t_CT) = @first THEN 'stays' END
-- expect
--   several | the first | stays
GO
