-- source: "Microsoft: sys.sp_cdc_disable_table (Transact-SQL), Remarks"
-- source: "Microsoft: About change data capture (SQL Server), Change data capture validity interval for a capture instance"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL;
INSERT INTO dbo.t VALUES (1)
GO
-- capture
SELECT sys.fn_cdc_get_min_lsn(N'dbo_t'), [__$start_lsn], id FROM cdc.dbo_t_CT
-- expect
--   $lsn1 | $lsn2 | 1
GO
EXEC sys.sp_cdc_disable_table N'dbo', N't', N'dbo_t';
INSERT INTO dbo.t VALUES (2);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL;
INSERT INTO dbo.t VALUES (3)
GO
-- capture
SELECT sys.fn_cdc_get_min_lsn(N'dbo_t'), [__$start_lsn], id FROM cdc.dbo_t_CT
-- expect
--   $lsn3 | $lsn4 | 3
GO
