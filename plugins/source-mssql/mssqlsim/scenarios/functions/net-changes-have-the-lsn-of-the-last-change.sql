-- source: "Microsoft: cdc.fn_cdc_get_net_changes_<capture_instance> (Transact-SQL), Arguments: all returns the LSN of the final change to the row"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL, @supports_net_changes = 1
GO
INSERT INTO dbo.t VALUES (1, 1);
INSERT INTO dbo.t VALUES (2, 2);
UPDATE dbo.t SET note = 10 WHERE id = 1
GO
-- capture
SELECT [__$start_lsn], id, note FROM cdc.dbo_t_CT WHERE [__$operation] <> 3 ORDER BY [__$start_lsn]
-- expect
--   $lsn1 | 1 | 1
--   $lsn2 | 2 | 2
--   $lsn3 | 1 | 10
GO
SELECT [__$start_lsn], id, note FROM cdc.fn_cdc_get_net_changes_dbo_t(sys.fn_cdc_get_min_lsn(N'dbo_t'), sys.fn_cdc_get_max_lsn(), N'all') ORDER BY id
-- expect
--   $lsn3 | 1 | 10
--   $lsn2 | 2 | 2
GO
