-- source: "Microsoft: sys.sp_cdc_enable_table (Transact-SQL), Remarks: it sets the is_tracked_by_cdc column in sys.tables to 1"
-- source: "Microsoft: Enable and disable change data capture, Enable for a database: the is_cdc_enabled column in sys.databases"
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
CREATE TABLE dbo.other (id int NULL)
GO
SELECT is_cdc_enabled FROM sys.databases WHERE name = DB_NAME()
-- expect
--   0
GO
EXEC sys.sp_cdc_enable_db;
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
SELECT is_cdc_enabled FROM sys.databases WHERE name = DB_NAME()
-- expect
--   1
GO
SELECT name, is_tracked_by_cdc FROM sys.tables WHERE schema_id = SCHEMA_ID('dbo') AND name IN ('t', 'other') ORDER BY name
-- expect
--   other | 0
--   t | 1
GO
EXEC sys.sp_cdc_disable_table N'dbo', N't', N'all'
GO
SELECT name, is_tracked_by_cdc FROM sys.tables WHERE name = 't'
-- expect
--   t | 0
GO
