-- source: "Microsoft: About change data capture (SQL Server), Change data capture validity interval for a capture instance: if capture instances are created at different times, each will initially have a different low endpoint"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL;
INSERT INTO dbo.t VALUES (1)
GO
-- capture
EXEC sys.sp_cdc_enable_table N'dbo', N't', N'later', @role_name = NULL;
INSERT INTO dbo.t VALUES (2)
GO
-- capture
SELECT id FROM cdc.fn_cdc_get_all_changes_dbo_t(sys.fn_cdc_get_min_lsn(N'dbo_t'), sys.fn_cdc_get_max_lsn(), N'all') ORDER BY id
-- expect
--   1
--   2
GO
SELECT id FROM cdc.fn_cdc_get_all_changes_later(sys.fn_cdc_get_min_lsn(N'later'), sys.fn_cdc_get_max_lsn(), N'all')
-- expect
--   2
GO
SELECT id FROM cdc.fn_cdc_get_all_changes_later(sys.fn_cdc_get_min_lsn(N'dbo_t'), sys.fn_cdc_get_max_lsn(), N'all')
-- error 313
GO
