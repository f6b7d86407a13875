-- source: "Microsoft: cdc.fn_cdc_get_net_changes_<capture_instance> (Transact-SQL), Remarks: modifications on the unique identifier of a row show a DELETE and then INSERT command instead"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NULL);
INSERT INTO dbo.t VALUES (1, 1);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL, @supports_net_changes = 1
GO
UPDATE dbo.t SET id = 2
GO
-- capture
SELECT [__$start_lsn], [__$operation], id, note FROM cdc.fn_cdc_get_net_changes_dbo_t(sys.fn_cdc_get_min_lsn(N'dbo_t'), sys.fn_cdc_get_max_lsn(), N'all') ORDER BY id
-- expect
--   $lsn1 | 1 | 1 | 1
--   $lsn1 | 2 | 2 | 1
GO
