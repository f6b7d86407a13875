-- source: "Microsoft: Enable and disable change data capture, Enable for a table: users who are not members of either the sysadmin or db_owner role must also be members of the specified role"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = N'gate', @supports_net_changes = 1;
INSERT INTO dbo.t VALUES (1)
GO
-- capture
-- login reader
GRANT SELECT ON dbo.t TO reader
GO
-- as reader
SELECT * FROM cdc.fn_cdc_get_all_changes_dbo_t(0x00, 0x00, N'all')
-- error 229
GO
SELECT sys.fn_cdc_get_min_lsn(N'dbo_t')
-- expect
--   0x00000000000000000000
GO
-- session 1
ALTER ROLE gate ADD MEMBER reader
GO
-- as reader
SELECT id FROM cdc.fn_cdc_get_all_changes_dbo_t(sys.fn_cdc_get_min_lsn(N'dbo_t'), sys.fn_cdc_get_max_lsn(), N'all')
-- expect
--   1
GO
SELECT id FROM cdc.fn_cdc_get_net_changes_dbo_t(sys.fn_cdc_get_min_lsn(N'dbo_t'), sys.fn_cdc_get_max_lsn(), N'all')
-- expect
--   1
GO
