-- source: "Microsoft: cdc.<capture_instance>_CT (Transact-SQL), Data Definition Language Modifications: a column that is no longer in the source table is assigned a null value"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NULL, gone int NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
INSERT INTO dbo.t VALUES (1, 1, 1)
GO
ALTER TABLE dbo.t DROP COLUMN gone
GO
UPDATE dbo.t SET note = 2;
INSERT INTO dbo.t VALUES (2, 2)
GO
-- capture
SELECT [__$operation], id, note, gone FROM cdc.dbo_t_CT ORDER BY [__$start_lsn], [__$operation]
-- expect
--   2 | 1 | 1 | 1
--   3 | 1 | 1 | NULL
--   4 | 1 | 2 | NULL
--   2 | 2 | 2 | NULL
GO
EXEC sys.sp_cdc_get_captured_columns N'dbo_t'
-- unordered column_name | column_ordinal
--   id | 1
--   note | 2
--   gone | 3
GO
EXEC sys.sp_cdc_get_ddl_history N'dbo_t'
-- unordered required_column_update | ddl_command
--   0 | ALTER TABLE dbo.t DROP COLUMN gone
GO
