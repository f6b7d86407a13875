-- source: "Microsoft: Work with change data (SQL Server): both the upper and lower LSN values that bound the interval are considered to be included within the interval"
-- source: "Microsoft: Work with change data (SQL Server), Querying for all new changes since the last set of changes"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
INSERT INTO dbo.t VALUES (1);
INSERT INTO dbo.t VALUES (2);
INSERT INTO dbo.t VALUES (3)
GO
-- capture
DECLARE @one binary(10), @two binary(10), @three binary(10);
SELECT @one = MIN([__$start_lsn]), @three = MAX([__$start_lsn]) FROM cdc.dbo_t_CT;
SELECT @two = [__$start_lsn] FROM cdc.dbo_t_CT WHERE id = 2;
SELECT id FROM cdc.fn_cdc_get_all_changes_dbo_t(@one, @two, N'all') ORDER BY id;
SELECT id FROM cdc.fn_cdc_get_all_changes_dbo_t(sys.fn_cdc_increment_lsn(@one), @three, N'all') ORDER BY id;
SELECT id FROM cdc.fn_cdc_get_all_changes_dbo_t(@one, sys.fn_cdc_decrement_lsn(@two), N'all') ORDER BY id;
SELECT id FROM cdc.fn_cdc_get_all_changes_dbo_t(@two, @two, N'all')
-- expect
--   1
--   2
-- expect
--   2
--   3
-- expect
--   1
-- expect
--   2
GO
