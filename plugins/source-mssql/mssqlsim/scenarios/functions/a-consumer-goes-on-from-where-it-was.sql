-- source: "Microsoft: Work with change data (SQL Server), Querying for all new changes since the last set of changes"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
CREATE TABLE dbo.position (lsn binary(10) NOT NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL;
INSERT INTO dbo.t VALUES (1), (2)
GO
-- capture
DECLARE @to binary(10) = sys.fn_cdc_get_max_lsn();
SELECT id FROM cdc.fn_cdc_get_all_changes_dbo_t(sys.fn_cdc_get_min_lsn(N'dbo_t'), @to, N'all') ORDER BY id;
INSERT INTO dbo.position VALUES (@to)
-- expect
--   1
--   2
GO
INSERT INTO dbo.t VALUES (3);
DELETE FROM dbo.t WHERE id = 1
GO
-- capture
DECLARE @from binary(10) = (SELECT sys.fn_cdc_increment_lsn(lsn) FROM dbo.position), @to binary(10) = sys.fn_cdc_get_max_lsn();
SELECT [__$operation], id FROM cdc.fn_cdc_get_all_changes_dbo_t(@from, @to, N'all') ORDER BY [__$start_lsn]
-- expect
--   2 | 3
--   1 | 1
GO
