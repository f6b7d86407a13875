-- source: "Microsoft: cdc.ddl_history (Transact-SQL): source tables that have not had DDL changes will not have entries in this table"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
CREATE TABLE dbo.other (id int NOT NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
ALTER TABLE dbo.other ADD note int NULL
GO
-- capture
EXEC sys.sp_cdc_get_ddl_history N'dbo_t'
-- unordered ddl_command
--   (no rows)
GO
EXEC sys.sp_cdc_get_ddl_history N'none'
-- error 22981
GO
