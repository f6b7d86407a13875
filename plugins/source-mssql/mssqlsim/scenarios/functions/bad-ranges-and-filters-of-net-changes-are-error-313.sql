-- source: "Microsoft: Work with change data (SQL Server), Validating LSN boundaries"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL, @supports_net_changes = 1
GO
INSERT INTO dbo.t VALUES (1)
GO
-- capture
SELECT * FROM cdc.fn_cdc_get_net_changes_dbo_t(sys.fn_cdc_decrement_lsn(sys.fn_cdc_get_min_lsn(N'dbo_t')), sys.fn_cdc_get_max_lsn(), N'all')
-- error 313
GO
SELECT * FROM cdc.fn_cdc_get_net_changes_dbo_t(sys.fn_cdc_get_min_lsn(N'dbo_t'), 0x7FFFFFFF000000000000, N'all')
-- error 313
GO
DECLARE @lsn binary(10) = (SELECT MAX([__$start_lsn]) FROM cdc.dbo_t_CT);
SELECT * FROM cdc.fn_cdc_get_net_changes_dbo_t(sys.fn_cdc_increment_lsn(@lsn), @lsn, N'all')
-- error 313
GO
SELECT * FROM cdc.fn_cdc_get_net_changes_dbo_t(NULL, NULL, N'all')
-- error 313
GO
SELECT * FROM cdc.fn_cdc_get_net_changes_dbo_t(sys.fn_cdc_get_min_lsn(N'dbo_t'), sys.fn_cdc_get_max_lsn(), N'all update old')
-- error 313
GO
