-- source: "Microsoft: cdc.ddl_history (Transact-SQL): one row for each data definition language (DDL) change made to tables that are enabled for change data capture"
-- seen: on SQL Server 2022, a change of nullability is recorded too
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
ALTER TABLE dbo.t ALTER COLUMN note int NOT NULL
GO
-- capture
EXEC sys.sp_cdc_get_ddl_history N'dbo_t'
-- unordered ddl_command
--   ALTER TABLE dbo.t ALTER COLUMN note int NOT NULL
GO
INSERT INTO dbo.t VALUES (1, NULL)
-- error 515
GO
