-- source: "Microsoft: sys.sp_cdc_help_change_data_capture (Transact-SQL), Result sets: source_table is the name of the source table"
-- seen: on SQL Server 2022 and 2017, renaming a captured column is error 4928; a renamed table keeps its instance
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NULL, plain int NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL, @captured_column_list = N'id, note'
GO
EXEC sp_rename 'dbo.t.note', 'remark', 'COLUMN'
-- error 4928
GO
EXEC sp_rename 'dbo.t.plain', 'simple', 'COLUMN'
GO
EXEC sp_rename 'dbo.t', 'renamed'
GO
INSERT INTO dbo.renamed VALUES (1, 1, 1)
GO
-- capture
EXEC sys.sp_cdc_help_change_data_capture N'dbo', N'renamed'
-- unordered source_table | capture_instance
--   renamed | dbo_t
GO
SELECT id, note FROM cdc.dbo_t_CT
-- expect
--   1 | 1
GO
EXEC sys.sp_cdc_get_ddl_history N'dbo_t'
-- unordered ddl_command
--   (no rows)
GO
