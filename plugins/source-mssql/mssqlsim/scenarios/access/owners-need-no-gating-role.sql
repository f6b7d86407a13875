-- source: "Microsoft: cdc.fn_cdc_get_all_changes_<capture_instance> (Transact-SQL), Permissions: membership in the sysadmin fixed server role or db_owner fixed database role"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = N'gate';
INSERT INTO dbo.t VALUES (1)
GO
-- capture
-- login owner
ALTER ROLE db_owner ADD MEMBER owner
GO
-- as owner
SELECT id FROM cdc.fn_cdc_get_all_changes_dbo_t(sys.fn_cdc_get_min_lsn(N'dbo_t'), sys.fn_cdc_get_max_lsn(), N'all')
-- expect
--   1
GO
SELECT capture_instance FROM cdc.change_tables WHERE role_name = N'gate'
-- expect
--   dbo_t
GO
