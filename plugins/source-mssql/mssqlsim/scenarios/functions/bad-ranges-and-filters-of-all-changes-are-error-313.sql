-- source: "Microsoft: Work with change data (SQL Server), Validating LSN boundaries"
-- source: "Microsoft: cdc.fn_cdc_get_all_changes_<capture_instance> (Transact-SQL), Remarks: error 313 is expected if LSN range supplied is not appropriate"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
INSERT INTO dbo.t VALUES (1)
GO
-- capture
/* below the low endpoint */
SELECT * FROM cdc.fn_cdc_get_all_changes_dbo_t(sys.fn_cdc_decrement_lsn(sys.fn_cdc_get_min_lsn(N'dbo_t')), sys.fn_cdc_get_max_lsn(), N'all')
-- error 313
GO
/* above the high endpoint, by a byte of the log file's number */
SELECT * FROM cdc.fn_cdc_get_all_changes_dbo_t(sys.fn_cdc_get_min_lsn(N'dbo_t'), 0x7FFFFFFF000000000000, N'all')
-- error 313
GO
/* upside down */
DECLARE @lsn binary(10) = (SELECT MAX([__$start_lsn]) FROM cdc.dbo_t_CT);
SELECT * FROM cdc.fn_cdc_get_all_changes_dbo_t(sys.fn_cdc_increment_lsn(@lsn), @lsn, N'all')
-- error 313
GO
SELECT * FROM cdc.fn_cdc_get_all_changes_dbo_t(NULL, sys.fn_cdc_get_max_lsn(), N'all')
-- error 313
GO
SELECT * FROM cdc.fn_cdc_get_all_changes_dbo_t(sys.fn_cdc_get_min_lsn(N'dbo_t'), NULL, N'all')
-- error 313
GO
/* a filter of the other function, none at all, NULL */
SELECT * FROM cdc.fn_cdc_get_all_changes_dbo_t(sys.fn_cdc_get_min_lsn(N'dbo_t'), sys.fn_cdc_get_max_lsn(), N'all with mask')
-- error 313
GO
SELECT * FROM cdc.fn_cdc_get_all_changes_dbo_t(sys.fn_cdc_get_min_lsn(N'dbo_t'), sys.fn_cdc_get_max_lsn(), N'every')
-- error 313
GO
SELECT * FROM cdc.fn_cdc_get_all_changes_dbo_t(sys.fn_cdc_get_min_lsn(N'dbo_t'), sys.fn_cdc_get_max_lsn(), NULL)
-- error 313
GO
