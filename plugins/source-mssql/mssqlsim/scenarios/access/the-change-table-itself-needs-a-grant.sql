-- source: "Microsoft: GRANT Object Permissions (Transact-SQL)"
-- seen: on SQL Server 2022, the functions reach the change table by ownership chaining, a direct read does not
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL;
INSERT INTO dbo.t VALUES (1)
GO
-- capture
-- login reader
GRANT SELECT ON dbo.t TO reader
GO
-- as reader
SELECT id FROM cdc.dbo_t_CT
-- error 229
GO
SELECT HAS_PERMS_BY_NAME('cdc.dbo_t_CT', 'OBJECT', 'SELECT'), HAS_PERMS_BY_NAME('dbo.t', 'OBJECT', 'SELECT')
-- expect
--   0 | 1
GO
-- session 1
GRANT SELECT ON cdc.dbo_t_CT TO reader
GO
-- as reader
SELECT id FROM cdc.dbo_t_CT
-- expect
--   1
GO
