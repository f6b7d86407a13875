-- source: "Microsoft: Work with change data (SQL Server), Query functions: an aggregate mask that reflects all changes to a row, use the 'all with mask' option"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, a int NULL, b int NULL, c int NULL);
INSERT INTO dbo.t VALUES (1, 1, 1, 1), (2, 2, 2, 2);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL, @supports_net_changes = 1
GO
UPDATE dbo.t SET a = 10 WHERE id = 1;
UPDATE dbo.t SET c = 10 WHERE id = 1;
UPDATE dbo.t SET b = 20 WHERE id = 2
GO
-- capture
SELECT [__$operation], [__$update_mask], id, a, b, c FROM cdc.fn_cdc_get_net_changes_dbo_t(sys.fn_cdc_get_min_lsn(N'dbo_t'), sys.fn_cdc_get_max_lsn(), N'all with mask') ORDER BY id
-- expect
--   4 | 0x0A | 1 | 10 | 1 | 10
--   4 | 0x04 | 2 | 2 | 20 | 2
GO
