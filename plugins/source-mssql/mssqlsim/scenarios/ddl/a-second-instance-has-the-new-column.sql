-- source: "Microsoft: About change data capture (SQL Server), Handling changes to source tables: it is possible to create a second capture instance for the table that reflects the new column structure"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
ALTER TABLE dbo.t ADD note int NULL
GO
EXEC sys.sp_cdc_enable_table N'dbo', N't', N'dbo_t_v2', @role_name = NULL;
INSERT INTO dbo.t VALUES (1, 10)
GO
-- capture
SELECT * FROM cdc.fn_cdc_get_all_changes_dbo_t(sys.fn_cdc_get_min_lsn(N'dbo_t'), sys.fn_cdc_get_max_lsn(), N'all')
-- expect
--   $lsn1 | $seq1 | 2 | 0x01 | 1
GO
SELECT * FROM cdc.fn_cdc_get_all_changes_dbo_t_v2(sys.fn_cdc_get_min_lsn(N'dbo_t_v2'), sys.fn_cdc_get_max_lsn(), N'all')
-- expect
--   $lsn1 | $seq1 | 2 | 0x03 | 1 | 10
GO
