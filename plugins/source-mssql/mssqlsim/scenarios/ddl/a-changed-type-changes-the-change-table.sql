-- source: "Microsoft: cdc.<capture_instance>_CT (Transact-SQL), Data Definition Language Modifications: the data type of the captured column in the change table is modified"
-- source: "Microsoft: cdc.ddl_history (Transact-SQL), required_column_update"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, n int NULL, s varchar(3) NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
GO
INSERT INTO dbo.t VALUES (1, 1, 'abc')
GO
ALTER TABLE dbo.t ALTER COLUMN n bigint NULL
GO
ALTER TABLE dbo.t ALTER COLUMN s varchar(20) NULL
GO
INSERT INTO dbo.t VALUES (2, 5000000000, 'abcdef')
GO
-- capture
SELECT id, n, s FROM cdc.dbo_t_CT ORDER BY id
-- expect
--   1 | 1 | abc
--   2 | 5000000000 | abcdef
GO
EXEC sys.sp_cdc_get_captured_columns N'dbo_t'
-- unordered column_name | data_type | character_maximum_length
--   id | int | NULL
--   n | bigint | NULL
--   s | varchar | 20
GO
EXEC sys.sp_cdc_get_ddl_history N'dbo_t'
-- unordered required_column_update | ddl_command | ddl_lsn
--   1 | ALTER TABLE dbo.t ALTER COLUMN n bigint NULL | $lsn1
--   1 | ALTER TABLE dbo.t ALTER COLUMN s varchar(20) NULL | $lsn2
GO
