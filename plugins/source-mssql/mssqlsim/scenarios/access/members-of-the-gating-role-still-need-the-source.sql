-- source: "Microsoft: Enable and disable change data capture, Enable for a table: all other users must have SELECT permission on all the captured columns of the source table. In addition, ..."
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = N'gate'
GO
-- login reader
ALTER ROLE gate ADD MEMBER reader
GO
-- as reader
SELECT sys.fn_cdc_get_min_lsn(N'dbo_t')
-- expect
--   0x00000000000000000000
GO
EXEC sys.sp_cdc_get_ddl_history N'dbo_t'
-- error 22981
GO
