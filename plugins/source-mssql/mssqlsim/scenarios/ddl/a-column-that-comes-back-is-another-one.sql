-- source: "Microsoft: sys.sp_cdc_get_captured_columns (Transact-SQL), Remarks: the column names, IDs, and position remain constant for the life of the capture instance"
-- seen: on SQL Server 2022, a column dropped and added again stays NULL in the change table
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
ALTER TABLE dbo.t DROP COLUMN note
GO
ALTER TABLE dbo.t ADD note int NULL
GO
INSERT INTO dbo.t VALUES (1, 10)
GO
-- capture
SELECT id, note FROM cdc.dbo_t_CT
-- expect
--   1 | NULL
GO
SELECT c.column_id, s.column_id FROM cdc.captured_columns AS c JOIN sys.columns AS s ON s.object_id = OBJECT_ID('dbo.t') AND s.name = c.column_name WHERE c.column_name = 'note'
-- expect
--   2 | 3
GO
