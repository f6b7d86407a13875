-- source: "Microsoft: cdc.fn_cdc_get_net_changes_<capture_instance> (Transact-SQL), Arguments: all with merge"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NULL);
INSERT INTO dbo.t VALUES (1, 1), (2, 2);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL, @supports_net_changes = 1
GO
UPDATE dbo.t SET note = 10 WHERE id = 1;
DELETE FROM dbo.t WHERE id = 2;
INSERT INTO dbo.t VALUES (3, 3)
GO
-- capture
SELECT [__$operation], [__$update_mask], id, note FROM cdc.fn_cdc_get_net_changes_dbo_t(sys.fn_cdc_get_min_lsn(N'dbo_t'), sys.fn_cdc_get_max_lsn(), N'all with merge') ORDER BY id
-- expect
--   5 | NULL | 1 | 10
--   1 | NULL | 2 | 2
--   5 | NULL | 3 | 3
GO
