-- source: "Microsoft: sys.sp_cdc_enable_table (Transact-SQL), Examples, B"
-- source: "Microsoft: cdc.change_tables (Transact-SQL)"
-- source: "Microsoft: cdc.index_columns (Transact-SQL)"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, a int NOT NULL, b int NOT NULL, c int NULL);
CREATE UNIQUE INDEX UX_ba ON dbo.t (b, a);
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N't', @role_name = N'gate', @capture_instance = N'full_one', @supports_net_changes = 1,
	@index_name = N'UX_ba', @captured_column_list = N'a, b, c', @filegroup_name = N'PRIMARY', @allow_partition_switch = 1
GO
SELECT object_id, source_object_id, capture_instance, end_lsn, supports_net_changes, role_name, index_name, filegroup_name, partition_switch FROM cdc.change_tables
-- expect
--   $id1 | $id2 | full_one | NULL | 1 | gate | UX_ba | PRIMARY | 1
GO
SELECT object_id, column_name, column_ordinal, is_computed FROM cdc.captured_columns ORDER BY column_ordinal
-- expect
--   $id1 | a | 1 | 0
--   $id1 | b | 2 | 0
--   $id1 | c | 3 | 0
GO
SELECT object_id, column_name, index_ordinal FROM cdc.index_columns ORDER BY index_ordinal
-- expect
--   $id1 | b | 1
--   $id1 | a | 2
GO
SELECT name, type_desc FROM sys.database_principals WHERE name = 'gate'
-- expect
--   gate | DATABASE_ROLE
GO
