-- source: "Microsoft: sys.sp_cdc_enable_table (Transact-SQL), @captured_column_list"
-- source: "Microsoft: sys.sp_cdc_get_captured_columns (Transact-SQL), Result sets"
EXEC sys.sp_cdc_enable_db
GO
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, [a,b] decimal(9, 2) NULL, secret int NULL, note nvarchar(20) NULL, at datetime2(3) NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL, @capture_instance = N'few', @captured_column_list = N'note, "a,b", [at], id'
GO
EXEC sys.sp_cdc_get_captured_columns @capture_instance = N'few'
-- unordered source_schema | source_table | capture_instance | column_name | column_id | data_type | character_maximum_length | numeric_precision | numeric_precision_radix | numeric_scale | datetime_precision
--   dbo | t | few | id | 1 | int | NULL | 10 | 10 | 0 | NULL
--   dbo | t | few | a,b | 2 | decimal | NULL | 9 | 10 | 2 | NULL
--   dbo | t | few | note | 4 | nvarchar | 20 | NULL | NULL | NULL | NULL
--   dbo | t | few | at | 5 | datetime2 | NULL | NULL | NULL | NULL | 3
GO
INSERT INTO dbo.t VALUES (1, 2.5, 99, N'x', '2026-01-02T03:04:05.678')
GO
-- capture
SELECT id, [a,b], note, at FROM cdc.few_CT
-- expect
--   1 | 2.50 | x | 2026-01-02 03:04:05.678
GO
