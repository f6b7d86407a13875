-- source: "Microsoft: sys.sp_cdc_enable_table (Transact-SQL), @supports_net_changes: if 0, only the support functions to query for all changes are generated"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL, @supports_net_changes = 0
GO
-- capture
SELECT * FROM cdc.fn_cdc_get_net_changes_dbo_t(sys.fn_cdc_get_min_lsn(N'dbo_t'), sys.fn_cdc_get_max_lsn(), N'all')
-- error 208
GO
SELECT id FROM cdc.fn_cdc_get_all_changes_dbo_t(sys.fn_cdc_get_min_lsn(N'dbo_t'), sys.fn_cdc_get_max_lsn(), N'all')
-- expect
--   (no rows)
GO
