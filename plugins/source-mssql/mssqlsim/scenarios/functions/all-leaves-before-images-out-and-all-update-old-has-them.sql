-- source: "Microsoft: cdc.fn_cdc_get_all_changes_<capture_instance> (Transact-SQL), Arguments, row_filter_option"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
INSERT INTO dbo.t VALUES (1, 1), (2, 2);
UPDATE dbo.t SET note = 11 WHERE id = 1;
DELETE FROM dbo.t WHERE id = 2
GO
-- capture
DECLARE @from binary(10) = sys.fn_cdc_get_min_lsn(N'dbo_t'), @to binary(10) = sys.fn_cdc_get_max_lsn();
SELECT [__$start_lsn], [__$operation], id, note FROM cdc.fn_cdc_get_all_changes_dbo_t(@from, @to, N'all') ORDER BY [__$start_lsn], [__$seqval], [__$operation];
SELECT [__$start_lsn], [__$operation], id, note FROM cdc.fn_cdc_get_all_changes_dbo_t(@from, @to, N'all update old') ORDER BY [__$start_lsn], [__$seqval], [__$operation]
-- expect
--   $lsn1 | 2 | 1 | 1
--   $lsn1 | 2 | 2 | 2
--   $lsn2 | 4 | 1 | 11
--   $lsn3 | 1 | 2 | 2
-- expect
--   $lsn1 | 2 | 1 | 1
--   $lsn1 | 2 | 2 | 2
--   $lsn2 | 3 | 1 | 1
--   $lsn2 | 4 | 1 | 11
--   $lsn3 | 1 | 2 | 2
GO
