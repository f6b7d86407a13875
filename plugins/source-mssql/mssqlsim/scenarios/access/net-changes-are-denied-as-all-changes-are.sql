-- source: "Microsoft: Work with change data (SQL Server), Validating LSN boundaries: authorization failures, message 229; the same is true when querying for net changes"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = N'gate', @supports_net_changes = 1;
INSERT INTO dbo.t VALUES (1)
GO
-- login reader
GRANT SELECT ON dbo.t TO reader
GO
-- capture
-- as reader
SELECT id FROM cdc.fn_cdc_get_all_changes_dbo_t(sys.fn_cdc_get_min_lsn(N'dbo_t'), sys.fn_cdc_get_max_lsn(), N'all')
-- error 229
GO
SELECT id FROM cdc.fn_cdc_get_net_changes_dbo_t(sys.fn_cdc_get_min_lsn(N'dbo_t'), sys.fn_cdc_get_max_lsn(), N'all')
-- error 229
GO
