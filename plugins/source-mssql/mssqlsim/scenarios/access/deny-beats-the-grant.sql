-- source: "Microsoft: DENY Object Permissions (Transact-SQL)"
-- source: "Microsoft: sys.fn_cdc_get_min_lsn (Transact-SQL), Remarks: when the caller is not authorized to access the change data"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
-- capture
-- login reader
ALTER ROLE db_datareader ADD MEMBER reader
GO
-- as reader
SELECT sys.fn_cdc_get_min_lsn(N'dbo_t')
-- expect
--   $lsn1
GO
-- session 1
DENY SELECT ON dbo.t TO reader
GO
-- as reader
SELECT sys.fn_cdc_get_min_lsn(N'dbo_t')
-- expect
--   0x00000000000000000000
GO
SELECT id FROM dbo.t
-- error 229
GO
